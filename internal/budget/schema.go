package budget

import (
	"encoding/json"

	"github.com/gctrail/gctrail/gc/compare"
)

// Schema returns the JSON Schema of budget files.
func Schema() ([]byte, error) {
	type object = map[string]any
	number := object{"type": "number", "minimum": 0}
	limits, baseline := object{}, object{}
	for _, m := range compare.Metrics() {
		of := func(per string) object {
			return object{"type": "number", "minimum": 0, "description": m.Text + per + ", in " + string(m.Unit)}
		}
		limits[m.Name] = of("")
		baseline[m.Name] = number
		if m.Total {
			for _, s := range suffixes {
				limits[m.Name+s.text] = of(s.words)
			}
		}
	}
	schema, err := json.MarshalIndent(object{
		"$schema":              "https://json-schema.org/draft/2020-12/schema",
		"title":                "gctrail budget",
		"description":          "What garbage collection may cost: gctrail check --budget FILE TRACE",
		"type":                 "object",
		"additionalProperties": false,
		"required":             []string{"version"},
		"properties": object{
			"version": object{"const": Version},
			"limits": object{
				"description": "maximum for each run",
				"type":        "object", "additionalProperties": false, "properties": limits,
			},
			"baseline": object{
				"description": "maximum increase over the baseline runs, in percent",
				"type":        "object", "additionalProperties": false, "properties": baseline,
			},
			"findings": object{
				"description": "rules that must not fire",
				"type":        "array", "items": object{"type": "string", "pattern": ruleID.String()},
			},
			"work": object{
				"description": "work of each run: an amount, or an expression whose first group finds it in the program's output",
				"oneOf":       []object{{"type": "number", "exclusiveMinimum": 0}, {"type": "string", "format": "regex"}},
			},
			"cannot_tell": object{
				"description": "the result when a metric is unknown, or its change may be noise",
				"enum":        []string{"pass", "fail"}, "default": "pass",
			},
		},
	}, "", "  ")
	return append(schema, '\n'), err
}
