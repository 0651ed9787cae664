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

// WriteSpeedscope writes a profile as a file for www.speedscope.app: a sampled profile of each
// process, weighted by bytes. name is the name of the trace. See
// www.speedscope.app/file-format-schema.json.
func WriteSpeedscope(w io.Writer, p Profile, name string) error {
	f := speedscopeFile{Schema: speedscopeSchema, Exporter: "gctrail", Name: name, Shared: speedscopeShared{Frames: []speedscopeFrame{}}, Profiles: []speedscopeProfile{}}
	numbers := make(map[speedscopeFrame]int)
	for _, of := range p.Processes {
		profile := speedscopeProfile{Type: "sampled", Name: p.Title + " of " + export.Name(of.Process), Unit: "bytes", Samples: [][]int{}, Weights: []int64{}}
		for s := range of.Samples {
			var stack []int
			for fr := range s.Typed() {
				frame := speedscopeFrame{fr.Method, fr.Module}
				n := number(numbers, frame, func(int) { f.Shared.Frames = append(f.Shared.Frames, frame) })
				stack = append(stack, n-1)
			}
			slices.Reverse(stack)
			profile.Samples = append(profile.Samples, stack)
			profile.Weights = append(profile.Weights, s.Bytes)
			profile.End += s.Bytes
		}
		f.Profiles = append(f.Profiles, profile)
	}
	return jsontext.Encode(w, f)
}
