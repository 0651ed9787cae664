package symbol

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// The bounds of a perf map, and of a line in it.
const (
	maxPerfMap  = 256 << 20
	maxPerfLine = 64 << 10
)

// errNoPerfMap is returned for a file in which no line is one of a perf map.
var errNoPerfMap = errors.New("not a perf map: no line has an address, a size and a name")

// ReadPerfMap processes the methods of a process from a perf map, which the
// runtime writes to /tmp/perf-PID.map if DOTNET_PerfMapEnabled is set: lines of
// address and size in hexadecimal and a name. Lines of another form are
// skipped; an error is returned if there are no others, or r fails. Addresses that
// belong to a method of the trace keep its name.
func (t *Table) ReadPerfMap(pid uint64, r io.Reader) error {
	lines := bufio.NewScanner(io.LimitReader(r, maxPerfMap))
	lines.Buffer(nil, maxPerfLine)
	p, read := t.process(pid), 0
	for lines.Scan() {
		address, rest, _ := strings.Cut(lines.Text(), " ")
		length, name, _ := strings.Cut(rest, " ")
		start, err := strconv.ParseUint(strings.TrimPrefix(address, "0x"), 16, 64)
		if err != nil {
			continue
		}
		size, err := strconv.ParseUint(length, 16, 32)
		if err != nil || name == "" {
			continue
		}
		read++
		t.addSymbol(p, &p.mapped, start, start+size, name)
	}
	if err := lines.Err(); err != nil {
		return err
	}
	if read == 0 {
		return errNoPerfMap
	}
	return nil
}

// ReadPerfMaps processes the perf maps of the processes that have stacks. Open opens
// that of a process; its error is fs.ErrNotExist if there is none. Call it after all
// events have been fed.
func (t *Table) ReadPerfMaps(open func(pid uint64) (io.ReadCloser, error)) error {
	var errs []error
	for _, pid := range slices.Sorted(maps.Keys(t.byPID)) {
		if t.byPID[pid].seen == nil {
			continue
		}
		f, err := open(pid)
		if err == nil {
			err = errors.Join(t.ReadPerfMap(pid, f), f.Close())
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			errs = append(errs, fmt.Errorf("perf-%d.map: %w", pid, err))
		}
	}
	return errors.Join(errs...)
}

// managedName spells a method of a perf map as PerfView does. The runtime writes
// what is returned, the module in brackets, the type and after two colons the
// method with its parameters, and in brackets how it was compiled:
//
//	instance void [System.Private.CoreLib] System.IO.Stream::Close()[PreJIT]
//
// Any other name remains as it is.
func managedName(s string) string {
	_, after, ok := strings.Cut(s, " [")
	if !ok {
		return s
	}
	_, name, ok := strings.Cut(after, "] ")
	typ, method, colons := strings.Cut(name, "::")
	if !ok || !colons {
		return s
	}
	if i := strings.LastIndexByte(method, '['); i > 0 && i < len(method)-2 && strings.HasSuffix(method, "]") {
		method = method[:i]
	}
	return typ + "." + method
}
