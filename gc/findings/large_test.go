package findings

import "testing"

// TestKindOfLarge distinguishes strings and the arrays of collections from other arrays, by
// the names that the runtime gives them.
func TestKindOfLarge(t *testing.T) {
	for name, want := range map[string]largeKind{
		"System.String":                              largeStrings,
		"Entry[System.Int32,System.Object][]":        largeBuckets,
		"VolatileNode[System.Int32,System.Object][]": largeBuckets,
		"System.Collections.Generic.Dictionary`2+Entry[System.Int32,System.Int32][]": largeBuckets,
		"System.Collections.Generic.HashSet`1+Entry[System.String][]":                largeBuckets,
		"System.Int64[]":      largeArrays,
		"System.Byte[]":       largeArrays,
		"App.Entries[]":       largeArrays,
		"System.String[]":     largeArrays,
		"Entry[System.Int32]": largeArrays,
		"":                    largeArrays,
	} {
		if got := kindOfLarge(name); got != want {
			t.Errorf("%s: %s, want %s", name, nouns[got], nouns[want])
		}
	}
}
