package dotnettest

import (
	"bytes"
	_ "embed" // for the program
	"encoding/binary"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
)

// The compiled shares/shares.cs.
//
//go:embed shares/shares.dll
var shares []byte

// StartShares starts a program of a version that allocates objects of known types in known
// proportions: see shares/shares.cs. It ends with the test.
func StartShares(t testing.TB, version int, mode string, megabytesPerSecond int) *Program {
	t.Helper()
	file := Install(t, version)
	exchange(t, file, shares)
	return run(t, filepath.Base(file), filepath.Join(filepath.Dir(file), "truth"), []string{file, mode, "300", strconv.Itoa(megabytesPerSecond)})
}

// exchange replaces the assembly of a gcload, which is a bundle: its manifest has an entry for
// each file, with the offset, the size, the packed size, which is zero, and the type before the
// name. See bundle_file_entry.h of dotnet/runtime's corehost.
func exchange(t testing.TB, file string, assembly []byte) {
	t.Helper()
	bundle, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	const typ, numbers = 1, 3 * 8
	name := bytes.Index(bundle, []byte("\x0agcload.dll")) - typ
	if name < numbers {
		t.Fatalf("%s has no gcload.dll", file)
	}
	entry := bundle[name-numbers:]
	offset, size := binary.LittleEndian.Uint64(entry), binary.LittleEndian.Uint64(entry[8:])
	if uint64(len(assembly)) > size || offset+size > uint64(len(bundle)) {
		t.Fatalf("%d bytes do not fit into %d at %d", len(assembly), size, offset)
	}
	place := bundle[offset : offset+size]
	clear(place[copy(place, assembly):])
	syscall.ForkLock.RLock() // as Install does
	defer syscall.ForkLock.RUnlock()
	if err := os.WriteFile(file, bundle, 0o700); err != nil {
		t.Fatal(err)
	}
}
