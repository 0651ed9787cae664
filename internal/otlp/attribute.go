package otlp

import (
	commonpb "go.opentelemetry.io/proto/otlp/common/v1"

	"github.com/gctrail/gctrail/gc/figure"
)

// An Attribute is a figure that records of one event carry. The attribute is left
// out where the figure is unknown.
type Attribute[T any] struct {
	Key    string // of the OTLP attribute
	Column string // of a table
	Type   figure.Type
	Value  func(T) figure.Value
}

// attributes returns the OTLP form of the figures that are known.
func attributes[T any](table []Attribute[T], of T) []*commonpb.KeyValue {
	kvs := make([]*commonpb.KeyValue, 0, len(table))
	for i := range table {
		if v := anyValue(table[i].Value(of)); v != nil {
			kvs = append(kvs, &commonpb.KeyValue{Key: table[i].Key, Value: v})
		}
	}
	return kvs
}

// anyValue returns v's OTLP form: times are doubles in milliseconds, sizes are
// integers in bytes. It is nil if v is unknown.
func anyValue(v figure.Value) *commonpb.AnyValue {
	switch v.Type {
	case figure.Text, figure.List:
		return String(v.Text)
	case figure.Int, figure.Bytes:
		return Int(v.Int)
	case figure.Bool:
		return &commonpb.AnyValue{Value: &commonpb.AnyValue_BoolValue{BoolValue: v.Int != 0}}
	case figure.Millis, figure.Float, figure.Percent:
		n, _ := v.InFiles()
		return Double(n)
	}
	return nil
}

// String returns s as an OTLP value.
func String(s string) *commonpb.AnyValue {
	return &commonpb.AnyValue{Value: &commonpb.AnyValue_StringValue{StringValue: s}}
}

// Int returns n as an OTLP value.
func Int(n int64) *commonpb.AnyValue {
	return &commonpb.AnyValue{Value: &commonpb.AnyValue_IntValue{IntValue: n}}
}

// Double returns f as an OTLP value.
func Double(f float64) *commonpb.AnyValue {
	return &commonpb.AnyValue{Value: &commonpb.AnyValue_DoubleValue{DoubleValue: f}}
}
