package diag

import (
	"bytes"
	"cmp"
	"encoding/json"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/gctrail/gctrail/internal/units"
)

// A Flavour is the configuration of a process's collector, as far as it is
// visible from outside: in the environment, in runtimeconfig.json, in the names
// of threads.
type Flavour struct {
	Server     Switch // otherwise workstation
	Concurrent Switch
}

// A Switch is a setting that may be unknown.
type Switch uint8

const (
	Unknown Switch = iota
	Off
	On
)

var switchNames = [...]string{Unknown: "unknown", Off: "off", On: "on"}

func (s Switch) String() string { return units.Name("Switch", switchNames[:], s) }

// Bool returns the setting, or nil if it is unknown.
func (s Switch) Bool() *bool {
	if s != Off && s != On {
		return nil
	}
	on := s == On
	return &on
}

func switched(on bool) Switch {
	if on {
		return On
	}
	return Off
}

// flavour combines the sources in the order in which the runtime obeys them: the
// environment, then the file. The names of threads come last.
func (p *Process) flavour(env []string) Flavour {
	f := Flavour{environmentSwitch(env, "gcServer"), environmentSwitch(env, "gcConcurrent")}
	for _, find := range [...]func(*Process) Flavour{(*Process).fileFlavour, (*Process).threadFlavour} {
		if f.Server == Unknown || f.Concurrent == Unknown {
			more := find(p)
			f = Flavour{cmp.Or(f.Server, more.Server), cmp.Or(f.Concurrent, more.Concurrent)}
		}
	}
	return f
}

// environmentSwitch looks for a setting of the runtime, a hexadecimal number.
func environmentSwitch(env []string, name string) Switch {
	for _, prefix := range [...]string{"DOTNET_", "COMPlus_"} {
		for _, v := range env {
			key, value, _ := strings.Cut(v, "=")
			if !strings.EqualFold(key, prefix+name) {
				continue
			}
			if n, err := strconv.ParseUint(strings.TrimPrefix(value, "0x"), 16, 64); err == nil {
				return switched(n != 0)
			}
		}
	}
	return Unknown
}

// fileFlavour reads the runtimeconfig.json beside the program or its main assembly. A
// setting that the file does not mention has the runtime's default.
func (p *Process) fileFlavour() Flavour {
	words := strings.Fields(p.Info.CommandLine)
	for _, word := range words[:min(2, len(words))] {
		path := filepath.Join(filepath.Dir(word), p.Info.EntryAssembly+".runtimeconfig.json")
		if !filepath.IsAbs(path) {
			continue
		}
		text, err := p.readInside(path, maxRuntimeConfig)
		if err != nil {
			continue
		}
		if f, ok := parseRuntimeConfig(text); ok {
			return f
		}
	}
	return Flavour{}
}

const maxRuntimeConfig = 1 << 20

func parseRuntimeConfig(text []byte) (Flavour, bool) {
	var config struct {
		RuntimeOptions struct {
			ConfigProperties struct {
				Server     bool  `json:"System.GC.Server"`
				Concurrent *bool `json:"System.GC.Concurrent"`
			} `json:"configProperties"`
		} `json:"runtimeOptions"`
	}
	if json.NewDecoder(bytes.NewReader(text)).Decode(&config) != nil {
		return Flavour{}, false
	}
	c := &config.RuntimeOptions.ConfigProperties
	return Flavour{switched(c.Server), switched(c.Concurrent == nil || *c.Concurrent)}, true
}
