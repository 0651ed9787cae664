package convert

import (
	"reflect"
	"strings"

	"github.com/gctrail/gctrail/clr"
	"github.com/gctrail/gctrail/trace"
)

// typeName returns the hash of a type's name. With KeepSystem, each type in it is treated
// alone: the generic type, its arguments, the elements of an array.
func (r *Redactor) typeName(name string) string {
	if clr.Unnamed(clr.NewUTF16(name)) { // a hash would be a name
		return name
	}
	if r.system == nil {
		return r.Name(name)
	}
	return r.types(name, "[],&*", r.system.keeps)
}

// types hashes the types in a text, which separators are between, unless kept returns
// true.
func (r *Redactor) types(text, separators string, kept func(string) bool) string {
	var b strings.Builder
	for text != "" {
		n := strings.IndexAny(text, separators)
		if n < 0 {
			n = len(text)
		}
		if token := text[:n]; kept(token) {
			b.WriteString(token)
		} else {
			b.WriteString(r.Name(token))
		}
		if n < len(text) {
			b.WriteByte(text[n])
			n++
		}
		text = text[n:]
	}
	return b.String()
}

// method redacts the three parts of a method's name. It is applied to each of them, and
// acts on the first.
func (r *Redactor) method(ev *trace.Event, of, field reflect.Value) {
	namespace, name, signature := text(of, "MethodNamespace"), text(of, "MethodName"), text(of, "MethodSignature")
	if field.Addr().Interface() != any(namespace) {
		return
	}
	parts := []string{namespace.String(), name.String(), signature.String()}
	if r.keepsMethod(ev, of, parts[0]) {
		*signature = clr.NewUTF16(r.types(parts[2], "[],&*() <>!", func(token string) bool { return inSignature[token] || r.system.keeps(token) }))
	} else {
		*name, *signature = clr.NewUTF16(r.Name(strings.Join(parts, "\x00"))), nil
	}
	*namespace = clr.NewUTF16(r.typeName(parts[0]))
}

// keepsMethod reports whether a method of a type is the framework's. The type decides, because
// the event of entry points has no module.
func (r *Redactor) keepsMethod(ev *trace.Event, of reflect.Value, namespace string) bool {
	if r.system == nil || !r.system.keeps(namespace) {
		return false
	}
	id := of.FieldByName("ModuleID")
	return !id.IsValid() || r.system.owns(key{ev.PID, id.Uint()})
}

func text(of reflect.Value, field string) *clr.UTF16 {
	return of.FieldByName(field).Addr().Interface().(*clr.UTF16)
}

// inSignature has the words of signatures that name no type (formattype.cpp and
// prettyprintsig.cpp).
var inSignature = func() map[string]bool {
	all := make(map[string]bool)
	for _, word := range strings.Fields(`void bool char wchar int8 int16 int32 int64 int uint8 uint16 uint32 uint64 uint float32 float64
		unsigned native string object class value instance generic explicit vararg pinned typedbyref refany method default modopt modreq
		0 1 2 3 4 5 6 7`) {
		all[word] = true
	}
	return all
}()

// module redacts the path of a module's file.
func (r *Redactor) module(ev *trace.Event, of, field reflect.Value) {
	rewrite(field, func(path string) string { return r.path(path, key{ev.PID, of.FieldByName("ModuleID").Uint()}) })
}

func (r *Redactor) path(path string, module key) string {
	if file := baseName(path); r.system != nil && isSystem(file) && r.system.owns(module) {
		return file
	}
	return r.Name(path)
}

// assembly redacts the name of an assembly, which its version, culture and key follow.
func (r *Redactor) assembly(ev *trace.Event, of, field reflect.Value) {
	rewrite(field, func(name string) string {
		simple, _, _ := strings.Cut(name, ",")
		if r.system != nil && isSystem(simple) && r.system.ownsAssembly(key{ev.PID, of.FieldByName("AssemblyID").Uint()}) {
			return simple
		}
		return r.Name(name)
	})
}

// isSystem reports whether a name begins like the framework's.
func isSystem(name string) bool {
	return strings.HasPrefix(name, "System.") || strings.HasPrefix(name, "Microsoft.")
}

// baseName returns a path's last element, of Windows' paths too.
func baseName(path string) string { return path[strings.LastIndexAny(path, `/\`)+1:] }
