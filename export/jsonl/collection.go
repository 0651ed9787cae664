// Package jsonl writes collections and events as JSON lines: the output of
// gctrail gcs and gctrail events for other programs. All keys are always
// present, with null for unknown values. Times are milliseconds from the
// trace's start and sizes are bytes; the keys name the unit.
package jsonl

import (
	"sync"
	"time"

	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/gc/figure"
	"github.com/gctrail/gctrail/internal/jsontext"
)

// A member is the part of a figure that a line needs: all members together stay in the
// processor's nearest cache.
type member struct {
	prefix string // before the value
	value  func(*gc.Collection) figure.Value
	names  *[32]string // of Words
	items  figure.Items
	field  func(dst []byte, item, field int, v figure.Value) []byte // of items
	moment bool                                                     // time since the trace's start
}

var members = sync.OnceValue(func() []member {
	var all []member
	for i, f := range figure.Lines() {
		m := member{prefix: prefix(i, f.Key), value: f.Value, items: f.Items, moment: f.Type == figure.Time}
		if f.Type == figure.Words {
			m.names = f.Names()
		}
		if f.Items != nil {
			m.field = fieldsOf(f.Items)
		}
		all = append(all, m)
	}
	return all
})

func prefix(i int, key string) string {
	if i == 0 {
		return `{"` + key + `":`
	}
	return `,"` + key + `":`
}

// AppendCollection appends c as one line. It does not allocate if dst has room.
// start is the trace's start.
func AppendCollection(dst []byte, start time.Time, c *gc.Collection) []byte {
	all := members()
	for i := range all {
		m := &all[i]
		dst = append(dst, m.prefix...)
		if m.items != nil {
			dst = appendItems(dst, m, c)
			continue
		}
		v := m.value(c)
		switch {
		case v.Type == figure.Words:
			dst = appendNames(dst, m.names, uint32(v.Int))
		case m.moment && v.Type != figure.Unknown:
			dst = appendInstant(dst, start.Add(time.Duration(v.Int)))
		default:
			dst = appendValue(dst, v)
		}
	}
	return append(dst, "}\n"...)
}

// appendItems appends the objects of a list.
func appendItems(dst []byte, m *member, c *gc.Collection) []byte {
	n, known := m.items.Len(c)
	switch {
	case !known:
		return append(dst, "null"...)
	case n == 0:
		return append(dst, "[]"...)
	}
	dst = m.items.Append(append(dst, '['), c, m.field)
	return append(dst, "}]"...)
}

// fieldsOf returns a function that appends the fields of the objects of a list, all but
// the end of the last one.
func fieldsOf(items figure.Items) func(dst []byte, item, field int, v figure.Value) []byte {
	var prefixes []string
	for i, f := range items.Fields() {
		prefixes = append(prefixes, prefix(i, f.Key))
	}
	return func(dst []byte, item, field int, v figure.Value) []byte {
		if item > 0 && field == 0 {
			dst = append(dst, "},"...)
		}
		return appendValue(append(dst, prefixes[field]...), v)
	}
}

// appendNames appends the names of the bits of set, in the order of bits.
func appendNames(dst []byte, names *[32]string, set uint32) []byte {
	dst = append(dst, '[')
	empty := true
	for bit, name := range names {
		if set>>bit&1 == 0 || name == "" {
			continue
		}
		if !empty {
			dst = append(dst, ',')
		}
		dst = jsontext.AppendString(dst, name)
		empty = false
	}
	return append(dst, ']')
}

// appendInstant appends a time as RFC 3339 has it, with nanoseconds.
func appendInstant(dst []byte, t time.Time) []byte {
	dst = t.UTC().AppendFormat(append(dst, '"'), time.RFC3339) // which time formats fastest
	dst = dst[:len(dst)-1]                                     // without Z
	return append(appendNanos(dst, time.Duration(t.Nanosecond())), `Z"`...)
}
