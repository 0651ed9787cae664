package heap

import "github.com/gctrail/gctrail/clr"

// maxMethodBytes bounds the names of the methods of a process: the others have none.
const maxMethodBytes = 32 << 20

// methods are the names of the methods of a process, by MethodID: the address of the method's
// descriptor, which is also the id of roots in its variables.
type methods struct {
	names map[uint64]string
	bytes int
}

// named takes the name of a method, which may come before a snapshot or, in the rundown, after it.
func (m *methods) named(v *clr.MethodLoadVerbose) {
	name := v.MethodName.String()
	if len(v.MethodNamespace) > 0 {
		name = v.MethodNamespace.String() + "." + name
	}
	if name == "" || m.names[v.MethodID] == name || m.bytes+len(name) > maxMethodBytes {
		return
	}
	if m.names == nil {
		m.names = make(map[uint64]string)
	}
	m.names[v.MethodID] = name
	m.bytes += len(name)
}

// resolve gives the roots in variables the names of their methods.
func (m *methods) resolve(g *Graph) {
	for i := range g.roots {
		if r := &g.roots[i]; r.Kind == RootStack {
			r.Method = m.names[r.ID]
		}
	}
}
