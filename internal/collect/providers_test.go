package collect

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gctrail/gctrail/diag"
)

// TestProviderList holds the parsing to that of dotnet-trace.
func TestProviderList(t *testing.T) {
	type p = diag.Provider
	tests := []struct {
		in   string
		want []diag.Provider // nil for an error
		err  string
	}{
		{in: "A", want: []p{{Name: "A", Level: 4}}},
		{in: "A:", want: []p{{Name: "A", Level: 4}}},
		{in: "A:::", want: []p{{Name: "A", Level: 4}}},
		{in: "A:1f", want: []p{{Name: "A", Keywords: 0x1f, Level: 4}}},
		{in: "A:0X1F:5", want: []p{{Name: "A", Keywords: 0x1f, Level: 5}}},
		{in: "A:FFFFFFFFFFFFFFFF:Verbose", want: []p{{Name: "A", Keywords: 1<<64 - 1, Level: 5}}},
		{in: "A::critical", want: []p{{Name: "A", Level: 1}}},
		{in: "A::9", want: []p{{Name: "A", Level: 5}}},
		{in: "A:1:4:k=v", want: []p{{Name: "A", Keywords: 1, Level: 4, Arguments: "k=v"}}},
		{in: "A:::k=v;k2=v:2;", want: []p{{Name: "A", Level: 4, Arguments: "k=v;k2=v:2"}}},
		{in: `A:::k="a;b=c";k2=d`, want: []p{{Name: "A", Level: 4, Arguments: `k="a;b=c";k2=d`}}},
		{in: `A:::k="v"`, want: []p{{Name: "A", Level: 4, Arguments: "k=v"}}},
		{in: `A:::k=a\r\n\x41\u00e9\\`, want: []p{{Name: "A", Level: 4, Arguments: "k=a\r\nAé\\"}}},
		{in: "A:::k", want: []p{{Name: "A", Level: 4}}},
		{in: "A:1:3,B", want: []p{{Name: "A", Keywords: 1, Level: 3}, {Name: "B", Level: 4}}},
		{in: "A:1:3,a:2:5:k=v", want: []p{{Name: "A", Keywords: 3, Level: 5, Arguments: "k=v"}}},
		{in: "A:1:5,A:2:0", want: []p{{Name: "A", Keywords: 3, Level: 0}}},
		{in: "", err: "no name"},
		{in: "A,", err: "no name"},
		{in: " :1", err: "no name"},
		{in: "A:gc", err: "hexadecimal"},
		{in: "A:1:loud", err: "level"},
		{in: "A:1:-1", err: "level"},
		{in: "A:::k=v,A:::k=w", err: "twice"},
		{in: "A:::k=v;k=w", err: "twice"},
		{in: "A:::k=v;l;", err: "key=value"},
		{in: `A:::k=\q`, err: "means nothing"},
		{in: `A:::k=\x4`, err: "hexadecimal"},
		{in: `A:::k=\`, err: "at the end"},
	}
	for _, tt := range tests {
		var got Providers
		err := got.Set(tt.in)
		if tt.want == nil {
			if err == nil || !strings.Contains(err.Error(), tt.err) {
				t.Errorf("%q: error %v, want %q", tt.in, err, tt.err)
			}
			continue
		}
		if diff := cmp.Diff(tt.want, []diag.Provider(got)); err != nil || diff != "" {
			t.Errorf("%q: %v\n%s", tt.in, err, diff)
		}
	}
}
