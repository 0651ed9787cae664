package budget

import (
	"bytes"
	"flag"
	"os"
	"testing"
)

var update = flag.Bool("update", false, "write docs/budget.schema.json")

func TestSchema(t *testing.T) {
	const path = "../../docs/budget.schema.json"
	schema, err := Schema()
	if err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.WriteFile(path, schema, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	published, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(schema, published) {
		t.Errorf("%s is not the schema: go test ./internal/budget -update", path)
	}
}
