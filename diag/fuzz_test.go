package diag

import (
	"bytes"
	"context"
	"errors"
	"net"
	"testing"
)

// FuzzAnswers has a runtime answer anything: a command gives a result, or an
// error that says what was wrong.
func FuzzAnswers(f *testing.F) {
	info := fields{}.u32(1).u64(7).u64(1).u64(2).str("/app/web").str("Linux").str("x64").str("web").str("10.0.12").str("linux-x64")
	env := fields{}.u32(1).str("A=1")
	f.Add(ok(info))
	f.Add(ok(info[4:]))
	f.Add(append(ok(fields{}.u32(uint32(len(env))).u16(0)), env...))
	f.Add(refuse(UnknownCommand))
	f.Fuzz(func(t *testing.T, b []byte) {
		c := &Client{connect: func(context.Context) (conn, error) {
			in, out := net.Pipe()
			go func() {
				defer out.Close()
				if _, err := out.Read(make([]byte, maxMessage)); err == nil {
					bytes.NewReader(b).WriteTo(out)
				}
			}()
			return in, nil
		}}
		ctx := context.Background()
		i, err := c.Info(ctx)
		if (i == nil) == (err == nil) {
			t.Errorf("info %v, %v", i, err)
		}
		known(t, err)
		vars, err := c.Environment(ctx)
		if len(vars) > len(b)/4 {
			t.Errorf("%d variables of %d bytes", len(vars), len(b))
		}
		known(t, err)
		known(t, c.DisablePerfMap(ctx))
	})
}

// known holds errors to those that callers can tell apart.
func known(t *testing.T, err error) {
	_, refusal := errors.AsType[*RuntimeError](err)
	if err != nil && !refusal && !errors.Is(err, ErrProtocol) && !errors.Is(err, ErrHungUp) {
		t.Errorf("error %v", err)
	}
}
