package selection

import (
	"sync"

	"github.com/gctrail/gctrail/gc/figure"
	"github.com/gctrail/gctrail/internal/units"
)

// A word is a figure that conditions ask for, and how its values are written.
type word struct {
	figure.Figure
	of        func(subject) figure.Value
	in        *dimension // nil if the values are words
	ofRequest bool
}

var words = sync.OnceValue(func() []word {
	var all []word
	for _, f := range figure.Conditions() {
		w := word{Figure: f, of: func(s subject) figure.Value { return f.Value(s.collection) }}
		if f.Until.Words == nil {
			w.in = dimensionOf(&f)
		}
		all = append(all, w)
	}
	request := figure.Condition{Word: "request", Meaning: "how long a request took", Example: "500ms"}
	paused := figure.Condition{Word: "paused", Meaning: "how much of that GC pauses took", Example: "50%"}
	return append(all,
		word{figure.Figure{Type: figure.Millis, Until: &request}, took, &times, true},
		word{figure.Figure{Type: figure.Percent, Until: &paused}, pausedShare, &shares, true},
	)
})

// took returns how long a request took.
func took(s subject) figure.Value {
	if took, known := s.request.Duration.Get(); known {
		return figure.Value{Type: figure.Millis, Int: int64(took)}
	}
	return figure.Value{}
}

// pausedShare returns the share of the time of a request in which GC pauses stopped it.
func pausedShare(s subject) figure.Value {
	if took := s.request.Duration.Or(0); took != 0 {
		return figure.Number(figure.Percent, 100*float64(s.request.Paused)/float64(took))
	}
	return figure.Value{}
}

// ConditionWords returns how conditions ask for figures, in the order of help texts: for the ones of
// collections, and then for the ones of requests.
func ConditionWords() []figure.Figure {
	var all []figure.Figure
	for _, w := range words() {
		all = append(all, w.Figure)
	}
	return all
}

// dimensionOf returns how the values of a figure that is a number are written.
func dimensionOf(f *figure.Figure) *dimension {
	switch f.Type {
	case figure.Millis:
		return &times
	case figure.Bytes:
		return &sizes
	case figure.Rate:
		return &rates
	case figure.Percent:
		return &shares
	}
	if f.Until.Below > 0 {
		return &generations
	}
	return &counts
}

// A dimension describes how the values of a figure are written.
type dimension struct {
	Is      string // as in "a time"
	Example string
	Units   []unit
	Bare    bool // the unit may be left out
}

// A unit is a unit of a dimension, with its size in that of the figure's type.
type unit struct {
	Name string
	Size float64
}

var (
	times = dimension{Is: "a time", Example: "200ms or 1.5s", Units: []unit{
		{"ns", 1}, {"us", 1e3}, {"µs", 1e3}, {"ms", 1e6}, {"s", 1e9}, {"m", 60e9}, {"min", 60e9}, {"h", 3600e9},
	}}
	sizes       = dimension{Is: "a size", Example: "10MB or 1.5GiB", Units: bytesIn("")}
	rates       = dimension{Is: "a size per second", Example: "100MB/s", Units: bytesIn("/s")}
	shares      = dimension{Is: "a percentage", Example: "90%", Bare: true, Units: []unit{{"%", 1}}}
	generations = dimension{Is: "a generation", Example: "0, 1 or 2", Bare: true}
	counts      = dimension{Is: "a number", Example: "2", Bare: true}
)

// bytesIn returns the units of sizes, with a suffix.
func bytesIn(suffix string) (all []unit) {
	for _, u := range units.ByteUnits() {
		all = append(all, unit{u.Unit + suffix, u.One()})
	}
	return all
}
