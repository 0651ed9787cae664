package comparison

import (
	"fmt"
	"math"
	"regexp"

	"go.yaml.in/yaml/v3"
)

// Work is how much work each run does: an amount, or a regular expression whose first
// group finds it in the output of the program. The zero Work is neither.
type Work struct {
	Amount  float64
	Pattern string
}

// IsZero reports whether the work is unknown.
func (w Work) IsZero() bool { return w == Work{} }

// UnmarshalYAML reads a number as the amount, and text as the expression.
func (w *Work) UnmarshalYAML(node *yaml.Node) error {
	if node.Decode(&w.Amount) == nil {
		if !(w.Amount > 0) || math.IsInf(w.Amount, 0) {
			return fmt.Errorf("work: an amount must be above 0, not %v", w.Amount)
		}
		return nil
	}
	if err := node.Decode(&w.Pattern); err != nil {
		return err
	}
	_, err := WorkPattern(w.Pattern)
	return err
}

// MarshalYAML is the inverse of UnmarshalYAML.
func (w Work) MarshalYAML() (any, error) {
	if w.Pattern != "" {
		return w.Pattern, nil
	}
	return w.Amount, nil
}

// WorkPattern compiles an expression that finds the amount of work in the output of a
// program.
func WorkPattern(text string) (*regexp.Regexp, error) {
	re, err := regexp.Compile(text)
	if err != nil {
		return nil, fmt.Errorf("work: %w", err)
	}
	if re.NumSubexp() == 0 {
		return nil, fmt.Errorf("work: %q has no group for the number, as in 'requests: ([0-9.]+)'", text)
	}
	return re, nil
}
