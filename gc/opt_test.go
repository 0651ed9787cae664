package gc_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/gctrail/gctrail/gc"
)

func TestOpt(t *testing.T) {
	for _, test := range []struct {
		opt        gc.Opt[time.Duration]
		or         time.Duration
		known      bool
		text, json string
	}{
		{gc.Some(2 * time.Millisecond), 2 * time.Millisecond, true, "2ms", "2000000"},
		{gc.Some(time.Duration(0)), 0, true, "0s", "0"},
		{gc.Opt[time.Duration]{}, 7, false, "-", "null"},
	} {
		b, err := json.Marshal(struct{ Pause gc.Opt[time.Duration] }{test.opt})
		if err != nil || string(b) != `{"Pause":`+test.json+`}` {
			t.Errorf("%s, %v; want %s", b, err, test.json)
		}
		if got := test.opt.String(); got != test.text {
			t.Errorf("%q, want %q", got, test.text)
		}
		if got := test.opt.Or(7); got != test.or {
			t.Errorf("%v, want %v", got, test.or)
		}
		if _, known := test.opt.Get(); known != test.known {
			t.Errorf("known is %v", known)
		}
	}
}

// TestOptLeavesHTML: whether HTML is escaped is for the encoder to say, as for other strings.
func TestOptLeavesHTML(t *testing.T) {
	for escape, want := range map[bool]string{false: `"<Main>$"`, true: `"\u003cMain\u003e$"`} {
		var b strings.Builder
		e := json.NewEncoder(&b)
		e.SetEscapeHTML(escape)
		if err := e.Encode(gc.Some("<Main>$")); err != nil || strings.TrimSpace(b.String()) != want {
			t.Errorf("%s, %v; want %s", b.String(), err, want)
		}
	}
}
