package clr

import (
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf16"
)

// An encoder makes payloads of random values from layouts, and the JSON expected from
// them.
type encoder struct {
	rng     *rand.Rand
	ptrSize int
	raw     bool // arrays are of the runtime's C structures
	payload []byte
	want    strings.Builder
	counts  uint32 // the next arrays' number of elements
}

func newEncoder(seed uint64, ptrSize int) *encoder {
	return &encoder{rng: rand.New(rand.NewPCG(seed, uint64(ptrSize))), ptrSize: ptrSize}
}

func (e *encoder) object(fields []field) {
	e.want.WriteByte('{')
	sep := ""
	for i := range fields {
		f := &fields[i]
		if size := f.size.of(e.ptrSize); f.code == codePad && (f.key == "" || size == 0) {
			e.payload = append(e.payload, make([]byte, size)...)
			continue
		}
		e.want.WriteString(sep + f.key)
		sep = ","
		e.value(f)
	}
	e.want.WriteByte('}')
}

func (e *encoder) value(f *field) {
	le := binary.LittleEndian
	v := e.rng.Uint64() >> e.rng.IntN(64)
	if f.counts {
		e.counts = uint32(e.rng.IntN(4))
		v = uint64(e.counts)
	}
	switch f.code {
	case codePad:
		size := f.size.of(e.ptrSize)
		v &= 1<<(8*size) - 1
		e.payload = le.AppendUint64(e.payload, v)[:len(e.payload)+size]
		fmt.Fprint(&e.want, v)
	case codeU8:
		e.payload = append(e.payload, byte(v))
		fmt.Fprint(&e.want, uint8(v))
	case codeU16:
		e.payload = le.AppendUint16(e.payload, uint16(v))
		fmt.Fprint(&e.want, uint16(v))
	case codeU32:
		e.payload = le.AppendUint32(e.payload, uint32(v))
		fmt.Fprint(&e.want, uint32(v))
	case codeI32:
		e.payload = le.AppendUint32(e.payload, uint32(v))
		fmt.Fprint(&e.want, int32(v))
	case codeBool32:
		e.payload = le.AppendUint32(e.payload, uint32(v&1))
		fmt.Fprint(&e.want, v&1 == 1)
	case codeF32:
		x := e.rng.Float32() * 100
		e.payload = le.AppendUint32(e.payload, math.Float32bits(x))
		e.json(x)
	case codePtr:
		if e.ptrSize == 4 {
			e.payload = le.AppendUint32(e.payload, uint32(v))
			v &= math.MaxUint32
		} else {
			e.payload = le.AppendUint64(e.payload, v)
		}
		fmt.Fprint(&e.want, v)
	case codeU64:
		e.payload = le.AppendUint64(e.payload, v)
		fmt.Fprint(&e.want, v)
	case codeUTF16:
		s := e.text()
		for _, u := range utf16.Encode([]rune(s)) {
			e.payload = le.AppendUint16(e.payload, u)
		}
		e.payload = append(e.payload, 0, 0)
		e.json(s)
	case codeANSI:
		s := e.text()
		e.payload = append(append(e.payload, s...), 0)
		e.json(s)
	case codeGUID:
		var g GUID
		for i := range g {
			g[i] = byte(e.rng.Uint32())
		}
		e.payload = append(e.payload, g[:]...)
		e.json(g.String())
	case codeBytes:
		b := make([]byte, e.counts)
		for i := range b {
			b[i] = byte(e.rng.Uint32())
		}
		e.payload = append(e.payload, b...)
		e.json(base64.StdEncoding.EncodeToString(b))
	case codeArray, codeFixedArray:
		n := e.counts
		if f.code == codeFixedArray {
			n = uint32(f.count)
		}
		if e.raw && f.raw != nil {
			e.array(f.raw, n)
		} else {
			e.array(f.elem, n)
		}
	case codeObject:
		e.object(f.fields)
	default:
		panic(f.code)
	}
}

func (e *encoder) array(elem *field, n uint32) {
	outer := e.counts
	e.want.WriteByte('[')
	for i := range n {
		if i > 0 {
			e.want.WriteByte(',')
		}
		e.value(elem)
	}
	e.want.WriteByte(']')
	e.counts = outer
}

func (e *encoder) text() string {
	const letters = "abcXYZ.`[]<>\\\"\n\té中\U0001F600"
	r := []rune(letters)
	s := make([]rune, e.rng.IntN(6))
	for i := range s {
		s[i] = r[e.rng.IntN(len(r))]
	}
	return string(s)
}

func (e *encoder) json(v any) {
	enc := json.NewEncoder(&e.want)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		panic(err)
	}
	s := strings.TrimSuffix(e.want.String(), "\n")
	e.want.Reset()
	e.want.WriteString(s)
}

// eachLayout runs f with a payload of every layout of the table.
func eachLayout(t *testing.T, f func(t *testing.T, k Kind, l *layout, e *encoder)) {
	for k := KindUnknown + 1; k < numKinds; k++ {
		for i := range schemas[k].layouts {
			l := &schemas[k].layouts[i]
			for _, ptrSize := range []int{4, 8} {
				name := fmt.Sprintf("%d_%s_V%d_%dbit", k, k, l.version, 8*ptrSize)
				t.Run(name, func(t *testing.T) {
					e := newEncoder(uint64(k), ptrSize)
					e.object(l.fields)
					f(t, k, l, e)
				})
			}
		}
	}
}
