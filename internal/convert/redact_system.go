package convert

import (
	"regexp"
	"slices"
	"strings"

	"github.com/gctrail/gctrail/clr"
	"github.com/gctrail/gctrail/trace"
)

// The bounds of a system. Names for which there is no room are not kept.
const (
	maxModules = 1 << 16
	maxTypes   = 1 << 17
	maxBytes   = 16 << 20 // of all names and paths
	maxOrigins = 16       // modules with a type of one name
)

// A system decides which names are the framework's, from the modules that the trace has
// them in.
type system struct {
	modules    map[key]module
	assemblies map[key]string // full names
	loaded     map[key]key    // the module of an assembly, by its id
	folders    map[uint64]string
	types      map[string][]key // the modules of a type, by the outermost type's name
	bytes      int
	verdicts   map[string]bool
	owned      map[key]bool
	decoded    struct {
		module   clr.ModuleLoad
		assembly clr.AssemblyLoad
		method   clr.MethodLoadVerbose
		jitting  clr.MethodJittingStarted
		types    clr.BulkType
	}
}

// A key is the id of something in a process.
type key struct{ pid, id uint64 }

type module struct {
	path     string
	assembly uint64
}

func newSystem() *system {
	return &system{
		modules: make(map[key]module), assemblies: make(map[key]string), folders: make(map[uint64]string),
		loaded: make(map[key]key), owned: make(map[key]bool),
		types: make(map[string][]key), verdicts: make(map[string]bool),
	}
}

// learn records an event's information about modules and the types in them.
func (s *system) learn(ev *trace.Event) {
	d, v, p, size := &s.decoded, ev.Desc.Version, ev.Payload, ev.PointerSize
	switch clr.KindOf(ev.Desc.Provider, ev.Desc.ID) {
	case clr.KindModuleLoad, clr.KindModuleDCStart, clr.KindModuleDCEnd:
		if d.module.Decode(v, p, size) == nil {
			s.addModule(ev.PID, &d.module)
		}
	case clr.KindAssemblyLoad, clr.KindAssemblyDCEnd:
		if name := &d.assembly.FullyQualifiedAssemblyName; d.assembly.Decode(v, p, size) == nil && len(s.assemblies) < maxModules && s.reserve(len(*name)) {
			s.assemblies[key{ev.PID, d.assembly.AssemblyID}] = name.String()
		}
	case clr.KindMethodLoadVerbose, clr.KindMethodUnloadVerbose, clr.KindMethodDCStartVerbose, clr.KindMethodDCEndVerbose:
		if d.method.Decode(v, p, size) == nil {
			s.addType(d.method.MethodNamespace.String(), key{ev.PID, d.method.ModuleID})
		}
	case clr.KindMethodJittingStarted:
		if d.jitting.Decode(v, p, size) == nil {
			s.addType(d.jitting.MethodNamespace.String(), key{ev.PID, d.jitting.ModuleID})
		}
	case clr.KindBulkType:
		_ = d.types.Decode(v, p, size) // a part counts
		for i := range d.types.Values {
			s.addType(d.types.Values[i].Name.String(), key{ev.PID, d.types.Values[i].ModuleID})
		}
	}
}

// coreLibrary is the module that the runtime itself is bound to, in its folder.
const coreLibrary = "System.Private.CoreLib.dll"

func (s *system) addModule(pid uint64, v *clr.ModuleLoad) {
	path := v.ModuleILPath.String()
	if len(s.modules) == maxModules || path == "" || !s.reserve(len(path)) {
		return
	}
	k := key{pid, v.ModuleID}
	s.modules[k], s.loaded[key{pid, v.AssemblyID}] = module{path, v.AssemblyID}, k
	if file := baseName(path); file == coreLibrary {
		s.folders[pid] = strings.TrimSuffix(path, file)
	}
}

// reserve takes room for the bytes of a name, false if there is none.
func (s *system) reserve(n int) bool {
	if s.bytes+n > maxBytes {
		return false
	}
	s.bytes += n
	return true
}

// addType notes that a type is from a module.
func (s *system) addType(name string, from key) {
	name = outermost(name)
	if !isSystem(name) || from.id == 0 {
		return
	}
	origins, known := s.types[name]
	switch {
	case slices.Contains(origins, from):
		return
	case !known && (len(s.types) == maxTypes || !s.reserve(len(name))):
		return
	case len(origins) == maxOrigins: // too many to check: the zero key is never the framework's
		origins[maxOrigins-1] = key{}
		return
	}
	s.types[name] = append(origins, from)
}

// outermost returns the name of the type that a type is nested in, without type arguments,
// or that an array has elements of.
func outermost(name string) string {
	if i := strings.IndexAny(name, "+[&*"); i >= 0 {
		return name[:i]
	}
	return name
}

// intrinsic are types that the runtime itself is bound to (corelib.h): the names say
// nothing of a program, whichever module they are from.
var intrinsic = strings.Fields(`System.Object System.String System.Boolean System.Char System.SByte System.Byte System.Int16 System.UInt16
	System.Int32 System.UInt32 System.Int64 System.UInt64 System.IntPtr System.UIntPtr System.Single System.Double System.Decimal
	System.DateTime System.Guid System.Array System.Enum System.ValueType System.Delegate System.MulticastDelegate System.Exception
	System.Type System.RuntimeType System.Void System.Nullable` + "`1 System.__Canon")

// keeps reports whether a name of a type is the framework's: a module of the framework has
// it, or the runtime itself, and no other module.
func (s *system) keeps(name string) bool {
	top := outermost(name)
	if !isSystem(top) || len(top) > maxLength {
		return false
	}
	verdict, known := s.verdicts[top]
	if !known {
		verdict = s.decide(top)
		if len(s.verdicts) == maxHashed {
			clear(s.verdicts)
		}
		s.verdicts[top] = verdict
	}
	return verdict
}

func (s *system) decide(top string) bool {
	kept := slices.Contains(intrinsic, top)
	for _, from := range s.types[top] {
		if _, known := s.modules[from]; !known && from != (key{}) {
			continue
		}
		if !s.owns(from) {
			return false
		}
		kept = true
	}
	return kept
}

// sharedFramework matches the files of frameworks that Microsoft installs for all
// programs.
var sharedFramework = regexp.MustCompile(`[/\\]shared[/\\]Microsoft\.(?:NETCore|AspNetCore|WindowsDesktop)\.App[/\\]\d+\.\d+\.\d+[^/\\]*[/\\][^/\\]+$` +
	`|(?i)^[a-z]:\\Windows\\Microsoft\.NET\\Framework(?:64)?\\v\d[^\\]*\\(?:WPF\\)?[^\\]+$` +
	`|(?i)^[a-z]:\\Windows\\(?:Microsoft\.NET\\)?assembly\\GAC[^\\]*\\[^\\]+\\[^\\]*__(?:b77a5c561934e089|b03f5f7f11d50a3a|31bf3856ad364e35)\\[^\\]+$`)

// frameworkKey matches the public keys of the framework's assemblies in their names.
var frameworkKey = regexp.MustCompile(`, PublicKeyToken=(?:7cec85d7bea7798e|b03f5f7f11d50a3a|b77a5c561934e089|cc7b13ffcd2ddd51|adb9793829ddae60)$`)

// owns reports whether a module is the framework's.
func (s *system) owns(of key) bool {
	owned, known := s.owned[of]
	if !known {
		if m, listed := s.modules[of]; listed {
			owned = s.isFramework(of.pid, m)
			s.owned[of] = owned
		}
	}
	return owned
}

// isFramework reports whether a module is installed with a shared framework, or is beside
// the core library of a self-contained program and has a key of the framework.
func (s *system) isFramework(pid uint64, m module) bool {
	if sharedFramework.MatchString(m.path) {
		return true
	}
	file := baseName(m.path)
	return s.folders[pid] != "" && s.folders[pid]+file == m.path &&
		(file == coreLibrary || frameworkKey.MatchString(s.assemblies[key{pid, m.assembly}]))
}

// ownsAssembly reports whether an assembly is the framework's.
func (s *system) ownsAssembly(of key) bool {
	m, known := s.loaded[of]
	return known && s.owns(m)
}
