package report

import (
	"slices"
	"strings"

	"github.com/gctrail/gctrail/gc/figure"
	"github.com/gctrail/gctrail/internal/text"
)

// Definitions returns the definitions of figures with a name or a key, or what else a word of a
// screen means; all figures for "all".
func Definitions(name string) []figure.Definition {
	if name == "all" {
		return figures
	}
	if rest, ok := strings.CutPrefix(strings.ToLower(name), "gen "); ok {
		name = "gen" + rest // as sentences write generations
	}
	var found []figure.Definition
	for _, f := range figures {
		if strings.EqualFold(f.Name, name) || slices.ContainsFunc(f.Keys, func(k string) bool { return strings.EqualFold(k, name) }) {
			found = append(found, f)
		}
	}
	if len(found) > 0 {
		return found
	}
	if key := generationKey(name); key != "" {
		if found := Definitions(key); len(found) > 0 {
			return found
		}
	}
	if found := definition(name); len(found) > 0 {
		return found
	}
	if key := Key(name); key != name {
		return Definitions(key)
	}
	return nil
}

// Key returns the column that a heading with words and a unit stands for: "gen2 after
// MB" is gen2_after_bytes.
func Key(heading string) string {
	key := strings.ReplaceAll(strings.ToLower(heading), " ", "_")
	for _, unit := range [][2]string{{"_mb", "_bytes"}, {"_%", "_pct"}} {
		if stem, ok := strings.CutSuffix(key, unit[0]); ok {
			return stem + unit[1]
		}
	}
	return key
}

// generationKey returns a column of one generation as the table has it:
// gen2_in_bytes is GEN_in_bytes.
func generationKey(name string) string {
	for _, g := range []string{"gen0_", "gen1_", "gen2_", "loh_", "poh_"} {
		if stem, ok := strings.CutPrefix(name, g); ok {
			return "GEN_" + stem
		}
	}
	return ""
}

// FiguresLike returns the names that contain a word, or begin as it does.
func FiguresLike(word string) []string {
	var like []string
	word = strings.ToLower(word)
	for _, name := range FigureNames() {
		if strings.Contains(name, word) || strings.HasPrefix(name, word[:min(len(word), 3)]) {
			like = append(like, name)
		}
	}
	return like
}

// FigureNames returns the names of all figures.
func FigureNames() []string {
	return text.Each(figures, func(f *figure.Definition) string { return f.Name })
}

// WriteDefinition writes a definition for people.
func WriteDefinition(p *text.Page, f *figure.Definition) {
	p.Heading("%s (%s)", f.Name, f.Unit)
	p.Prose("  ", f.Text)
	if f.Differs != "" {
		p.Prose("  ", "Elsewhere: "+f.Differs)
	}
	p.Prose("  ", "From: "+f.Source)
	if len(f.Keys) > 0 {
		p.Prose("  ", "Keys: "+strings.Join(f.Keys, ", "))
	}
}
