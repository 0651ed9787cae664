package comparison

import (
	"bytes"
	"encoding/json"
	"os"
	"testing"

	"github.com/gctrail/gctrail/gc/compare"
	"github.com/gctrail/gctrail/internal/extent"
)

func TestBudgetSchema(t *testing.T) {
	const path = "../../docs/budget.schema.json"
	schema, err := budgetSchema()
	if err != nil {
		t.Fatal(err)
	}
	if extent.Update() {
		if err := os.WriteFile(path, schema, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	published, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(schema, published) {
		t.Errorf("%s is not the schema: go test ./internal/comparison -update", path)
	}
}

// budgetSchema returns the JSON Schema of budget files.
func budgetSchema() ([]byte, error) {
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
			for _, s := range limitSuffixes {
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
			"version": object{"const": BudgetVersion},
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
