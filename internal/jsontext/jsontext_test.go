package jsontext

import (
	"bytes"
	"encoding/json"
	"math"
	"testing"
	"unicode"
)

// TestNothingControls: whatever a string holds, its JSON is printable, and comes
// back as it was.
func TestNothingControls(t *testing.T) {
	var all []rune
	for r := range rune(0x3000) {
		all = append(all, r)
	}
	all = append(all, 0xe0001, 0x1d173)
	s := string(all) + "😀\xff"
	var encoded bytes.Buffer
	if err := Encode(&encoded, s); err != nil {
		t.Fatal(err)
	}
	for name, line := range map[string][]byte{"AppendString": AppendString(nil, s), "Encode": bytes.TrimSuffix(encoded.Bytes(), []byte("\n"))} {
		for _, r := range string(line) {
			if Controls(r) || unicode.Is(unicode.Bidi_Control, r) {
				t.Errorf("%s leaves %U", name, r)
			}
		}
		var back string
		if err := json.Unmarshal(line, &back); err != nil || back != string(all)+"😀�" {
			t.Errorf("%s: %v, %q", name, err, back)
		}
	}
}

func TestAppendSix(t *testing.T) {
	for n, want := range map[uint64]string{0: "x000000", 7: "x000007", 123_456: "x123456", 999_999: "x999999", 1_000_000: "x000000", math.MaxUint64: "x551615"} {
		if got := string(AppendSix([]byte("x"), n)); got != want {
			t.Errorf("%d: %s, want %s", n, got, want)
		}
	}
}
