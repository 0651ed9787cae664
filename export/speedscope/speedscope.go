// Package speedscope writes allocations as a file for www.speedscope.app: a
// sampled profile of each process, weighted by bytes.
//
// See www.speedscope.app/file-format-schema.json.
package speedscope

import (
	"io"
	"slices"

	"github.com/gctrail/gctrail/export"
	"github.com/gctrail/gctrail/internal/jsontext"
)

const schema = "https://www.speedscope.app/file-format-schema.json"

type file struct {
	Schema   string    `json:"$schema"`
	Exporter string    `json:"exporter"`
	Name     string    `json:"name"`
	Shared   shared    `json:"shared"`
	Profiles []profile `json:"profiles"`
}

type shared struct {
	Frames []frame `json:"frames"`
}

type frame struct {
	Name string `json:"name"`
	File string `json:"file,omitempty"`
}

type profile struct {
	Type    string  `json:"type"`
	Name    string  `json:"name"`
	Unit    string  `json:"unit"`
	Start   int64   `json:"startValue"`
	End     int64   `json:"endValue"`
	Samples [][]int `json:"samples"`
	Weights []int64 `json:"weights"`
}

// Write writes the allocations of some processes. name is the name of the
// trace.
func Write(w io.Writer, processes []*export.Allocations, name string) error {
	f := file{Schema: schema, Exporter: "gctrail", Name: name, Shared: shared{Frames: []frame{}}, Profiles: []profile{}}
	numbers := make(map[frame]int)
	number := func(fr frame) int {
		n, known := numbers[fr]
		if !known {
			n = len(f.Shared.Frames)
			numbers[fr] = n
			f.Shared.Frames = append(f.Shared.Frames, fr)
		}
		return n
	}
	for _, a := range processes {
		p := profile{Type: "sampled", Name: "Allocations of " + export.Name(a.Process), Unit: "bytes", Samples: [][]int{}, Weights: []int64{}}
		for i := range a.Rows {
			r := &a.Rows[i]
			stack := []int{number(frame{Name: export.Type(r)})}
			for fr := range a.Frames(r) {
				stack = append(stack, number(frame{fr.String(), fr.Module}))
			}
			slices.Reverse(stack)
			p.Samples = append(p.Samples, stack)
			p.Weights = append(p.Weights, r.Bytes)
			p.End += r.Bytes
		}
		f.Profiles = append(f.Profiles, p)
	}
	return jsontext.Encode(w, f)
}
