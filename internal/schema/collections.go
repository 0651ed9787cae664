package schema

import (
	"slices"
	"strings"

	"github.com/gctrail/gctrail/gc/figure"
	"github.com/gctrail/gctrail/internal/otlp"
)

// made are the shapes that are made of the table of figures, by their names.
var made = map[string]func() string{"gcs": shapeOfCollections, "fleet-gcs": shapeOfFleet}

// shapeOfCollections makes a shape of the table of figures.
func shapeOfCollections() string {
	var b strings.Builder
	b.WriteString("gctrail gcs --format jsonl: a line for each collection\n")
	for _, f := range figure.Lines() {
		typ := typeWord(f.Type)
		if f.Type == figure.Percent && f.Form == figure.FormPlain {
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

// shapeOfFleet makes a shape of the attributes of records, which are the columns of a fleet's
// tables. What a record is found by is never null; older agents may not send the rest.
func shapeOfFleet() string {
	var b strings.Builder
	b.WriteString("gctrail fleet gcs --format jsonl, without --columns: a line for each collection\ntime string\ntime_ns int\n")
	key := []string{"process_uid", "clr_instance", "number"}
	for _, a := range otlp.Resource() {
		b.WriteString(a.Column + " " + orNull(typeWord(a.Type), slices.Contains(key, a.Column)) + "\n")
	}
	for _, a := range otlp.Collection() {
		b.WriteString(a.Column + " " + orNull(typeWord(a.Type), slices.Contains(key, a.Column)) + "\n")
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
	case figure.Numbers:
		return "list int"
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
