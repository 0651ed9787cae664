package cli

import (
	"slices"
	"strings"

	"github.com/gctrail/gctrail/internal/text"
)

// A figure is a number that gctrail prints, with its definition. The table of
// figures makes both report --explain and the list in docs/figures.md.
type figure struct {
	name    string   // as --explain takes it
	unit    string   // "ms", "bytes", "%", or what is counted
	keys    []string // in JSON and in columns
	text    string
	source  string // events and, where the rule comes from the runtime, its file
	differs string // from PerfView and TraceEvent; empty where it does not
}

// definitions are the figures of a name or a key; all of them for "all".
func definitions(name string) []figure {
	if name == "all" {
		return figures
	}
	var found []figure
	for _, f := range figures {
		if strings.EqualFold(f.name, name) || slices.ContainsFunc(f.keys, func(k string) bool { return strings.EqualFold(k, name) }) {
			found = append(found, f)
		}
	}
	if len(found) == 0 {
		if key := generationKey(name); key != "" {
			return definitions(key)
		}
	}
	return found
}

// generationKey is a column of one generation as the table has it: gen2_in_bytes
// is GEN_in_bytes.
func generationKey(name string) string {
	for _, g := range []string{"gen0_", "gen1_", "gen2_", "loh_", "poh_"} {
		if stem, ok := strings.CutPrefix(name, g); ok {
			return "GEN_" + stem
		}
	}
	return ""
}

// figuresLike are the names that contain a word, or begin as it does.
func figuresLike(word string) []string {
	var like []string
	word = strings.ToLower(word)
	for _, name := range figureNames() {
		if strings.Contains(name, word) || strings.HasPrefix(name, word[:min(len(word), 3)]) {
			like = append(like, name)
		}
	}
	return like
}

func figureNames() []string {
	names := make([]string, len(figures))
	for i, f := range figures {
		names[i] = f.name
	}
	return names
}

func (f *figure) write(p *text.Page) {
	p.Heading("%s (%s)", f.name, f.unit)
	p.Prose("  ", f.text)
	if f.differs != "" {
		p.Prose("  ", "Elsewhere: "+f.differs)
	}
	p.Prose("  ", "From: "+f.source)
	if len(f.keys) > 0 {
		p.Prose("  ", "Keys: "+strings.Join(f.keys, ", "))
	}
}
