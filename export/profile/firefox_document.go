package profile

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"reflect"

	"github.com/gctrail/gctrail/internal/jsontext"
)

// A document writes an object of JSON member by member, so that it is never in memory
// as a whole.
type document struct {
	out     io.Writer
	members int
	err     error
}

func (d *document) text(s string) {
	if d.err == nil {
		_, d.err = io.WriteString(d.out, s)
	}
}

func (d *document) value(v any) {
	if d.err == nil {
		d.err = jsontext.Encode(d.out, v)
	}
}

func (d *document) name(name string) {
	before := ","
	if d.members == 0 {
		before = "{"
	}
	d.members++
	d.text(before + `"` + name + `":`)
}

func (d *document) member(name string, v any) {
	d.name(name)
	d.value(v)
}

// list writes an array of the values that each yields.
func (d *document) list(name string, values func(each func(any))) {
	d.name(name)
	before := "["
	values(func(v any) {
		d.text(before)
		d.value(v)
		before = ","
	})
	if before == "[" {
		d.text(before)
	}
	d.text("]")
}

// The parts of a processed profile, as they were in its version. See
// src/types/profile.ts, docs-developer/CHANGELOG-formats.md and
// docs-developer/processed-profile-format.md of firefox-devtools/profiler.

// firefoxVersion is the version of the processed format: the first with labels for counters.
// Later readers upgrade it.
const firefoxVersion = 63

type meta struct {
	Interval    float64    `json:"interval"`
	StartTime   float64    `json:"startTime"` // milliseconds since 1970
	Begin       float64    `json:"profilingStartTime"`
	End         float64    `json:"profilingEndTime"`
	ProcessType int        `json:"processType"`
	Product     string     `json:"product"`
	Stackwalk   int        `json:"stackwalk"`
	Version     int        `json:"version"`
	Processed   int        `json:"preprocessedProfileVersion"`
	Symbolized  bool       `json:"symbolicated"`
	NoSymbols   bool       `json:"symbolicationNotSupported"`
	OneStack    bool       `json:"usesOnlyOneStackType"`
	NotFirefox  bool       `json:"sourceCodeIsNotOnSearchfox"`
	From        string     `json:"importedFrom"`
	Categories  []category `json:"categories"`
	Schema      []schema   `json:"markerSchema"`
}

type category struct {
	Name  string   `json:"name"`
	Color string   `json:"color"`
	Parts []string `json:"subcategories"`
}

// A schema describes the fields of markers of one type.
type schema struct {
	Name        string        `json:"name"`
	Tooltip     string        `json:"tooltipLabel,omitempty"`
	Table       string        `json:"tableLabel,omitempty"`
	Chart       string        `json:"chartLabel,omitempty"`
	Description string        `json:"description,omitempty"`
	Display     []string      `json:"display"`
	Fields      []schemaField `json:"fields"`
}

type schemaField struct {
	Key    string `json:"key"`
	Label  string `json:"label"`
	Format string `json:"format"`
}

type counter struct {
	Name        string         `json:"name"`
	Category    string         `json:"category"`
	Description string         `json:"description"`
	PID         string         `json:"pid"`
	Thread      int            `json:"mainThreadIndex"`
	Samples     counterSamples `json:"samples"`
	Display     display        `json:"display"`
}

// counterSamples are changes of a value.
type counterSamples struct {
	Time   []float64 `json:"time"`
	Count  []int64   `json:"count"`
	Length int       `json:"length"`
}

type display struct {
	Graph    string       `json:"graphType"`
	Unit     string       `json:"unit"`
	Color    string       `json:"color"`
	Location *string      `json:"markerSchemaLocation"`
	Weight   int          `json:"sortWeight"`
	Label    string       `json:"label"`
	Tooltip  []tooltipRow `json:"tooltipRows"`
}

type tooltipRow struct {
	Type   string        `json:"type"`
	Source string        `json:"source"`
	Format tooltipFormat `json:"format"`
	Label  string        `json:"label"`
}

type tooltipFormat struct {
	Unit string `json:"unit"`
}

type thread struct {
	ProcessType string          `json:"processType"`
	Startup     float64         `json:"processStartupTime"`
	Shutdown    *float64        `json:"processShutdownTime"`
	Register    float64         `json:"registerTime"`
	Unregister  *float64        `json:"unregisterTime"`
	Paused      []struct{}      `json:"pausedRanges"`
	InTimeline  bool            `json:"showMarkersInTimeline"`
	Name        string          `json:"name"`
	Main        bool            `json:"isMainThread"`
	Process     string          `json:"processName"`
	PID         string          `json:"pid"`
	TID         int             `json:"tid"`
	Samples     json.RawMessage `json:"samples"`
	Markers     markers         `json:"markers"`
	Allocations *allocations    `json:"jsAllocations,omitempty"`
}

type markers struct {
	Data     []json.RawMessage `json:"data"`
	Name     []int             `json:"name"`
	Start    []float64         `json:"startTime"`
	End      []float64         `json:"endTime"`
	Phase    []int             `json:"phase"`
	Category []int             `json:"category"`
	Length   int               `json:"length"`
}

type allocations struct {
	Time    []float64 `json:"time"`
	Class   []string  `json:"className"`
	Type    []string  `json:"typeName"`
	Coarse  []string  `json:"coarseType"`
	Weight  []int64   `json:"weight"`
	Unit    string    `json:"weightType"`
	Nursery []bool    `json:"inNursery"`
	Stack   []int     `json:"stack"`
	Length  int       `json:"length"`
}

// shared are the tables that all threads refer to.
type shared struct {
	Stacks    table[stackRow]    `json:"stackTable"`
	Frames    table[frameRow]    `json:"frameTable"`
	Functions table[functionRow] `json:"funcTable"`
	Resources table[resourceRow] `json:"resourceTable"`
	Natives   json.RawMessage    `json:"nativeSymbols"`
	Sources   json.RawMessage    `json:"sources"`
	Strings   []string           `json:"stringArray"`
}

// Tables that stay empty: of the samples of a CPU profile, of native code and of sources.
var (
	noSamples = json.RawMessage(`{"stack":[],"time":[],"weight":[],"weightType":"samples","length":0}`)
	noNatives = json.RawMessage(`{"libIndex":[],"address":[],"name":[],"functionSize":[],"length":0}`)
	noSources = json.RawMessage(`{"id":[],"filename":[],"startLine":[],"startColumn":[],"sourceMapURL":[],"length":0}`)
)

type stackRow struct {
	Frame  int  `json:"frame"`
	Prefix *int `json:"prefix"`
}

type frameRow struct {
	Address     int  `json:"address"`
	InlineDepth int  `json:"inlineDepth"`
	Category    int  `json:"category"`
	Subcategory int  `json:"subcategory"`
	Function    int  `json:"func"`
	Native      *int `json:"nativeSymbol"`
	Window      *int `json:"innerWindowID"`
	Line        *int `json:"line"`
	Column      *int `json:"column"`
}

type functionRow struct {
	Name     int  `json:"name"`
	JS       bool `json:"isJS"`
	Relevant bool `json:"relevantForJS"`
	Resource int  `json:"resource"` // -1 for none
	Source   *int `json:"source"`
	Line     *int `json:"lineNumber"`
	Column   *int `json:"columnNumber"`
}

type resourceRow struct {
	Library *int `json:"lib"`
	Name    int  `json:"name"`
	Host    *int `json:"host"`
	Type    int  `json:"type"`
}

// A table is a list of rows. JSON has it as columns: for each field, a list with the value of
// every row.
type table[Row any] []Row

// MarshalJSON returns the columns and the number of rows.
func (t table[Row]) MarshalJSON() ([]byte, error) { return columns(reflect.ValueOf(t)) }

func columns(rows reflect.Value) ([]byte, error) {
	b := bytes.NewBufferString("{")
	for i, f := range reflect.VisibleFields(rows.Type().Elem()) {
		column := reflect.MakeSlice(reflect.SliceOf(f.Type), rows.Len(), rows.Len())
		for row := range rows.Len() {
			column.Index(row).Set(rows.Index(row).Field(i))
		}
		fmt.Fprintf(b, "%q:", f.Tag.Get("json"))
		if err := jsontext.Encode(b, column.Interface()); err != nil {
			return nil, err
		}
		b.WriteByte(',')
	}
	fmt.Fprintf(b, `"length":%d}`, rows.Len())
	return b.Bytes(), nil
}
