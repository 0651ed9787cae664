package trace

import (
	"encoding/json"
	"strconv"
	"strings"
)

type (
	// Lost is a Loss as JSON has it, which docs/schemas/report.schema.json describes.
	Lost struct {
		Events   uint64      `json:"events"` // without the ones left out
		LeftOut  uint64      `json:"left_out"`
		EventsIs string      `json:"events_is"`
		Cut      bool        `json:"cut"`
		Late     uint64      `json:"late"`
		Damaged  int         `json:"damaged"`
		At       []TimeRange `json:"at"`
		AtInAll  int         `json:"at_in_all"`
	}
	// A TimeRange is a Range as JSON has it.
	TimeRange struct {
		From Millis `json:"from_ms"`
		To   Millis `json:"to_ms"`
	}
)

// maxAt bounds Lost.At, so that a trace with many gaps does not fill a screen.
const maxAt = 20

// Lost returns the form of the loss for JSON, which has only the first ranges.
func (l *Loss) Lost() Lost {
	j := Lost{l.Events - l.LeftOut, l.LeftOut, l.Exactness.String(), l.Truncated, l.Late, l.Damaged, []TimeRange{}, len(l.ranges)}
	for _, r := range l.ranges[:min(len(l.ranges), maxAt)] {
		j.At = append(j.At, TimeRange{Millis(r.From), Millis(r.To)})
	}
	return j
}

// MarshalJSON returns the loss as gctrail report --format json has it; see Lost.
func (l Loss) MarshalJSON() ([]byte, error) { return json.Marshal(l.Lost()) }

// String returns the loss as one line, such as "at least 2 events lost, 1 damaged place,
// truncated". It is "no loss" only if the trace shows that there is none.
func (l Loss) String() string {
	var parts []string
	switch lost := l.Events - l.LeftOut; {
	case lost > 0 && l.Exactness == Exact:
		parts = append(parts, counted(lost, "event")+" lost")
	case lost > 0:
		parts = append(parts, "at least "+counted(lost, "event")+" lost")
	case !l.Incomplete() && l.Exactness == Exact:
		parts = append(parts, "no loss")
	case !l.Incomplete():
		parts = append(parts, "no loss known")
	case l.Events == 0 && len(l.ranges) > 0 && l.Damaged == 0 && !l.Truncated && l.Late == 0: // nothing else explains the ranges
		parts = append(parts, "an unknown number of events lost")
	}
	if l.LeftOut > 0 {
		parts = append(parts, counted(l.LeftOut, "event")+" left out")
	}
	if l.Damaged > 0 {
		parts = append(parts, counted(uint64(l.Damaged), "damaged place"))
	}
	if l.Truncated {
		parts = append(parts, "truncated")
	}
	if l.StreamsUnknown {
		parts = append(parts, "parts may be missing")
	}
	if l.Late > 0 {
		parts = append(parts, counted(l.Late, "event")+" out of order")
	}
	return strings.Join(parts, ", ")
}

// counted returns a number of things.
func counted(n uint64, thing string) string {
	if n != 1 {
		thing += "s"
	}
	return strconv.FormatUint(n, 10) + " " + thing
}
