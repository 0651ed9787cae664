package cli

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gctrail/gctrail/internal/text"
	"github.com/gctrail/gctrail/internal/tracetest"
)

// userPart returns an ETW trace in which process 5 collects twice.
func userPart() []byte { return twoCollections().Bytes() }

// namedLast returns such a trace that names the process at its end.
func namedLast() []byte {
	f := twoCollections()
	e := shop(4)
	e.Time = f.Header.Time + 100_000
	f.Buffer(1).Event(e)
	return f.Bytes()
}

func twoCollections() *tracetest.ETLFile {
	f := tracetest.NewETL()
	b := f.Buffer(0)
	us := int64(0)
	raise := func(id, version uint16, values ...any) {
		us += 100
		b.Event(tracetest.ETLEvent{
			Type: tracetest.ETLEvent64, Time: f.Header.Time + 10*us, PID: 5, TID: 6,
			Provider: tracetest.RuntimeGUID, ID: id, Version: version, Level: 4, Keywords: 1, Payload: tracetest.ETLPayload(values...),
		})
	}
	const instance = uint16(9)
	for n := range uint32(2) {
		raise(9, 1, uint32(1), n, instance)
		raise(8, 1, instance)
		raise(1, 1, n+1, uint32(0), uint32(0), uint32(0), instance)
		raise(2, 1, n+1, uint32(0), instance)
		raise(4, 1, [10]uint64{}, [3]uint32{}, instance)
		raise(7, 1, instance)
		raise(3, 1, instance)
	}
	return f
}

// kernelPart returns the kernel's session of the same recording, which names process 5
// shop.exe.
func kernelPart() []byte {
	f := tracetest.NewETL()
	f.Header.Time++
	e := shop(3)
	e.Time = f.Header.Time + 10
	f.Buffer(0).Event(e)
	return f.Bytes()
}

// shop returns an event of the kernel's about process 5.
func shop(opcode uint8) tracetest.ETLEvent { return kernelNames("shop.exe", opcode) }

// kernelNames returns an event of the kernel's that names process 5.
func kernelNames(name string, opcode uint8) tracetest.ETLEvent {
	return tracetest.ETLEvent{
		Type: tracetest.ETLSystem64, Group: 3, Opcode: opcode, Version: 4,
		Payload: tracetest.ETLPayload(uint64(1), [4]uint32{5, 1, 0, 0}, uint64(0), uint32(0), uint32(0), []byte(name+"\x00"), "", "", ""),
	}
}

// TestETWNames: the kernel's events give processes their names, be they at the
// trace's end, in a file beside it, or in one that is named with --merge.
func TestETWNames(t *testing.T) {
	dir := t.TempDir()
	for name, data := range map[string][]byte{"x.etl": userPart(), "x.kernel.etl": kernelPart(), "other.etl": kernelPart(), "y.etl": userPart(), "z.etl": namedLast()} {
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		files   []string
		process string
		talk    string
	}{
		{[]string{"x.etl"}, "shop", "x.etl: read together with " + filepath.Join(dir, "x.kernel.etl")},
		{[]string{"--merge", "y.etl", "other.etl"}, "shop", ""},
		{[]string{"y.etl"}, "", ""},
		{[]string{"--process", "shop", "z.etl"}, "shop", ""}, // known at the end
	} {
		args := []string{"gcs", "--format", "csv", "--columns", "number,process"}
		for _, f := range c.files {
			if strings.HasSuffix(f, ".etl") {
				f = filepath.Join(dir, f)
			}
			args = append(args, f)
		}
		var data, said bytes.Buffer
		std := &stdio{out: &data, err: text.NewPrinter(&said)}
		cmd := newRootCmd(std)
		cmd.SetArgs(args)
		if code := std.complain(cmd.ExecuteContext(t.Context())); code != 0 {
			t.Fatalf("%v: exit code %d: %s", c.files, code, said.String())
		}
		if want := "number,process\n1," + c.process + "\n2," + c.process + "\n"; data.String() != want {
			t.Errorf("%v: got %q, want %q", c.files, data.String(), want)
		}
		if !strings.Contains(said.String(), c.talk) || c.talk == "" && said.Len() > 0 {
			t.Errorf("%v: said %q", c.files, said.String())
		}
	}
}
