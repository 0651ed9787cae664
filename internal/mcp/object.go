package mcp

import (
	"bytes"
	"encoding/json"
	"errors"

	"github.com/gctrail/gctrail/internal/jsontext"
)

// An object is a JSON object that keeps the order of its keys.
type object []member

type member struct {
	name  string
	value json.RawMessage
}

// UnmarshalJSON implements json.Unmarshaler.
func (o *object) UnmarshalJSON(data []byte) error {
	d := json.NewDecoder(bytes.NewReader(data))
	if begin, err := d.Token(); err != nil {
		return err
	} else if begin != json.Delim('{') {
		return errors.New("the row is not an object")
	}
	*o = (*o)[:0]
	for d.More() {
		name, err := d.Token()
		if err != nil {
			return err
		}
		m := member{name: name.(string)} // as every key is
		if err := d.Decode(&m.value); err != nil {
			return err
		}
		*o = append(*o, m)
	}
	return nil
}

// MarshalJSON implements json.Marshaler.
func (o object) MarshalJSON() ([]byte, error) {
	b := []byte{'{'}
	for i, m := range o {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(jsontext.AppendString(b, m.name), ':')
		b = append(b, m.value...)
	}
	return append(b, '}'), nil
}

// replace replaces the value of a key by the result of as. It leaves an object without
// the key unchanged.
func (o object) replace(name string, as func(json.RawMessage) (json.RawMessage, error)) error {
	for i := range o {
		if o[i].name == name {
			value, err := as(o[i].value)
			o[i].value = value
			return err
		}
	}
	return nil
}

// eachOf replaces each object of a list.
func eachOf(list json.RawMessage, do func(object) error) (json.RawMessage, error) {
	var all []object
	if err := json.Unmarshal(list, &all); err != nil {
		return nil, err
	}
	for _, o := range all {
		if err := do(o); err != nil {
			return nil, err
		}
	}
	return encoded(all)
}

// encoded returns the JSON of a value.
func encoded(v any) (json.RawMessage, error) {
	var b bytes.Buffer
	err := jsontext.Encode(&b, v)
	return bytes.TrimRight(b.Bytes(), "\n"), err
}
