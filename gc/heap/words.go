package heap

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/gctrail/gctrail/internal/program"
	"github.com/gctrail/gctrail/internal/units"
)

// rootWords are the kinds of roots as the beginning of a path.
var rootWords = [NumRootKinds]string{"a root of unknown kind", "a variable", "a strong handle", "a pinned handle", "a handle for COM", "waiting for its finalizer", "a static field"}

// String returns the words for a root at the beginning of a path.
func (r Root) String() string {
	switch {
	case r.Field != "":
		return r.Field + " (static)"
	case r.Method != "":
		return rootWords[r.Kind] + " of " + r.Method
	case r.Dependent:
		return "a dependent handle"
	}
	return rootWords[r.Kind]
}

// Name returns the static field or the method, empty for other roots and if it is unknown.
func (r Root) Name() string { return cmp.Or(r.Field, r.Method) }

// countWords are the kinds of roots as a sentence counts them: one, and several.
var countWords = [NumRootKinds][2]string{
	{"of unknown kind", "of unknown kind"},
	{"in a variable", "in variables"},
	{"strong handle", "strong handles"},
	{"pinned handle", "pinned handles"},
	{"handle for COM", "handles for COM"},
	{"waiting for its finalizer", "waiting for finalizers"},
	{"static field", "static fields"},
}

// Counted returns the words for a number of roots of a kind, such as "3 pinned handles".
func (k RootKind) Counted(n int64) string {
	words := countWords[k]
	if n == 1 {
		return units.Count(n) + " " + words[0]
	}
	return units.Count(n) + " " + words[1]
}

// PathWords returns the words for a root and the types on the way from it.
func PathWords(root Root, types []*Type) []string {
	words := []string{root.String()}
	for _, t := range types {
		words = append(words, t.String())
	}
	return words
}

// PathWords returns the words for the way from a root to a suspect, and for what it holds.
func (s *Suspect) PathWords() []string {
	root := s.Root
	root.Field, root.Method = program.Inert(root.Field), program.Inert(root.Method)
	path := []string{root.String()}
	for _, step := range s.Path {
		path = append(path, step.words())
	}
	objects := s.Objects
	for _, step := range s.Held {
		words := step.words()
		if step.Objects != objects {
			words = units.Count(step.Objects) + " × " + words
		}
		path, objects = append(path, words), step.Objects
	}
	return path
}

func (s *Step) words() string {
	name := program.Inert(s.String())
	if s.Dependent {
		name += " (by a dependent handle, as of a ConditionalWeakTable)"
	}
	return name
}

// String returns a suspect as a sentence without its end: its part of the growth, the way to
// it, what it holds.
func (s *Suspect) String() string {
	hangs, since := "one object", ""
	if s.Objects != 1 {
		hangs = units.Count(s.Objects) + " objects of one type"
	}
	if s.Snapshots == 2 {
		since = " between two snapshots, which do not show whether it still grows"
	}
	return fmt.Sprintf("%s of the growth hangs on %s: %s, %s retained; it grew by %s%s",
		units.Percent(100*min(s.Share, 1)), hangs, strings.Join(s.PathWords(), " → "), units.Bytes(s.Retained), units.Bytes(s.Grew), since)
}

// Confidence returns how sure it is that the growth goes on, in a word: two snapshots do not
// show it.
func (s *Suspect) Confidence() string {
	if s.Snapshots > 2 {
		return "high"
	}
	return "medium"
}

// Unsuspected returns why Suspects returns nothing, as the end of a sentence.
func Unsuspected(snapshots []*Snapshot) string {
	for _, s := range snapshots {
		if s.Graph == nil && s.Lacks() == "" {
			return "unknown without what objects retain"
		}
		if s.Graph == nil {
			return "unknown, because a part of a snapshot is missing"
		}
	}
	return "none: no object accounts for a tenth of what grew, from each snapshot to the next"
}

// Label returns the name of a snapshot in sentences.
func (s *Snapshot) Label() string {
	if s.Number > 0 {
		return fmt.Sprintf("GC %d", s.Number)
	}
	return "a heap snapshot"
}

// About returns the word before figures of a snapshot that are not exact, with a space; empty
// if they are.
func (s *Snapshot) About() string {
	switch {
	case s.Sampled:
		return "about "
	case !s.Missing.Whole():
		return "at least "
	}
	return ""
}

// Lacks describes the missing parts of a snapshot in sentences. It is empty for a whole one.
func (s *Snapshot) Lacks() string {
	switch {
	case s.TooLarge:
		return fmt.Sprintf("it has more objects than fit in memory (%s for all snapshots together), so that what they retain is unknown.", units.Count(MaxObjects))
	case s.Sampled:
		return "the file has a sample of the objects, so that what they retain is unknown."
	case s.Missing.Whole():
		return ""
	}
	return strings.Join(s.Missing.words(), ", ") + ". What objects retain is unknown."
}

// words returns the parts that are missing.
func (m *Missing) words() []string {
	var parts []string
	add := func(n int64, one, many string) {
		switch {
		case n == 1:
			parts = append(parts, "1 "+one)
		case n > 1:
			parts = append(parts, units.Count(n)+" "+many)
		}
	}
	add(m.Events, "event", "events")
	add(m.Edges, "reference", "references")
	add(-m.Edges, "object's reference", "objects' references")
	add(m.Unknown, "object that is referred to", "objects that are referred to")
	add(m.Duplicates, "object with an address of its own", "objects with addresses of their own")
	add(m.Impossible, "object with a possible size", "objects with possible sizes")
	if m.Unended {
		parts = append(parts, "the end")
	}
	if m.Lost {
		parts = append(parts, "events that the trace lost")
	}
	if n := m.Bytes.Or(0); n > 0 {
		parts = append(parts, "objects of "+units.Bytes(n)+", by what the collection reports")
	}
	return parts
}
