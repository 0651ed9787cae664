package convert_test

import (
	"bytes"
	"debug/pe"
	"encoding/binary"
	"iter"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"github.com/gctrail/gctrail/clr"
	"github.com/gctrail/gctrail/internal/convert"
	"github.com/gctrail/gctrail/internal/dotnettest"
	"github.com/gctrail/gctrail/nettrace"
	"github.com/gctrail/gctrail/open"
	"github.com/gctrail/gctrail/trace"
)

// TestNoModuleIsIdentified records a program, and tries to find each module of the trace
// among the files of the framework: by the signature of its PDB, by the tokens and sizes
// of methods that were compiled, and by the layout of precompiled code. That works with
// the original trace, but for no module with the redacted one, because no token and no
// signature is left there.
func TestNoModuleIsIdentified(t *testing.T) {
	lab := dotnettest.Lab(t)
	files, err := filepath.Glob(filepath.Join(filepath.Dir(lab[0]), "shared", "*", "*", "*.dll"))
	if err != nil || len(files) < 100 {
		t.Fatal(len(files), " files of the framework ", err)
	}
	var framework []*library
	for _, file := range files {
		if l := readLibrary(t, file); l != nil {
			framework = append(framework, l)
		}
	}
	file := filepath.Join(t.TempDir(), "lab.nettrace")
	cmd := exec.Command(lab[0], lab[1], "leak", "1")
	cmd.Env = append(os.Environ(), "DOTNET_EnableEventPipe=1", "DOTNET_EventPipeOutputPath="+file,
		"DOTNET_EventPipeConfig="+clr.RuntimeProvider+":0x20010A0039:5,"+clr.RundownProvider+":0x20039:5")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatal(err, string(out))
	}
	original, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	found := identify(original, framework)
	t.Logf("%d files; of %d modules of the original, identified by %v", len(framework), found.modules, found.by)
	for _, clue := range []string{"signature", "tokens", "layout"} {
		if found.by[clue] == 0 {
			t.Errorf("the attack by %s finds no module of a trace that is not redacted", clue)
		}
	}
	for _, keep := range []bool{false, true} {
		public := redacted(t, file, convert.RedactOptions{KeepSystem: keep})
		if got := identify(public, framework); got.modules != found.modules || len(got.by) > 0 || got.tokens > 0 {
			t.Errorf("keeping names %t: of %d modules, identified by %v; %d tokens are left", keep, got.modules, got.by, got.tokens)
		}
		for _, l := range framework {
			if bytes.Contains(public, l.signature[:]) {
				t.Errorf("the signature of %s is in the trace", l.name)
			}
		}
	}
}

// A library holds the clues in a file about its module.
type library struct {
	name      string
	signature clr.GUID // of the PDB
	il        map[uint32]uint32
	code      map[uint32]uint32 // sizes by relative address
}

// An evidence holds the clues in a trace about one module.
type evidence struct {
	signature clr.GUID
	il        map[uint32]uint32 // sizes by token
	code      map[uint64]uint32 // sizes by address
}

// Identified are the modules of a trace that were found, by the kind of clue.
type identified struct {
	modules, tokens int
	by              map[string]int
}

func identify(data []byte, framework []*library) identified {
	found := identified{by: make(map[string]int)}
	modules := make(map[uint64]*evidence)
	of := func(id uint64) *evidence {
		if modules[id] == nil {
			modules[id] = &evidence{il: make(map[uint32]uint32), code: make(map[uint64]uint32)}
		}
		return modules[id]
	}
	for e := range decoded(data) {
		switch v := e.(type) {
		case *clr.ModuleDCEnd:
			of(v.ModuleID).signature = v.ManagedPdbSignature
		case *clr.MethodJittingStarted:
			if v.MethodToken != 0 {
				of(v.ModuleID).il[v.MethodToken] = v.MethodILSize
				found.tokens++
			}
		case *clr.MethodDCEndVerbose:
			if v.MethodToken != 0 {
				found.tokens++
			}
			of(v.ModuleID).code[v.MethodStartAddress] = v.MethodSize
		case *clr.BulkType:
			for i := range v.Values {
				if v.Values[i].TypeNameID&0xffffff != 0 {
					found.tokens++
				}
			}
		}
	}
	found.modules = len(modules)
	for _, m := range modules {
		for clue, matches := range map[string]func(*library) bool{"signature": m.signed, "tokens": m.compiled, "layout": m.laidOut} {
			if slices.ContainsFunc(framework, matches) {
				found.by[clue]++
			}
		}
	}
	return found
}

// decoded yields the events of a trace that have structs.
func decoded(data []byte) iter.Seq[clr.Event] {
	return func(yield func(clr.Event) bool) {
		for ev, err := range nettrace.NewReader(bytes.NewReader(data), nettrace.Options{}).Events() {
			if err != nil {
				return
			}
			if e := clr.KindOf(ev.Desc.Provider, ev.Desc.ID).New(); e != nil && e.Decode(ev.Desc.Version, ev.Payload, ev.PointerSize) == nil && !yield(e) {
				return
			}
		}
	}
}

func (m *evidence) signed(l *library) bool {
	return m.signature != clr.GUID{} && m.signature == l.signature
}

// compiled reports whether methods of a library have the tokens and IL sizes of the
// compiled ones: all of these, and at least three.
func (m *evidence) compiled(l *library) bool {
	const least = 3
	for token, size := range m.il {
		if l.il[token] != size {
			return false
		}
	}
	return len(m.il) >= least
}

// laidOut reports whether half of the methods, and at least three, have the sizes and
// distances of precompiled code, wherever it is loaded.
func (m *evidence) laidOut(l *library) bool {
	const least, tried = 3, 20
	starts := slices.Sorted(maps.Keys(m.code))
	for _, anchor := range starts[:min(tried, len(starts))] {
		for at, size := range l.code {
			if size != m.code[anchor] {
				continue
			}
			same := 0
			for start, size := range m.code {
				if l.code[uint32(start-anchor)+at] == size && size > 0 {
					same++
				}
			}
			if same >= max(least, len(m.code)/2) {
				return true
			}
		}
	}
	return false
}

// readLibrary reads a file of the framework, nil if it is not managed.
func readLibrary(t *testing.T, file string) *library {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	// Precompiled files for Linux have another machine in the header (pedecoder.h), which
	// debug/pe does not know.
	header := binary.LittleEndian.Uint32(data[0x3c:])
	binary.LittleEndian.PutUint16(data[header+4:], pe.IMAGE_FILE_MACHINE_AMD64)
	f, err := pe.NewFile(bytes.NewReader(data))
	if err != nil {
		t.Fatal(file, err)
	}
	defer f.Close()
	im := image{data, f}
	l := &library{name: filepath.Base(file), il: make(map[uint32]uint32), code: make(map[uint32]uint32)}
	for debug := im.directory(pe.IMAGE_DIRECTORY_ENTRY_DEBUG); len(debug) >= 28; debug = debug[28:] {
		if at := data[u32(debug, 24):]; bytes.HasPrefix(at, []byte("RSDS")) {
			copy(l.signature[:], at[4:])
		}
	}
	cli := im.directory(pe.IMAGE_DIRECTORY_ENTRY_COM_DESCRIPTOR)
	if cli == nil {
		return nil
	}
	im.methods(im.at(u32(cli, 8)), l.il)
	if ready := im.at(u32(cli, 64)); u32(cli, 64) != 0 && bytes.HasPrefix(ready, []byte("RTR\x00")) {
		im.functions(ready, l.code)
	}
	return l
}

func u32(b []byte, off int) uint32 { return binary.LittleEndian.Uint32(b[off:]) }
func u16(b []byte, off int) uint16 { return binary.LittleEndian.Uint16(b[off:]) }

// An image is a library file that relative addresses refer to.
type image struct {
	data []byte
	*pe.File
}

func (im image) at(rva uint32) []byte {
	for _, s := range im.Sections {
		if rva >= s.VirtualAddress && rva < s.VirtualAddress+s.Size {
			return im.data[s.Offset+rva-s.VirtualAddress:]
		}
	}
	return nil
}

func (im image) directory(i int) []byte {
	var d pe.DataDirectory
	switch h := im.OptionalHeader.(type) {
	case *pe.OptionalHeader64:
		d = h.DataDirectory[i]
	case *pe.OptionalHeader32:
		d = h.DataDirectory[i]
	}
	if d.Size == 0 {
		return nil
	}
	return im.at(d.VirtualAddress)[:d.Size]
}

// functions reads the table of precompiled functions (readytorun-format.md): 102 is its
// section, with begin, end and unwind information of each.
func (im image) functions(ready []byte, code map[uint32]uint32) {
	const runtimeFunctions = 102
	for i := range u32(ready, 12) {
		section := ready[16+12*i:]
		if u32(section, 0) != runtimeFunctions {
			continue
		}
		table := im.at(u32(section, 4))
		for off := uint32(0); off+12 <= u32(section, 8); off += 12 {
			code[u32(table, int(off))] = u32(table, int(off)+4) - u32(table, int(off))
		}
	}
}

// methods reads the sizes of the IL of all methods by token (ECMA-335, II.24.2.6).
func (im image) methods(metadata []byte, il map[uint32]uint32) {
	off := 16 + int(u32(metadata, 12)) + 4
	var tables []byte
	for range u16(metadata, off-2) {
		name := metadata[off+8:]
		n := bytes.IndexByte(name, 0)
		if string(name[:n]) == "#~" {
			tables = metadata[u32(metadata, off):]
		}
		off += 8 + (n/4+1)*4
	}
	valid := binary.LittleEndian.Uint64(tables[8:])
	var rows [64]uint32
	at := 24
	for i := range rows {
		if valid>>i&1 != 0 {
			rows[i] = u32(tables, at)
			at += 4
		}
	}
	heap := func(bit uint8) int { return 2 + 2*int(tables[6]>>bit&1) }
	text, guid, blob := heap(0), heap(1), heap(2)
	index := func(bits int, of ...int) int {
		for _, i := range of {
			if rows[i] >= 1<<(16-bits) {
				return 4
			}
		}
		return 2
	}
	const module, typeRef, typeDef, field, method, param, moduleRef, typeSpec, assemblyRef = 0, 1, 2, 4, 6, 8, 0x1a, 0x1b, 0x23
	sizes := [...]int{
		module: 2 + text + 3*guid, typeRef: index(2, module, moduleRef, assemblyRef, typeRef) + 2*text,
		typeDef: 4 + 2*text + index(2, typeDef, typeRef, typeSpec) + index(0, field) + index(0, method),
		3:       index(0, field), field: 2 + text + blob, 5: index(0, method),
	}
	for i, size := range sizes {
		at += size * int(rows[i])
	}
	size := 8 + text + blob + index(0, param)
	for row := range rows[method] {
		if body := im.at(u32(tables, at+int(row)*size)); body != nil && u32(tables, at+int(row)*size) != 0 {
			il[0x06000001+row] = ilSize(body)
		}
	}
}

// ilSize returns the size of the code of a method's body (II.25.4).
func ilSize(body []byte) uint32 {
	if body[0]&3 == 2 {
		return uint32(body[0] >> 2)
	}
	return u32(body, 4)
}

// TestNoIDIsLeft searches redacted traces for the ids of types, methods and modules and
// for the addresses of code.
func TestNoIDIsLeft(t *testing.T) {
	for _, file := range []string{stacks, "../../testdata/net10-wks-sampler-web.nettrace.gz", "../../testdata/coreclr1-srv-lttng.trace.zip"} {
		ids := idsOf(t, file)
		if len(ids) < 50 {
			t.Fatalf("%s: %d ids", file, len(ids))
		}
		count := func(data []byte) int {
			seen := make(map[uint64]bool)
			for i := range data[:len(data)-7] {
				if id := binary.LittleEndian.Uint64(data[i:]); ids[id] {
					seen[id] = true
				}
			}
			return len(seen)
		}
		plain, public := count(rewritten(t, file, convert.EventOptions{})), count(redacted(t, file, convert.RedactOptions{KeepSystem: true}))
		if plain < len(ids)/2 || public > 0 {
			t.Errorf("%s: %d of %d ids in the trace, %d in the redacted one", file, plain, len(ids), public)
		}
	}
}

// idsOf returns the ids of a trace that are addresses of the runtime, and the code
// addresses.
func idsOf(t *testing.T, file string) map[uint64]bool {
	t.Helper()
	in, err := open.Files([]string{file}, open.Options{Stacks: true})
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	all := make(map[uint64]bool)
	add := func(ids ...uint64) {
		for _, id := range ids {
			if id > 1<<32 {
				all[id] = true
			}
		}
	}
	for ev, err := range in.Source.Events() {
		if err != nil {
			t.Fatal(err)
		}
		add(ev.AppendStack(nil)...)
		add(idsIn(ev)...)
	}
	return all
}

func idsIn(ev *trace.Event) []uint64 {
	e := clr.KindOf(ev.Desc.Provider, ev.Desc.ID).New()
	if e == nil || e.Decode(ev.Desc.Version, ev.Payload, ev.PointerSize) != nil {
		return nil
	}
	switch v := e.(type) {
	case *clr.GCAllocationTick:
		return []uint64{v.TypeID}
	case *clr.MethodDCEndVerbose:
		return []uint64{v.MethodID, v.ModuleID, v.MethodStartAddress}
	case *clr.MethodLoadVerbose:
		return []uint64{v.MethodID, v.ModuleID, v.MethodStartAddress}
	case *clr.ModuleDCEnd:
		return []uint64{v.ModuleID, v.AssemblyID}
	case *clr.FinalizeObject:
		return []uint64{v.TypeID}
	}
	return nil
}
