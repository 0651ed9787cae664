package proc

import (
	"bytes"
	"math/bits"
	"path/filepath"
	"strconv"
	"strings"
	"unicode"

	"github.com/gctrail/gctrail/clr"
)

const (
	// maxSettings bounds the settings taken from a process's environment, and maxSetting the
	// length of each.
	maxSettings = 64
	maxSetting  = 256
)

// Limits reads the limits of the process, except its memory limit, and the configuration of its
// garbage collector. It looks for its cgroup anew.
func (r *ProcessorReader) Limits() clr.ProcessLimits {
	b := Borrow()
	defer b.GiveBack()
	r.group = r.findGroup(b)
	l := clr.ProcessLimits{
		QuotaMicroseconds: uint64(r.group.quota.Microseconds()), PeriodMicroseconds: uint64(r.group.period.Microseconds()),
		Settings: clr.NewUTF16(strings.Join(r.settings(), "\n")),
	}
	if text, err := b.Read(filepath.Join(r.folder, "status")); err == nil {
		l.Processors = uint32(allowed(text))
	}
	if text, err := b.Read(filepath.Join(r.root, "/sys/devices/system/cpu/online")); err == nil {
		l.MachineProcessors = uint32(listed(text))
	}
	return l
}

// allowed returns how many processors a process may use, by the mask in its status:
// hexadecimal, with commas.
func allowed(status []byte) (n int) {
	for line := range bytes.Lines(status) {
		mask, found := bytes.CutPrefix(line, []byte("Cpus_allowed:"))
		if !found {
			continue
		}
		for _, c := range bytes.TrimSpace(mask) {
			if c == ',' {
				continue
			}
			digit, err := strconv.ParseUint(string(c), 16, 8)
			if err != nil {
				return 0
			}
			n += bits.OnesCount64(digit)
		}
	}
	return n
}

// maxProcessors is more than a machine has.
const maxProcessors = 1 << 20

// listed counts the processors of a list such as "0-3,8"; 0 if it is none.
func listed(list []byte) (n int) {
	for part := range strings.SplitSeq(strings.TrimSpace(string(list)), ",") {
		first, last, isRange := strings.Cut(part, "-")
		if !isRange {
			last = first
		}
		from, err := strconv.ParseUint(first, 10, 20)
		to, err2 := strconv.ParseUint(last, 10, 20)
		if err != nil || err2 != nil || from > to {
			return 0
		}
		n += int(to - from + 1)
	}
	return min(n, maxProcessors)
}

// settings returns the variables of the process's environment that configure its garbage
// collector, and no others.
func (r *ProcessorReader) settings() []string {
	environment, err := ReadSome(filepath.Join(r.folder, "environ"))
	if err != nil {
		return nil // a part could pass for all
	}
	var settings []string
	for variable := range bytes.SplitSeq(environment, []byte{0}) {
		if s := string(variable[:min(len(variable), maxSetting+1)]); configures(s) && len(settings) < maxSettings {
			settings = append(settings, withoutPath(s))
		}
	}
	return settings
}

// withoutPath replaces the value of a setting that names a file, because a trace need not
// reveal paths.
func withoutPath(setting string) string {
	name, value, _ := strings.Cut(setting, "=")
	if strings.ContainsAny(value, `/\`) {
		return name + "=…"
	}
	return setting
}

// configures reports whether a variable is one of the garbage collector's: DOTNET_GC… or
// COMPlus_GC…, without regard to case after the prefix.
func configures(variable string) bool {
	name, value, found := strings.Cut(variable, "=")
	if !found || len(variable) > maxSetting || strings.ContainsFunc(value, func(c rune) bool { return !unicode.IsPrint(c) }) {
		return false
	}
	for _, prefix := range [...]string{"DOTNET_", "COMPlus_"} {
		if rest, ok := strings.CutPrefix(name, prefix); ok {
			return len(rest) > 2 && strings.EqualFold(rest[:2], "gc") && strings.Trim(strings.ToLower(rest), "abcdefghijklmnopqrstuvwxyz0123456789_") == ""
		}
	}
	return false
}
