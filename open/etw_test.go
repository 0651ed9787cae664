package open_test

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/klauspost/compress/flate"
	"github.com/klauspost/compress/zip"

	"github.com/gctrail/gctrail/internal/tracetest"
	"github.com/gctrail/gctrail/open"
)

// etwFile returns a file with some events, the first so many microseconds after
// its start.
func etwFile(us ...int64) []byte {
	f := tracetest.NewETL()
	b := f.Buffer(0)
	for _, t := range us {
		b.Event(tracetest.ETLEvent{
			Type: tracetest.ETLEvent64, Time: f.Header.Time + 10*t, PID: 1, TID: 2,
			Provider: tracetest.RuntimeGUID, ID: 1, Version: 2, Payload: make([]byte, 26),
		})
	}
	return f.Bytes()
}

// temporary makes a folder of its own the one for temporary files.
func temporary(t *testing.T) string {
	dir := t.TempDir()
	for _, name := range []string{"TMPDIR", "TMP", "TEMP"} {
		t.Setenv(name, dir)
	}
	return dir
}

func TestETW(t *testing.T) {
	dir := temporary(t)
	bare := etwFile(1, 2, 3, 4)
	parts := []member{{`app\user.etl`, etwFile(1, 3, 4)}, {"LogFile.txt", []byte("Started")}, {"kernel.etl", partFile(2)}}
	for _, c := range []struct {
		name, compression string
		data              []byte
	}{
		{"bare", "", bare},
		{"gzip", "gzip", gzipped(bare)},
		{"zstd", "zstd", zstded(bare)},
		{"zip", "zip:PerfViewData.etl", zipped(member{"PerfViewData.etl", bare}, member{"LogFile.txt", []byte("Started")})},
		{"several in a zip", `zip:app/user.etl,kernel.etl`, zipped(parts...)},
		{"several in a zip, stored", `zip:app/user.etl,kernel.etl`, zippedBy(zip.Store, parts...)},
	} {
		t.Run(c.name, func(t *testing.T) {
			file, err := open.File(write(t, "misnamed.txt", c.data), open.Options{})
			if err != nil {
				t.Fatal(err)
			}
			stream, err := open.Reader(io.MultiReader(bytes.NewReader(c.data)), "stream", open.Options{})
			if err != nil {
				t.Fatal(err)
			}
			again, err := file.Reopen()
			if err != nil {
				t.Fatal(err)
			}
			for _, in := range []*open.Input{file, stream, again} {
				var times strings.Builder
				for ev, err := range in.Source.Events() {
					if err != nil {
						t.Fatal(err)
					}
					times.WriteString(ev.Time().String() + " ")
				}
				if got := times.String(); got != "1µs 2µs 3µs 4µs " || in.Compression != c.compression {
					t.Errorf("%s: %q, compression %q", in.Name, got, in.Compression)
				}
				if err := in.Close(); err != nil {
					t.Error(err)
				}
			}
		})
	}
	if left, err := os.ReadDir(dir); len(left) > 0 || err != nil {
		t.Errorf("%v stays behind, %v", left, err)
	}
}

// TestETWApart does not merge files of several recordings.
func TestETWApart(t *testing.T) {
	for _, c := range []struct {
		name  string
		other []byte
	}{
		{"another day", anotherDay(2)},
		{"of which the other was merged", mergedFile(2)},
		{"a copy", etwFile(1)},
		{"cut in its header", partFile(2)[:0x100]},
	} {
		t.Run(c.name, func(t *testing.T) {
			data := zipped(member{"a.etl", etwFile(1)}, member{"a.kernel.etl", partFile(3)}, member{"b.etl", c.other})
			_, err := open.File(write(t, "x.etl.zip", data), open.Options{})
			const want = "a zip that holds 3 traces: a.etl, a.kernel.etl, b.etl; unpack it and give one or more of them"
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("got %v, want %q", err, want)
			}
		})
	}
}

// TestETWFixtures opens the real ETW traces as PerfView packs them.
func TestETWFixtures(t *testing.T) {
	paths, err := filepath.Glob("../testdata/*.etl.zip")
	if err != nil || len(paths) == 0 {
		t.Fatal("no files", err)
	}
	for _, path := range paths {
		in, err := open.File(path, open.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if d := read(t, in); d.events == 0 || d.damage > 0 {
			t.Errorf("%s: %+v", path, d)
		}
		in.Close()
	}
}

// TestETWClaims refuses input that claims to take more room than there is, before it
// takes any.
func TestETWClaims(t *testing.T) {
	var packed, data bytes.Buffer
	d, err := flate.NewWriter(&packed, flate.BestSpeed)
	if err != nil {
		t.Fatal(err)
	}
	d.Write(append(etwFile(1), make([]byte, 200_000)...))
	d.Close()
	z := zip.NewWriter(&data)
	w, err := z.CreateRaw(&zip.FileHeader{
		Name: "a.etl", Method: zip.Deflate,
		CompressedSize64: uint64(packed.Len()), UncompressedSize64: 1 << 40,
	})
	if err != nil {
		t.Fatal(err)
	}
	w.Write(packed.Bytes())
	z.Close()
	_, err = open.File(write(t, "a.etl.zip", data.Bytes()), open.Options{})
	const want = "zip:a.etl: an .etl that is packed or comes through a pipe takes more than the 4096 MiB that are set aside for it"
	if err == nil || !strings.Contains(err.Error(), want) {
		t.Error(err)
	}
}
