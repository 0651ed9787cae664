package open_test

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"io"
	"testing"

	"github.com/ulikunitz/xz"

	"github.com/gctrail/gctrail/open"
)

// misfit changes the checksum of plain wherever it occurs in its wrapping.
func misfit(t *testing.T, packed, plain []byte) []byte {
	t.Helper()
	sum := binary.LittleEndian.AppendUint32(nil, crc32.ChecksumIEEE(plain))
	if !bytes.Contains(packed, sum) {
		t.Fatal("no checksum")
	}
	other := bytes.Clone(sum)
	other[0] ^= 1
	return bytes.ReplaceAll(packed, sum, other)
}

// TestChecksums reads traces with a wrong checksum in their wrapping. All events are
// read, and the damage is reported, though it comes after the trace's end.
func TestChecksums(t *testing.T) {
	for name, bare := range map[string][]byte{"EventPipe": plain(t), "ETW": onlyMember(t, "../testdata/net8-win-x64-gcevents.etl.zip")} {
		for wrapping, packed := range map[string][]byte{
			"gzip": gzipped(bare), "zip": zipped(member{"a", bare}), "stored": zippedBy(0, member{"a", bare}), "xz": xzed(t, bare, xz.CRC32),
		} {
			t.Run(name+" in "+wrapping, func(t *testing.T) {
				whole := digestOf(t, packed)
				got := digestOf(t, misfit(t, packed, bare))
				if whole.damage != 0 || got.damage != 1 || got.events != whole.events || got.events == 0 || got.cut != whole.cut {
					t.Errorf("%+v, with the wrong checksum %+v", whole, got)
				}
			})
		}
	}
}

// TestCutETW reads an ETW trace that can be unpacked only in part.
func TestCutETW(t *testing.T) {
	packed := gzipped(onlyMember(t, "../testdata/net8-win-x64-gcevents.etl.zip"))
	if d := digestOf(t, packed[:len(packed)/2]); !d.cut {
		t.Errorf("%+v", d)
	}
}

func digestOf(t *testing.T, b []byte) digest {
	t.Helper()
	in, err := open.Reader(bytes.NewReader(b), "packed", open.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	return read(t, in)
}

// onlyMember returns the only file in a zip.
func onlyMember(t *testing.T, path string) []byte {
	t.Helper()
	z, err := zip.OpenReader(path)
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	f, err := z.File[0].Open()
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	b, err := io.ReadAll(f)
	if err != nil {
		t.Fatal(err)
	}
	return b
}
