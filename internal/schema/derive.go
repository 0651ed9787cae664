package schema

import (
	"encoding"
	"fmt"
	"reflect"
	"strings"

	"github.com/gctrail/gctrail/internal/report"
)

// derived has the schemas that are derived from the values that commands encode.
var derived = map[string]struct {
	title string
	of    reflect.Type
}{
	"report": {"gctrail report --full --format json: a line for each trace", reflect.TypeFor[report.Document]()},
}

// optional is the part of gc.Opt that makes a figure null where it is unknown.
type optional interface{ Known() bool }

// unwrapped returns the type of a figure, and whether it may be null.
func unwrapped(t reflect.Type) (of reflect.Type, nullable bool) {
	if t.Kind() == reflect.Pointer {
		return t.Elem(), true
	}
	if t.Implements(reflect.TypeFor[optional]()) {
		get, _ := t.MethodByName("Get")
		return get.Type.Out(0), true
	}
	return t, false
}

// word returns the type of a value that is neither an object nor a list; empty for others.
func word(t reflect.Type) string {
	switch {
	case t == reflect.TypeFor[report.Millis]() || t.Kind() == reflect.Float64:
		return "number"
	case t.Kind() == reflect.String || t.Implements(reflect.TypeFor[encoding.TextMarshaler]()):
		return "string"
	case t.Kind() == reflect.Bool:
		return "boolean"
	case t.ConvertibleTo(reflect.TypeFor[int64]()):
		return "integer"
	}
	return ""
}

// keys yields the keys of an object with their types, in the order of its JSON.
func keys(t reflect.Type, yield func(key string, of reflect.Type)) {
	for f := range t.Fields() {
		key, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if f.Anonymous && key == "" {
			keys(f.Type, yield)
			continue
		}
		if f.IsExported() {
			yield(key, f.Type)
		}
	}
}

// derive returns the schema of a type.
func derive(t reflect.Type, describe func(key string) string) *node {
	of, nullable := unwrapped(t)
	n := &node{}
	kind := word(of)
	switch of.Kind() {
	case reflect.Slice:
		kind, n.Items = "array", derive(of.Elem(), describe)
	case reflect.Map:
		kind, n.Additional = "object", derive(of.Elem(), describe)
	case reflect.Struct:
		kind, n.Additional = "object", false
		keys(of, func(key string, of reflect.Type) {
			value := derive(of, describe)
			value.Description = describe(key)
			n.Properties = append(n.Properties, property{key, value})
			n.Required = append(n.Required, key)
		})
	}
	if kind == "" {
		panic(fmt.Sprintf("%v has no type in JSON", of)) // a fault of the program, which tests find
	}
	n.Type = kind
	if nullable {
		n.Type = []string{kind, "null"}
	}
	return n
}
