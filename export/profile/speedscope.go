package profile

import (
	"io"
	"slices"

	"github.com/gctrail/gctrail/export"
	"github.com/gctrail/gctrail/internal/jsontext"
)

const speedscopeSchema = "https://www.speedscope.app/file-format-schema.json"

type speedscopeFile struct {
	Schema   string              `json:"$schema"`
	Exporter string              `json:"exporter"`
	Name     string              `json:"name"`
	Shared   speedscopeShared    `json:"shared"`
	Profiles []speedscopeProfile `json:"profiles"`
}

type speedscopeShared struct {
	Frames []speedscopeFrame `json:"frames"`
}

type speedscopeFrame struct {
	Name string `json:"name"`
	File string `json:"file,omitempty"`
}

type speedscopeProfile struct {
	Type    string  `json:"type"`
	Name    string  `json:"name"`
	Unit    string  `json:"unit"`
	Start   int64   `json:"startValue"`
	End     int64   `json:"endValue"`
	Samples [][]int `json:"samples"`
	Weights []int64 `json:"weights"`
}

// WriteSpeedscope writes the allocations of some processes as a file for
// www.speedscope.app: a sampled profile of each, weighted by bytes. name is the name of the
// trace. See www.speedscope.app/file-format-schema.json.
func WriteSpeedscope(w io.Writer, processes []*export.Allocations, name string) error {
	f := speedscopeFile{Schema: speedscopeSchema, Exporter: "gctrail", Name: name, Shared: speedscopeShared{Frames: []speedscopeFrame{}}, Profiles: []speedscopeProfile{}}
	numbers := make(map[speedscopeFrame]int)
	number := func(fr speedscopeFrame) int {
		n, known := numbers[fr]
		if !known {
			n = len(f.Shared.Frames)
			numbers[fr] = n
			f.Shared.Frames = append(f.Shared.Frames, fr)
		}
		return n
	}
	for _, a := range processes {
		p := speedscopeProfile{Type: "sampled", Name: "Allocations of " + export.Name(a.Process), Unit: "bytes", Samples: [][]int{}, Weights: []int64{}}
		for i := range a.Rows {
			r := &a.Rows[i]
			stack := []int{number(speedscopeFrame{Name: export.Type(r)})}
			for fr := range a.Frames(r) {
				stack = append(stack, number(speedscopeFrame{fr.String(), fr.Module}))
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
