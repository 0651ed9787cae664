package tracetest_test

import (
	"bytes"
	"encoding/hex"
	"strings"
	"testing"

	"github.com/gctrail/gctrail/internal/tracetest"
)

// assembled are texts with the bytes according to the format's description.
var assembled = []struct{ name, text, want string }{
	{"v4", `
nettrace v4 pointer=8 pid=42 freq=1000000000 sync=1000 start=2024-05-01T10:00:00.25Z cpus=2
events header=22
  event meta=1 capture=10 thread=10 stack=1 time=+100 sorted payload=u16:7
  event time=+101 payload=u16:8
end`, `
4e65747472616365                              # Nettrace
14000000 2146617374536572 69616c697a617469 6f6e2e31
050501 04000000 04000000 05000000 5472616365 06
e807 0500 0300 0100 0a00 0000 0000 fa00       # 2024-05-01, a Wednesday, 10:00:00.250
e803000000000000 00ca9a3b00000000             # sync, frequency
08000000 2a000000 02000000 40420f00 06
050501 02000000 02000000 0a000000 4576656e74426c6f636b 06
26000000                                      # 38 bytes from offset 132 on
1600 0100 4c04000000000000 4d04000000000000 eeee
cf 01 00 0a 00 0a 01 cc08 02 0700             # everything differs
00 01 0800                                    # the next number of the same thread
06 01`},
	{"v4 uncompressed", `
nettrace v4
raw 00
cut 1
events uncompressed
  event meta=1 seq=2 thread=3 capture=4 cpu=5 stack=6 time=7 activity=0a0b related=0c payload=u8:1
  event sorted`, `
4e65747472616365 14000000 2146617374536572 69616c697a617469 6f6e2e31
050501 04000000 04000000 05000000 5472616365 06
e807 0500 0300 0100 0a00 0000 0000 0000
0000000000000000 00ca9a3b00000000 08000000 2a000000 02000000 40420f00 06
050501 02000000 02000000 0a000000 4576656e74426c6f636b 06
b8000000
1400 0000 0700000000000000 0700000000000000
50000000 01000080 02000000 0300000000000000 0400000000000000 05000000 06000000 0700000000000000
0a0b0000000000000000000000000000 0c000000000000000000000000000000 01000000 01 000000
4c000000 01000000 03000000 0300000000000000 0400000000000000 05000000 06000000 0700000000000000
0a0b0000000000000000000000000000 0c000000000000000000000000000000 00000000
06`},
	{"v4 tables", `
nettrace v4 pointer=4
metadata
  def id=1 provider=P event=2 name=N keywords=3 version=4 level=5 field=int32:A opcode=6 time=1
  def id=2 nofields v2field=array<int32>:B pad=1 tag=9:aabb surplus=cc
stacks first=7 [] [0x10 0x20]
sp time=5 10=6 10=7 count=9
object Other version=3 minver=2 payload=u8:1 pad=1 endtag=9`, `
4e65747472616365 14000000 2146617374536572 69616c697a617469 6f6e2e31
050501 04000000 04000000 05000000 5472616365 06
e807 0500 0300 0100 0a00 0000 0000 0000
0000000000000000 00ca9a3b00000000 04000000 2a000000 02000000 40420f00 06
050501 02000000 02000000 0d000000 4d65746164617461426c6f636b 06
8a000000 00                                   # one byte of padding
1400 0100 0100000000000000 0100000000000000
80 01 32                                      # time, payload size
01000000 50000000 02000000 4e000000 0300000000000000 04000000 05000000
01000000 09000000 41000000                    # V1 fields: the type, then the name
01000000 01 06                                # opcode
80 00 3e
02000000 0000 00000000 0000 0000000000000000 00000000 00000000
15000000 02 01000000 11000000 42000000 13000000 09000000 00
02000000 09 aabb
cc 06
050501 02000000 02000000 0a000000 537461636b426c6f636b 06
18000000 000000
07000000 02000000 00000000 08000000 10000000 20000000 06
050501 02000000 02000000 07000000 5350426c6f636b 06
24000000
0500000000000000 09000000 0a00000000000000 06000000 0a00000000000000 07000000 06
050501 03000000 02000000 05000000 4f74686572 06
01000000 00 01 09`},
	{"v3", `
netperf v3
events
  def id=1 provider=P event=2 thread=9 time=5
  event meta=1 time=6 payload=hex:aabbcc stack=[0x10]
end`, `
14000000 2146617374536572 69616c697a617469 6f6e2e31
040401 03000000 00000000 05000000 5472616365 06
e807 0500 0300 0100 0a00 0000 0000 0000
0000000000000000 00ca9a3b00000000 08000000 2a000000 02000000 40420f00 06
040401 01000000 00000000 0a000000 4576656e74426c6f636b 06
a8000000
5c000000 00000000 09000000 0500000000000000
00000000000000000000000000000000 00000000000000000000000000000000 22000000
01000000 50000000 02000000 0000 0000000000000000 00000000 00000000 00000000
00000000 0000                                 # no stack, padding
44000000 01000000 09000000 0600000000000000
00000000000000000000000000000000 00000000000000000000000000000000 03000000
aabbcc 08000000 1000000000000000 00 06 01`},
	{"v6", `
nettrace v6 minor=1 kv=ProcessId:42
threads
  thread index=1 pid=300 tid=2 name=main kv=a:b info=0900
metadata header=1
  def id=1 provider=P event=2 name=N field=fixed<uint8*3>:F opcode=3 keywords=4 level=5 version=6 option=0a surplus=ff
labels
  list activity=01 text=k:v number=n:-3
  list span=9 version=2
events
  event meta=1 seq=5 capture=1 thread=1 labels=2 time=7 payload=varuint:300
removethreads 1=6
sp time=8 flags=1 1=6
block kind=77 size=3
end`, `
4e65747472616365 00000000 06000000 01000000
35000001 e807 0500 0300 0100 0a00 0000 0000 0000
0000000000000000 00ca9a3b00000000 08000000
01000000 09 50726f636573734964 02 3432
15000006 1300 01 01046d61696e 02ac02 0302 0401610162 0900
28000003 0100 00 2300
01 01 50 02 01 4e
0100 0600 0146 16 06 0300
1000 0103 03 0400000000000000 0805 0906 0a
ff
2d000008 01000000 02000000
01 01000000000000000000000000000000 05 016b 0176 86 016e 05
04 0900000000000000 8a 02
1f000002 1400 0100 0700000000000000 0700000000000000
97 01 04 01 00 01 07 02 02 ac02
02000007 01 06
12000004 0800000000000000 01000000 01000000 01 06
0300004d
00000000`},
}

func TestAssemble(t *testing.T) {
	for _, c := range assembled {
		t.Run(c.name, func(t *testing.T) {
			got, err := tracetest.Nettrace(c.text)
			if err != nil {
				t.Fatal(err)
			}
			if want := unhex(t, c.want); !bytes.Equal(got, want) {
				t.Errorf("got\n%swant\n%s", hex.Dump(got), hex.Dump(want))
			}
		})
	}
}

// unhex reads digits with blanks, and comments to the end of the line.
func unhex(t *testing.T, s string) []byte {
	t.Helper()
	var digits strings.Builder
	for line := range strings.Lines(s) {
		line, _, _ = strings.Cut(line, "#")
		digits.WriteString(strings.Join(strings.Fields(line), ""))
	}
	b, err := hex.DecodeString(digits.String())
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestAssembleErrors(t *testing.T) {
	for text, want := range map[string]string{
		"events":                                            "line 1: events: the head is missing",
		"nettrace v4\n\nwhat":                               "line 3: what: no such part",
		"nettrace v4\n  event meta=1":                       "line 2: event: no such record here",
		"nettrace v4 colour=red":                            "line 1: nettrace: colour= does not belong here",
		"nettrace v4\nevents often\nend":                    `line 2: events: "often" does not belong here`,
		"nettrace v4\nevents\n  event seq=x":                `line 3: event: "x" is no number`,
		"nettrace v4\nobject X payload=u7:1":                `line 2: object: no kind of value "u7"`,
		"nettrace v4\nstacks [0x1":                          "line 2: stacks: open quote or bracket",
		"nettrace v4\nmetadata\n  def field=what:A":         `line 3: def: no type "what"`,
		"nettrace v4\nmetadata\n  def field=int32":          `line 3: def: field "int32" has no name`,
		"nettrace v4\nevents\n  event activity=xyz":         `line 3: event: "xyz" is not hexadecimal`,
		"nettrace v4 start=yesterday":                       "line 1: nettrace: parsing time",
		"nettrace 4":                                        `line 1: nettrace: version "4"`,
		"nettrace v4\nevents # fine\n  event payload=f64:x": `line 3: event: "x" is no number`,
	} {
		if _, err := tracetest.Nettrace(text); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%q: got %v, want %s", text, err, want)
		}
	}
}
