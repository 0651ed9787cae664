package provider

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// keywords are those of the runtime's provider, as dotnet-trace's --clrevents
// spells them.
var keywords = []struct {
	name string
	bits uint64
}{
	{"gc", 0x1},
	{"gchandle", 0x2},
	{"fusion", 0x4},
	{"assemblyloader", 0x4},
	{"loader", 0x8},
	{"jit", 0x10},
	{"ngen", 0x20},
	{"startenumeration", 0x40},
	{"endenumeration", 0x80},
	{"security", 0x400},
	{"appdomainresourcemanagement", 0x800},
	{"jittracing", 0x1000},
	{"interop", 0x2000},
	{"contention", 0x4000},
	{"exception", 0x8000},
	{"threading", 0x10000},
	{"jittedmethodiltonativemap", 0x20000},
	{"overrideandsuppressngenevents", 0x40000},
	{"type", 0x80000},
	{"gcheapdump", 0x100000},
	{"gcsampledobjectallocationhigh", 0x200000},
	{"gcheapsurvivalandmovement", 0x400000},
	{"gcheapcollect", 0x800000},
	{"managedheapcollect", 0x800000},
	{"managedheadcollect", 0x800000}, // as dotnet-trace has it
	{"gcheapandtypenames", 0x1000000},
	{"gcsampledobjectallocationlow", 0x2000000},
	{"perftrack", 0x20000000},
	{"stack", 0x40000000},
	{"threadtransfer", 0x80000000},
	{"debugger", 0x100000000},
	{"monitoring", 0x200000000},
	{"codesymbols", 0x400000000},
	{"eventsource", 0x800000000},
	{"compilation", 0x1000000000},
	{"compilationdiagnostic", 0x2000000000},
	{"methoddiagnostic", 0x4000000000},
	{"typediagnostic", 0x8000000000},
	{"jitinstrumentationdata", 0x10000000000},
	{"profiler", 0x20000000000},
	{"waithandle", 0x40000000000},
	{"allocationsampling", 0x80000000000},
}

// KeywordGC is the keyword of the events of collections.
const KeywordGC = 0x1

// KeywordNames returns the names that --keywords takes, as dotnet-trace spells
// them.
func KeywordNames() []string {
	var names []string
	for _, k := range keywords {
		names = append(names, k.name)
	}
	return names
}

// Spell names keywords as dotnet-trace does.
func Spell(set uint64) string {
	var names []string
	for _, k := range keywords {
		if set&k.bits != 0 {
			names = append(names, k.name)
			set &^= k.bits
		}
	}
	if set != 0 {
		names = append(names, fmt.Sprintf("0x%X", set))
	}
	if len(names) == 0 {
		return "no keywords"
	}
	return strings.Join(names, "+")
}

// A Keywords is a flag that takes keywords: names joined by + or commas, or
// hexadecimal numbers. The zero set allows all events.
type Keywords uint64

func (k *Keywords) Type() string { return "NAME+..." }

func (k *Keywords) String() string { return "" }

func (k *Keywords) Set(s string) error {
	for part := range strings.FieldsFuncSeq(s, func(r rune) bool { return r == '+' || r == ',' }) {
		bits, err := parseKeyword(part)
		if err != nil {
			return err
		}
		*k |= Keywords(bits)
	}
	if *k == 0 {
		return fmt.Errorf("no keyword is set")
	}
	return nil
}

func parseKeyword(s string) (uint64, error) {
	for _, k := range keywords {
		if strings.EqualFold(k.name, s) {
			return k.bits, nil
		}
	}
	digits := strings.TrimPrefix(strings.ToLower(s), "0x")
	bits, err := strconv.ParseUint(digits, 16, 64)
	if err != nil {
		return 0, fmt.Errorf("%q is neither hexadecimal nor one of %s", s, strings.Join(KeywordNames(), ", "))
	}
	return bits, nil
}

// LevelNames are the words for the levels 0 to 5.
var LevelNames = []string{"logalways", "critical", "error", "warning", "informational", "verbose"}

// A Level is a flag that takes the least severe level wanted.
type Level struct {
	Given bool
	Max   uint8
}

func (l *Level) Type() string { return "LEVEL" }

func (l *Level) String() string { return "" }

func (l *Level) Set(s string) error {
	n := slices.Index(LevelNames, strings.ToLower(s))
	if n < 0 {
		v, err := strconv.ParseUint(s, 10, 8)
		if err != nil || int(v) >= len(LevelNames) {
			return fmt.Errorf("must be 0 to 5, or one of %s", strings.Join(LevelNames, ", "))
		}
		n = int(v)
	}
	*l = Level{true, uint8(n)}
	return nil
}
