package profile

import (
	"encoding/json"
	"io"

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
	ProcessType string       `json:"processType"`
	Startup     float64      `json:"processStartupTime"`
	Shutdown    *float64     `json:"processShutdownTime"`
	Register    float64      `json:"registerTime"`
	Unregister  *float64     `json:"unregisterTime"`
	Paused      []struct{}   `json:"pausedRanges"`
	InTimeline  bool         `json:"showMarkersInTimeline"`
	Name        string       `json:"name"`
	Main        bool         `json:"isMainThread"`
	Process     string       `json:"processName"`
	PID         string       `json:"pid"`
	TID         int          `json:"tid"`
	Samples     samples      `json:"samples"`
	Markers     markers      `json:"markers"`
	Allocations *allocations `json:"jsAllocations,omitempty"`
}

// samples are the samples of a CPU profile: none.
type samples struct {
	Stack  []int     `json:"stack"`
	Time   []float64 `json:"time"`
	Weight []int     `json:"weight"`
	Type   string    `json:"weightType"`
	Length int       `json:"length"`
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
	Stacks    stackTable    `json:"stackTable"`
	Frames    frameTable    `json:"frameTable"`
	Functions functionTable `json:"funcTable"`
	Resources resourceTable `json:"resourceTable"`
	Natives   nativeTable   `json:"nativeSymbols"`
	Sources   sourceTable   `json:"sources"`
	Strings   []string      `json:"stringArray"`
}

type stackTable struct {
	Frame  []int  `json:"frame"`
	Prefix []*int `json:"prefix"`
	Length int    `json:"length"`
}

type frameTable struct {
	Address     []int  `json:"address"`
	InlineDepth []int  `json:"inlineDepth"`
	Category    []int  `json:"category"`
	Subcategory []int  `json:"subcategory"`
	Function    []int  `json:"func"`
	Native      []*int `json:"nativeSymbol"`
	Window      []*int `json:"innerWindowID"`
	Line        []*int `json:"line"`
	Column      []*int `json:"column"`
	Length      int    `json:"length"`
}

type functionTable struct {
	Name     []int  `json:"name"`
	JS       []bool `json:"isJS"`
	Relevant []bool `json:"relevantForJS"`
	Resource []int  `json:"resource"` // -1 for none
	Source   []*int `json:"source"`
	Line     []*int `json:"lineNumber"`
	Column   []*int `json:"columnNumber"`
	Length   int    `json:"length"`
}

type resourceTable struct {
	Library []*int `json:"lib"`
	Name    []int  `json:"name"`
	Host    []*int `json:"host"`
	Type    []int  `json:"type"`
	Length  int    `json:"length"`
}

type nativeTable struct {
	Library  []int  `json:"libIndex"`
	Address  []int  `json:"address"`
	Name     []int  `json:"name"`
	FuncSize []*int `json:"functionSize"`
	Length   int    `json:"length"`
}

type sourceTable struct {
	ID       []*string `json:"id"`
	Filename []int     `json:"filename"`
	Line     []int     `json:"startLine"`
	Column   []int     `json:"startColumn"`
	MapURL   []*int    `json:"sourceMapURL"`
	Length   int       `json:"length"`
}
