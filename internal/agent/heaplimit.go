package agent

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"

	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/internal/proc"
)

// A heapLimit is the limit of a process's GC heap: a number of bytes, or a percentage of
// the memory. The zero heapLimit has neither.
type heapLimit struct {
	bytes   int64
	percent int64
	machine gc.Opt[int64] // its memory, where a percentage is set
}

// heapLimitOf returns the limit set by the environment of a process, or by its
// runtimeconfig.json. The environment wins, and bytes win over a percentage. See
// gcconfig.h and gc.cpp, compute_hard_limit.
func heapLimitOf(o *outside) heapLimit {
	of := func(variable, property string) int64 {
		for _, prefix := range [...]string{"DOTNET_", "COMPlus_"} {
			if text := o.environment[prefix+variable]; text != "" {
				n, _ := strconv.ParseInt(strings.TrimPrefix(strings.ToLower(text), "0x"), 16, 64) // 0, which is no limit
				return n
			}
		}
		n, _ := strconv.ParseInt(o.properties[property], 0, 64) // the same
		return n
	}
	l := heapLimit{
		bytes:   of("GCHeapHardLimit", "System.GC.HeapHardLimit"),
		percent: of("GCHeapHardLimitPercent", "System.GC.HeapHardLimitPercent"),
	}
	if l.percent <= 0 || l.percent >= 100 {
		l.percent = 0
	}
	if l.percent > 0 {
		l.machine = proc.Total()
	}
	return l
}

// in returns the limit of the GC heap in bytes, given the container's limit, if any.
// Without a setting, it is three quarters of the container's.
func (l *heapLimit) in(container gc.Opt[int64]) gc.Opt[int64] {
	const least = 20 << 20
	memory, limited := container.Get()
	switch {
	case l.bytes > 0:
		return gc.Some(l.bytes)
	case l.percent > 0 && limited:
		return gc.Some(memory / 100 * l.percent)
	case l.percent > 0 && l.machine.Known():
		return gc.Some(l.machine.Or(0) / 100 * l.percent)
	case limited:
		return gc.Some(max(least, memory/4*3))
	}
	return gc.Opt[int64]{}
}

// configOf returns the path of a program's runtimeconfig.json: beside the program, or
// beside the assembly that the dotnet command runs. It is empty if that is unknown.
func configOf(program string, arguments []string) string {
	const suffix = ".runtimeconfig.json"
	if program == "" {
		return ""
	}
	if program[strings.LastIndexByte(program, '/')+1:] != "dotnet" {
		return program + suffix
	}
	for i, argument := range arguments {
		if i > 0 && arguments[i-1] == "--runtimeconfig" {
			return argument
		}
		if assembly, found := strings.CutSuffix(argument, ".dll"); found && i > 0 {
			return assembly + suffix
		}
	}
	return ""
}

// propertiesOf returns the settings in a runtimeconfig.json, as text; none if it cannot
// be read.
func propertiesOf(config []byte) map[string]string {
	var content struct {
		RuntimeOptions struct {
			ConfigProperties map[string]any `json:"configProperties"`
		} `json:"runtimeOptions"`
	}
	d := json.NewDecoder(bytes.NewReader(bytes.TrimPrefix(config, []byte("\ufeff"))))
	d.UseNumber()
	if d.Decode(&content) != nil {
		return nil
	}
	properties := make(map[string]string)
	for name, value := range content.RuntimeOptions.ConfigProperties {
		switch v := value.(type) {
		case string:
			properties[name] = v
		case json.Number:
			properties[name] = v.String()
		}
	}
	return properties
}
