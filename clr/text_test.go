package clr

import (
	"encoding/json"
	"testing"
	"unicode/utf16"
)

// units returns s as a payload has it.
func units(s string) UTF16 {
	var b UTF16
	for _, u := range utf16.Encode([]rune(s)) {
		b = append(b, byte(u), byte(u>>8))
	}
	return b
}

func TestUTF16(t *testing.T) {
	for _, s := range []string{"", "System.String", "naïve 中文 \U0001F600", "\x00\x01\x7f\u0080\u2028\"\\\n"} {
		u := units(s)
		if got := u.String(); got != s {
			t.Errorf("got %q, want %q", got, s)
		}
		if !u.Equal(s) || u.Equal(s+"x") || s != "" && u.Equal(s[:len(s)-1]) {
			t.Errorf("Equal is wrong about %q", s)
		}
		var back string
		if err := json.Unmarshal(appendJSONUTF16(nil, u), &back); err != nil || back != s {
			t.Errorf("JSON: got %q, %v, want %q", back, err, s)
		}
	}
	for _, tt := range []struct {
		units UTF16
		want  string
	}{
		{UTF16{0, 0xd8}, "\uFFFD"},
		{UTF16{0, 0xd8, 'a', 0}, "\uFFFDa"},
		{UTF16{0, 0xdc, 0, 0xd8}, "\uFFFD\uFFFD"},
		{UTF16{'a', 0, 'b'}, "a"},
	} {
		if got := tt.units.String(); got != tt.want {
			t.Errorf("%x: got %q, want %q", tt.units, got, tt.want)
		}
		if got, want := string(appendJSONUTF16(nil, tt.units)), `"`+tt.want+`"`; got != want {
			t.Errorf("%x: got %s, want %s", tt.units, got, want)
		}
	}
}

func TestANSI(t *testing.T) {
	s := ANSI("a\xff\xfeb\u00e9")
	if got, want := s.String(), "a\uFFFD\uFFFDb\u00e9"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got, want := string(appendJSONString(nil, s)), `"a`+"\uFFFD\uFFFDb\u00e9"+`"`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
