package text

import (
	"slices"
	"testing"
)

func TestQuoted(t *testing.T) {
	for _, c := range []struct{ path, unix, windows string }{
		{"a.nettrace", "a.nettrace", "a.nettrace"},
		{"", "''", `""`},
		{"a b.nettrace", "'a b.nettrace'", `"a b.nettrace"`},
		{`C:\traces\a.etl`, `'C:\traces\a.etl'`, `C:\traces\a.etl`},
		{"it's", `'it'\''s'`, `"it's"`},
		{"pause>200ms", "'pause>200ms'", `"pause>200ms"`},
		{"a,b", "a,b", `"a,b"`},
		{"$a's", `'$a'\''s'`, "'$a''s'"},
	} {
		if got := quotedFor("linux", c.path); got != c.unix {
			t.Errorf("%q on Linux: %s, want %s", c.path, got, c.unix)
		}
		if got := quotedFor("windows", c.path); got != c.windows {
			t.Errorf("%q on Windows: %s, want %s", c.path, got, c.windows)
		}
	}
}

// TestWords checks that Words undoes Quoted.
func TestWords(t *testing.T) {
	for _, word := range []string{"a", "", "it's", "a b", `C:\x y\z`, `"`, "$x", "`it's`", "web*", "'", "''", `a'"b`} {
		for _, system := range []string{"linux", "windows"} {
			line := "gctrail " + quotedFor(system, word) + " " + quotedFor(system, word) + " end"
			if got, want := wordsFor(system, line), []string{"gctrail", word, word, "end"}; !slices.Equal(got, want) {
				t.Errorf("%s: %s: %q, want %q", system, line, got, want)
			}
		}
	}
}
