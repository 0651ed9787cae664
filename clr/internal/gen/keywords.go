package main

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// levels are the numbers of the manifest's levels.
var levels = map[string]int{"LogAlways": 0, "Error": 2, "Informational": 4, "Verbose": 5}

// A keyword is one of the manifest. Some have two names.
type keyword struct {
	Name string `json:"name"`
	Bits string `json:"bits"` // hexadecimal
}

// A rundown is a set of keywords that sessions ask for at their end.
type rundown struct {
	Name     string   `json:"name"`
	Doc      string   `json:"doc"`
	Keywords []string `json:"keywords"`
}

// keywordsByName returns the bits of all keywords. Names of the private provider's
// keywords end in Private, names of the rundown's own in Rundown.
func (t *table) keywordsByName() (map[string]uint64, error) {
	bits := make(map[string]uint64)
	for _, k := range slices.Concat(t.Keywords, t.PrivateKeywords, t.RundownKeywords) {
		n, err := strconv.ParseUint(k.Bits, 0, 64)
		if err != nil || n == 0 || bits[k.Name] != 0 {
			return nil, fmt.Errorf("keyword %q: bits %q", k.Name, k.Bits)
		}
		bits[k.Name] = n
	}
	for _, r := range t.Rundowns {
		for _, k := range r.Keywords {
			if bits[k] == 0 {
				return nil, fmt.Errorf("%s: no keyword %q", r.Name, k)
			}
		}
	}
	return bits, nil
}

// keywordsFile has the keywords, and a table of the runtime's ones.
func (t *table) keywordsFile() *writer {
	w := &writer{}
	w.p("// The keywords of the runtime's provider and of its rundown.\nconst (")
	for _, k := range t.Keywords {
		w.p("Keyword%s uint64 = %s", k.Name, k.Bits)
	}
	w.p(")\n")
	w.p("// Keywords of the private provider.\nconst (")
	for _, k := range t.PrivateKeywords {
		w.p("Keyword%s uint64 = %s", k.Name, k.Bits)
	}
	w.p(")\n")
	w.p("var keywords = [...]struct {\nname string\nbits uint64\n}{")
	for _, k := range t.Keywords {
		w.p("{%q, Keyword%s},", k.Name, k.Name)
	}
	w.p("}")
	return w
}

// rundownFile has the rundowns for package diag, which does not import clr.
func (t *table) rundownFile() *writer {
	w := &writer{pkg: "diag"}
	w.p("// Rundown keywords.\nconst (")
	for _, r := range t.Rundowns {
		var mask uint64
		for _, k := range r.Keywords {
			mask |= t.bits[k]
		}
		w.comment(fmt.Sprintf("%s %s Keywords: %s.", r.Name, r.Doc, strings.Join(r.Keywords, ", ")))
		w.p("%s uint64 = %#x", r.Name, mask)
	}
	w.p(")")
	return w
}

// checkEvent verifies an event's level and keywords.
func (t *table) checkEvent(e *event) error {
	if _, ok := levels[e.Level]; !ok {
		return fmt.Errorf("no level %q", e.Level)
	}
	if e.Frequent && !e.whole() {
		return errors.New("a frequent event has fields of other sizes, or not in all versions")
	}
	for _, k := range e.Keywords {
		if t.bits[k] == 0 {
			return fmt.Errorf("no keyword %q", k)
		}
	}
	return nil
}

// mask returns the event's keywords as bits.
func (t *table) mask(e *event) (mask uint64) {
	for _, k := range e.Keywords {
		mask |= t.bits[k]
	}
	return mask
}
