package selection

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/gctrail/gctrail/clr"
	"github.com/gctrail/gctrail/internal/text"
)

// A keyword is one of the runtime's provider, as dotnet-trace's --clrevents spells it.
type keyword struct {
	name string
	bits uint64
}

// misspelt is how dotnet-trace spells ManagedHeapCollect.
var misspelt = keyword{"managedheadcollect", clr.KeywordManagedHeapCollect}

var keywords = sync.OnceValue(func() (all []keyword) {
	for name, bits := range clr.Keywords() {
		all = append(all, keyword{strings.ToLower(name), bits})
		if bits == misspelt.bits && name == "ManagedHeapCollect" {
			all = append(all, misspelt)
		}
	}
	return all
})

// KeywordNames returns the names that --keywords takes, as dotnet-trace spells
// them.
func KeywordNames() []string {
	return text.Each(keywords(), func(k *keyword) string { return k.name })
}

// SpellKeywords names keywords as dotnet-trace does.
func SpellKeywords(set uint64) string {
	var names []string
	for _, k := range keywords() {
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
	for _, k := range keywords() {
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

// The names of profiles of the events of collections; see package session.
const (
	GCCollect = "gc-collect"
	GCTicks   = "gc-ticks"
	GCVerbose = "gc-verbose"
	GCAlloc   = "gc-alloc"
)

// SpellProvider returns a provider as --providers takes it. Runtimes take the same in
// DOTNET_EventPipeConfig.
func SpellProvider(name string, keywords uint64, level uint8) string {
	return fmt.Sprintf("%s:%#x:%d", name, keywords, level)
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
