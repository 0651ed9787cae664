package column_test

import (
	"testing"

	"github.com/gctrail/gctrail/export/column"
)

func TestTypes(t *testing.T) {
	for _, c := range column.All() {
		if c.Type() == column.Unknown {
			t.Errorf("%s has no type", c.Name)
		}
	}
	for _, c := range column.OfGeneration() {
		if c.Type() == column.Unknown {
			t.Errorf("%s of a generation has no type", c.Name)
		}
	}
}
