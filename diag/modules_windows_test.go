package diag

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"unicode/utf16"

	"golang.org/x/sys/windows"

	"github.com/gctrail/gctrail/internal/program"
)

// loads is the variable that holds the file of the library that a process loads.
const loads = "GCTRAIL_TEST_LOADS"

// TestFrameworkProcess finds processes that have loaded the runtime of .NET Framework:
// libraries of its names and versions, which do nothing.
func TestFrameworkProcess(t *testing.T) {
	if path := os.Getenv(loads); path != "" {
		_, err := windows.LoadLibrary(path)
		fmt.Println("loaded:", err)
		_, _ = bufio.NewReader(os.Stdin).ReadByte()
		return
	}
	const folder = `Microsoft.NET\Framework64`
	for _, test := range []struct {
		path    string
		version [4]uint16
		want    string
		found   bool
	}{
		{path: folder + `\v4.0.30319\clr.dll`, version: [4]uint16{4, 8, 9181, 0}, want: "4.8.9181.0", found: true},
		{path: folder + `\v2.0.50727\MSCORWKS.DLL`, version: [4]uint16{2, 0, 50727, 9179}, want: "2.0.50727.9179", found: true},
		{path: `größe µ\clr.dll`, found: true},
		{path: folder + `\v4.0.30319\clrjit.dll`, version: [4]uint16{4, 8, 9181, 0}},
	} {
		t.Run(filepath.Base(test.path), func(t *testing.T) {
			path := filepath.Join(t.TempDir(), test.path)
			if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, library(test.version), 0o700); err != nil {
				t.Fatal(err)
			}
			pid := loading(t, path)
			p, err := Find(t.Context(), pid)
			if !test.found {
				if p != nil || !errors.Is(err, ErrNotDotnet) {
					t.Errorf("%+v, %v", p, err)
				}
			} else if !errors.Is(err, ErrFramework) || !strings.HasSuffix(Remedy(err), fmt.Sprintf(" --etw -p %d", pid)) {
				t.Errorf("%+v, %v; %s", p, err, Remedy(err))
			}
			all := List(t.Context())
			i := slices.IndexFunc(all, func(p *Process) bool { return p.PID == pid })
			if i < 0 != !test.found {
				t.Fatalf("%d processes, found at %d", len(all), i)
			}
			if i < 0 {
				return
			}
			name := program.Base(filepath.Base(os.Args[0]))
			if p := all[i]; p.Name != name || p.Framework != test.want || !errors.Is(p.Err, ErrFramework) || p.Info != nil || p.Started.IsZero() {
				t.Errorf("%+v", p)
			}
		})
	}
}

// loading starts a process that loads a library, and returns its PID.
func loading(t *testing.T, path string) int {
	t.Helper()
	c := exec.Command(os.Args[0], "-test.run=^TestFrameworkProcess$")
	c.Env = append(os.Environ(), loads+"="+path)
	in, err := c.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		in.Close()
		if err := c.Wait(); err != nil {
			t.Error(err)
		}
	})
	if line, err := bufio.NewReader(out).ReadString('\n'); line != "loaded: <nil>\n" {
		t.Fatalf("%q, %v", line, err)
	}
	return c.Process.Pid
}

// library returns a library without code, and with a version if that is not zero.
func library(version [4]uint16) []byte {
	const (
		unit     = 0x200  // of the file
		page     = 0x1000 // of memory
		headers  = 0x40   // headers begin
		optional = 0xf0   // the size of the second of them
		section  = headers + 24 + optional
	)
	machine := map[string]uint16{"amd64": 0x8664, "arm64": 0xaa64}[runtime.GOARCH]
	b := make([]byte, 2*unit)
	u16 := func(at int, v uint16) { binary.LittleEndian.PutUint16(b[at:], v) }
	u32 := func(at int, v uint32) { binary.LittleEndian.PutUint32(b[at:], v) }
	copy(b, "MZ")
	u32(0x3c, headers)
	copy(b[headers:], "PE\x00\x00")
	file := headers + 4
	u16(file, machine)
	u16(file+2, 1) // section
	u16(file+16, optional)
	u16(file+18, 0x2022) // a library, without symbols, for large addresses
	o := file + 20
	u16(o, 0x20b)     // of 64 bits
	u32(o+8, unit)    // data
	u32(o+24, 1<<28)  // the low half of the address
	u32(o+28, 1)      // the high half
	u32(o+32, page)   // alignment
	u32(o+36, unit)   // in the file
	u16(o+40, 6)      // of the system
	u16(o+48, 6)      // of the subsystem
	u32(o+56, 2*page) // of all
	u32(o+60, unit)   // of the headers
	u16(o+68, 3)      // a console's
	u16(o+70, 0x140)  // may be moved, no execution of data
	u32(o+72, 1<<20)  // stack
	u32(o+80, 1<<12)  // of which committed
	u32(o+88, 1<<20)  // heap
	u32(o+96, 1<<12)  // of which committed
	u32(o+108, 16)    // directories
	resources := versionResource(version, page)
	if version != ([4]uint16{}) {
		u32(o+112+16, page)
		u32(o+112+20, uint32(len(resources)))
	}
	copy(b[section:], ".rsrc")
	u32(section+8, unit)
	u32(section+12, page)
	u32(section+16, unit)
	u32(section+20, unit)
	u32(section+36, 0x40000040) // initialized data that can be read
	copy(b[unit:], resources)
	return b
}

// versionResource returns a section at an address with one resource: a version.
func versionResource(version [4]uint16, address uint32) []byte {
	const versionInfo, neutral = 16, 0
	var b []byte
	u16 := func(all ...uint16) {
		for _, v := range all {
			b = binary.LittleEndian.AppendUint16(b, v)
		}
	}
	u32 := func(all ...uint32) {
		for _, v := range all {
			b = binary.LittleEndian.AppendUint32(b, v)
		}
	}
	directory := func(id, to uint32) {
		u32(0, 0, 0)
		u16(0, 1)
		u32(id, to)
	}
	const inner = 1 << 31
	directory(versionInfo, inner|24)
	directory(1, inner|48)
	directory(neutral, 72)
	const at, fixed = 88, 52
	key := utf16.Encode([]rune("VS_VERSION_INFO\x00"))
	size := 6 + 2*len(key) + 2 + fixed
	u32(address+at, uint32(size), 0, 0)
	u16(uint16(size), fixed, 0)
	u16(key...)
	u16(0) // to a multiple of four
	u32(0xfeef04bd, 1<<16)
	for range 2 { // of the file, of the product
		u32(uint32(version[0])<<16|uint32(version[1]), uint32(version[2])<<16|uint32(version[3]))
	}
	u32(0x3f, 0, 0x40004, 2, 0, 0, 0)
	return b
}
