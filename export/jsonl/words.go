package jsonl

import (
	"sync"

	"github.com/gctrail/gctrail/clr"
)

var (
	mechanismWords = sync.OnceValue(func() *[32]string {
		return bitNames(func(bit uint32) []string { return clr.GlobalMechanisms(bit).Names() })
	})
	condemnedWords = sync.OnceValue(func() *[32]string {
		return bitNames(func(bit uint32) []string { return clr.CondemnReasons1(bit).Names() })
	})
)

// bitNames returns the names of single bits, empty for a bit that is not a word
// of its set. Made once, they spare every collection the slices of names.
func bitNames(names func(bit uint32) []string) *[32]string {
	var all [32]string
	for i := range all {
		if n := names(1 << i); len(n) == 1 {
			all[i] = n[0]
		}
	}
	return &all
}
