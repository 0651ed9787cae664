package schema

import (
	"strings"

	"github.com/gctrail/gctrail/gc/figure"
)

// collections is the schema of a line for each collection.
const collections = "gcs"

// shapeOfCollections makes a shape of the table of figures.
func shapeOfCollections() string {
	var b strings.Builder
	b.WriteString("gctrail gcs --format jsonl: a line for each collection\n")
	for _, f := range figure.Lines() {
		typ := typeWord(f.Type)
		if f.Type == figure.Percent && f.Whole {
			typ = "int"
		}
		b.WriteString(f.Key + " " + orNull(typ, f.Always) + "\n")
		if f.Items == nil {
			continue
		}
		for _, field := range f.Items.Fields() {
			b.WriteString("  " + field.Key + " " + orNull(typeWord(field.Type), field.Always) + "\n")
		}
	}
	return b.String()
}

// typeWord returns the type of a shape.
func typeWord(t figure.Type) string {
	switch t {
	case figure.Int, figure.Bytes:
		return "int"
	case figure.Millis, figure.Float, figure.Percent, figure.Rate:
		return "number"
	case figure.Bool:
		return "bool"
	case figure.List:
		return "list"
	case figure.Words:
		return "list string"
	default:
		return "string"
	}
}

func orNull(typ string, always bool) string {
	if always {
		return typ
	}
	return typ + "?"
}
