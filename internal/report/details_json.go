package report

import "github.com/gctrail/gctrail/gc/findings"

type (
	jsonType struct {
		Type      string  `json:"type"`
		Heap      *string `json:"heap"`
		Source    string  `json:"source"`
		Bytes     int64   `json:"bytes"`
		Low       int64   `json:"low_bytes"`
		High      *int64  `json:"high_bytes"`
		Share     float64 `json:"share_of_heap_pct"`
		From      *string `json:"from"`
		FromBytes *int64  `json:"from_bytes"`
	}
	jsonCaller struct {
		Method string `json:"method"`
		Count  int    `json:"calls"`
	}
)

// typesJSON returns the types that a finding quotes.
func (c *Case) typesJSON(f *findings.Finding) []jsonType {
	types := []jsonType{}
	for i := range f.Types {
		t := &f.Types[i]
		j := jsonType{
			Type: t.Name, Heap: filled(t.Heap.String()), Source: c.Details.Source.String(),
			Bytes: t.Bytes, Low: t.Low, High: &t.High, Share: t.Share, From: filled(t.From),
		}
		if t.Open {
			j.High = nil
		}
		if t.From != "" {
			j.FromBytes = &t.FromBytes
		}
		types = append(types, j)
	}
	return types
}

// callersJSON returns the callers that a finding quotes.
func callersJSON(f *findings.Finding) []jsonCaller {
	callers := []jsonCaller{}
	for _, c := range f.Callers[:min(len(f.Callers), maxCallers)] {
		callers = append(callers, jsonCaller{c.Method, c.Count})
	}
	return callers
}
