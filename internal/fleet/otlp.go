package fleet

import (
	"cmp"
	"errors"
	"math"
	"strconv"
	"strings"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/gctrail/gctrail/gc/figure"
	"github.com/gctrail/gctrail/internal/list"
	"github.com/gctrail/gctrail/internal/otlp"
)

// errProtobuf reports a body that is not a LogsData message.
var errProtobuf = errors.New("this is not an OTLP LogsData message")

// errTooLarge ends decoding when the rows of a request exceed their bound.
var errTooLarge = errors.New("the records are too large for one request")

// decoded are the rows of one request.
type decoded struct {
	rows     map[*Table]*rows
	size     int // of all rows, in bytes
	rejected int // records that are rows but cannot be stored
	why      string
	others   int // records that are no rows of any table
}

// rows are encoded rows of one table.
type rows struct {
	bytes []byte
	count int
}

// A decoder reads OTLP logs. It walks the message without building it, so that its memory
// does not grow with the empty records and attributes that a sender may invent. The field
// numbers are from opentelemetry-proto's logs.proto, common.proto and resource.proto.
type decoder struct {
	out    *decoded
	max    int // bytes of rows
	oldest int64
	newest int64

	resource []attribute
	scratch  map[*Table]Row
}

// An attribute is one key and its encoded AnyValue.
type attribute struct{ key, value []byte }

// maxAttributes bounds the attributes of one resource or record that decode reads.
const maxAttributes = 512

// decode reads a LogsData message into out.
func (d *decoder) decode(body []byte, out *decoded) error {
	d.out = out
	defer func() { d.out = nil }()
	err := otlp.EachBytes(body, 1, d.resourceLogs) // resource_logs
	if errors.Is(err, otlp.ErrMessage) {
		return errProtobuf
	}
	return err
}

func (d *decoder) resourceLogs(message []byte) error {
	d.resource = d.resource[:0]
	err := otlp.EachBytes(message, 1, func(resource []byte) error {
		return otlp.EachBytes(resource, 1, func(encoded []byte) error { // attributes
			if len(d.resource) == maxAttributes {
				return nil
			}
			a, err := keyValue(encoded)
			d.resource = append(d.resource, a)
			return err
		})
	})
	if err != nil {
		return err
	}
	return otlp.EachBytes(message, 2, func(scope []byte) error { // scope_logs
		return otlp.EachBytes(scope, 2, d.record) // log_records
	})
}

// record reads one LogRecord.
func (d *decoder) record(message []byte) error {
	var time, observed uint64
	var event string
	var attributes []attribute
	err := otlp.EachField(message, func(number protowire.Number, typ protowire.Type, value []byte) error {
		switch {
		case number == 1 && typ == protowire.Fixed64Type:
			time, _ = protowire.ConsumeFixed64(value)
		case number == 11 && typ == protowire.Fixed64Type:
			observed, _ = protowire.ConsumeFixed64(value)
		case number == 12 && typ == protowire.BytesType:
			event = string(value)
		case number == 6 && typ == protowire.BytesType && len(attributes) < maxAttributes:
			a, err := keyValue(value)
			if err != nil {
				return err
			}
			if event == "" && string(a.key) == "event.name" { // before event_name was a field
				event = anyText(a.value)
			}
			attributes = append(attributes, a)
		}
		return nil
	})
	if err != nil {
		return err
	}
	time = cmp.Or(time, observed)
	for _, t := range Tables() {
		if t.Event == event {
			return d.row(t, time, attributes)
		}
	}
	d.out.others++
	return nil
}

// row stores a record as a row of a table.
func (d *decoder) row(t *Table, time uint64, attributes []attribute) error {
	r := d.scratch[t]
	clear(r)
	for _, from := range [][]attribute{d.resource, attributes} {
		for _, a := range from {
			if i, ok := t.attributes[string(a.key)]; ok {
				r[i] = anyValue(t.Columns[i].Type, a.value)
			}
		}
	}
	if time > math.MaxInt64 || int64(time) < d.oldest || int64(time) > d.newest {
		d.reject("a record's time is in the future, or more than 31 days ago")
		return nil
	}
	r[t.index[columnTime]] = figure.Value{Type: figure.Int, Int: int64(time)}
	for _, key := range t.Key {
		if t.Value(r, key).Type == figure.Unknown {
			d.reject("a record has no " + t.Columns[t.index[key]].Attribute)
			return nil
		}
	}
	stored := d.out.rows[t]
	if stored == nil {
		stored = &rows{}
		d.out.rows[t] = stored
	}
	before := len(stored.bytes)
	stored.bytes = t.appendRow(stored.bytes, r)
	stored.count++
	if d.out.size += len(stored.bytes) - before; d.out.size > d.max {
		return errTooLarge
	}
	return nil
}

func (d *decoder) reject(why string) {
	d.out.rejected++
	d.out.why = why
}

func keyValue(message []byte) (a attribute, err error) {
	err = otlp.EachField(message, func(number protowire.Number, typ protowire.Type, value []byte) error {
		switch {
		case number == 1 && typ == protowire.BytesType:
			a.key = value
		case number == 2 && typ == protowire.BytesType:
			a.value = value
		}
		return nil
	})
	return a, err
}

// anyValue reads an AnyValue as a value of a type; unknown if it is not one.
func anyValue(typ figure.Type, message []byte) figure.Value {
	var v figure.Value
	_ = otlp.EachField(message, func(field protowire.Number, wire protowire.Type, value []byte) error {
		switch {
		case field == 1 && wire == protowire.BytesType && typ == figure.Text:
			v = list.Word(string(value))
		case field == 2 && wire == protowire.VarintType && typ == figure.Bool:
			bit, _ := protowire.ConsumeVarint(value)
			v = figure.Value{Type: typ, Int: int64(bit & 1)}
		case field == 3 && wire == protowire.VarintType:
			n, _ := protowire.ConsumeVarint(value)
			v = integer(typ, int64(n))
		case field == 4 && wire == protowire.Fixed64Type:
			bits, _ := protowire.ConsumeFixed64(value)
			v = number(typ, math.Float64frombits(bits))
		case field == 5 && wire == protowire.BytesType && typ == figure.Text:
			v = list.Word(words(value))
		}
		return nil
	})
	return v
}

func integer(typ figure.Type, n int64) figure.Value {
	switch typ {
	case figure.Int, figure.Bytes:
		return figure.Value{Type: typ, Int: n}
	case figure.Text:
		return figure.Value{Type: typ, Text: strconv.FormatInt(n, 10)}
	default:
		return number(typ, float64(n))
	}
}

// anyText reads an AnyValue that is a string.
func anyText(message []byte) string { return anyValue(figure.Text, message).Text }

// words joins the strings of an ArrayValue.
func words(message []byte) string {
	var all []string
	_ = otlp.EachBytes(message, 1, func(value []byte) error {
		if word := anyText(value); word != "" && len(all) < maxAttributes {
			all = append(all, word)
		}
		return nil
	})
	return strings.Join(all, " ")
}
