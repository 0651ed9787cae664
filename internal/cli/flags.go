package cli

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/gctrail/gctrail/internal/units"
)

// A choice is a flag that takes one of a few words.
type choice struct {
	value string
	of    []string
}

func (c *choice) Type() string { return strings.Join(c.of, "|") }

func (c *choice) String() string { return c.value }

func (c *choice) Set(s string) error {
	if !slices.Contains(c.of, s) {
		return fmt.Errorf("must be one of %s", strings.Join(c.of, ", "))
	}
	c.value = s
	return nil
}

// choices is a flag that takes several of a few words, in either case, with
// commas between them or given several times. None means all.
type choices struct {
	kind   string // of words, for the help
	values []string
	of     []string
}

func (c *choices) Type() string { return c.kind + ",..." }

func (c *choices) String() string { return "" }

func (c *choices) Set(s string) error {
	for part := range strings.SplitSeq(s, ",") {
		part = strings.TrimSpace(part)
		i := slices.IndexFunc(c.of, func(word string) bool { return strings.EqualFold(word, part) })
		if i < 0 {
			return fmt.Errorf("%q is not one of %s", part, strings.Join(c.of, ", "))
		}
		c.values = append(c.values, c.of[i])
	}
	return nil
}

// allows reports whether a word is among the requested ones.
func (c *choices) allows(word string) bool {
	return len(c.values) == 0 || slices.Contains(c.values, word)
}

// A wordList is a flag that takes any words, with commas between them or given
// several times.
type wordList []string

func (l *wordList) Type() string { return "NAME,..." }

func (l *wordList) String() string { return "" }

func (l *wordList) Set(s string) error {
	for part := range strings.SplitSeq(s, ",") {
		if part = strings.TrimSpace(part); part == "" {
			return errors.New("the name is empty: give a name, or a pattern such as 'web*'")
		}
		*l = append(*l, part)
	}
	return nil
}

// A parsed is a flag that stores what a function makes of its value.
type parsed[T any] struct {
	to    *T
	kind  string // of the value, for the help
	parse func(string) (T, error)
}

func (p parsed[T]) Type() string { return p.kind }

func (p parsed[T]) String() string { return "" }

func (p parsed[T]) Set(s string) (err error) {
	*p.to, err = p.parse(s)
	return err
}

// parseSize reads a size with its unit.
func parseSize(s string) (int64, error) {
	n, ok := units.ParseBytes(s)
	if !ok {
		return 0, fmt.Errorf("%q is not a size with its unit, such as 100KB", s)
	}
	return n, nil
}
