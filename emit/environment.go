package emit

import (
	"cmp"
	"os"
	"strconv"
	"strings"

	"github.com/gctrail/gctrail/clr"
	"github.com/gctrail/gctrail/internal/outfile"
)

// An environment is a list of variables, as "name=value".
type environment []string

// value returns the value of a runtime setting, by its name without a prefix; empty if
// it is not set.
func (e environment) value(name string) string {
	for _, prefix := range [...]string{"DOTNET_", "COMPlus_"} {
		for _, v := range e {
			if key, value, _ := strings.Cut(v, "="); strings.EqualFold(key, prefix+name) {
				return value
			}
		}
	}
	return ""
}

// number returns the value of a setting, which is hexadecimal, or otherwise if it is not
// set.
func (e environment) number(name string, otherwise uint64) uint64 {
	n, err := strconv.ParseUint(hexDigits(e.value(name)), 16, 64)
	if err != nil {
		return otherwise
	}
	return n
}

func hexDigits(s string) string { return strings.TrimPrefix(strings.ToLower(s), "0x") }

// capture starts the session that the environment requests, as
// enable_default_session_via_env_variables does in the runtime's ep.c. It writes to a
// file.
func (p *Provider) capture(env environment) (*Session, error) {
	const (
		defaultPath     = "trace.nettrace"
		defaultBufferMB = 0x400
		maxBufferMB     = 0x400
	)
	path := cmp.Or(strings.ReplaceAll(env.value("EventPipeOutputPath"), "{pid}", strconv.Itoa(os.Getpid())), defaultPath)
	held := env.number("EventPipeOutputStreaming", 1) == 0
	mb := max(env.number("EventPipeCircularMB", defaultBufferMB), 1)
	opt := SessionOptions{
		Providers:   eventPipeConfig(env.value("EventPipeConfig")),
		BufferBytes: int(min(mb, maxBufferMB) << 20),
		Block:       !held && env.number("EventPipeBufferingMode", 0) == 1,
		held:        held,
	}
	f, err := outfile.CreateAny(path, fileMode)
	if err != nil {
		return nil, err
	}
	return p.startSession(f, opt, p.nettraceTo(f, 4))
}

// defaultConfig lists the runtime's providers without an EventPipeConfig, as far as a
// Provider has them.
var defaultConfig = []Wanted{
	{Provider: clr.RuntimeProvider, Keywords: 0x4c14fccbd, Level: 5},
	{Provider: clr.PrivateProvider, Keywords: 0x4002000b, Level: 5},
}

// eventPipeConfig parses an EventPipeConfig as ep_enable_2 does in the runtime's ep.c: a
// list of name:keywords:level:arguments, separated by commas. Keywords are hexadecimal,
// all if they are empty, none if they are missing; a missing level is the highest.
// Arguments are ignored, because they are for EventSources.
func eventPipeConfig(config string) []Wanted {
	const verbose = 5
	if config == "" {
		return defaultConfig
	}
	wanted := []Wanted{}
	for one := range strings.SplitSeq(config, ",") {
		parts := strings.Split(one, ":")
		w := Wanted{Provider: parts[0], Level: verbose}
		if len(parts) > 1 {
			w.Keywords = ^uint64(0)
			if n, err := strconv.ParseUint(hexDigits(parts[1]), 16, 64); err == nil {
				w.Keywords = n
			}
		}
		if len(parts) > 2 {
			if n, err := strconv.ParseUint(parts[2], 10, 8); err == nil {
				w.Level = min(uint8(n), verbose)
			}
		}
		wanted = append(wanted, w)
	}
	return wanted
}
