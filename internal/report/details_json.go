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

type (
	jsonHandles struct {
		Kind     string  `json:"kind"`
		Created  int64   `json:"created"`
		Open     int64   `json:"open"`
		Growth   float64 `json:"growth_per_s"`
		From     *string `json:"from"`
		FromOpen *int64  `json:"from_open"`
	}
	jsonPinned struct {
		Type        *string `json:"type"`
		Pins        int64   `json:"pins"`
		Bytes       int64   `json:"bytes"`
		Share       float64 `json:"share_pct"`
		Collections int64   `json:"collections"`
		Longest     int64   `json:"longest_run"`
		ByHandle    *int64  `json:"by_handle"`
		Gap         *int64  `json:"gap_bytes"`
	}
	jsonFinalized struct {
		Type  *string `json:"type"`
		Count int64   `json:"finalized"`
		Share float64 `json:"share_pct"`
	}
)

type jsonHeapThread struct {
	Heap    uint32 `json:"heap"`
	Working jsonMS `json:"working_ms"`
	Waiting jsonMS `json:"waiting_ms"`
	Waking  jsonMS `json:"waking_ms"`
	Last    int    `json:"last"`
	Held    jsonMS `json:"held_ms"`
}

func heapsJSON(f *findings.Finding) []jsonHeapThread {
	list := []jsonHeapThread{}
	for _, r := range f.Heaps {
		list = append(list, jsonHeapThread{r.Heap, jsonMS(r.Working), jsonMS(r.Waiting), jsonMS(r.Waking), r.Last, jsonMS(r.WaitedFor)})
	}
	return list
}

func handlesJSON(f *findings.Finding) []jsonHandles {
	list := []jsonHandles{}
	for i := range f.Handles {
		h := &f.Handles[i]
		j := jsonHandles{Kind: h.Kind.String(), Created: h.Created, Open: h.Open, Growth: h.Growth, From: filled(h.From)}
		if h.From != "" {
			j.FromOpen = &h.FromOpen
		}
		list = append(list, j)
	}
	return list
}

func pinsJSON(f *findings.Finding) []jsonPinned {
	list := []jsonPinned{}
	for i := range f.Pins {
		t := &f.Pins[i]
		list = append(list, jsonPinned{filled(t.Name), t.Pins, t.Bytes, t.Share, t.Collections, t.Longest, optional(t.ByHandle), optional(t.Gap)})
	}
	return list
}

func finalizedJSON(f *findings.Finding) []jsonFinalized {
	list := []jsonFinalized{}
	for i := range f.Finalized {
		t := &f.Finalized[i]
		list = append(list, jsonFinalized{filled(t.Name), t.Count, t.Share})
	}
	return list
}

// callersJSON returns the callers that a finding quotes.
func callersJSON(f *findings.Finding) []jsonCaller {
	callers := []jsonCaller{}
	for _, c := range f.Callers[:min(len(f.Callers), maxCallers)] {
		callers = append(callers, jsonCaller{c.Method, c.Count})
	}
	return callers
}
