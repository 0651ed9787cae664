package proc

import (
	"iter"
	"path"
	"path/filepath"
	"strings"
)

// A Hierarchy is a tree of cgroups that may account for a controller.
type Hierarchy struct {
	Mount string
	Path  string // of a process's cgroup in it; empty if the process is in none
	V2    bool
}

// hierarchies returns the hierarchies that may account for a controller of a process, given
// its folder in /proc: version 1 first. root is the folder of /sys, empty outside tests.
func hierarchies(root, folder, controller string) []Hierarchy {
	b := Borrow()
	defer b.GiveBack()
	text, err := b.Read(filepath.Join(folder, "cgroup"))
	if err != nil {
		return nil
	}
	var unified, own string
	for line := range strings.Lines(string(text)) {
		parts := strings.SplitN(strings.TrimSuffix(line, "\n"), ":", 3)
		switch {
		case len(parts) < 3:
		case parts[0] == "0" && parts[1] == "":
			unified = parts[2]
		case strings.Contains(","+parts[1]+",", ","+controller+","):
			own = parts[2]
		}
	}
	var all []Hierarchy
	for _, h := range [...]Hierarchy{
		{filepath.Join("/sys/fs/cgroup", controller), own, false},
		{"/sys/fs/cgroup", unified, true},
		{"/sys/fs/cgroup/unified", unified, true},
	} {
		if h.Path != "" {
			h.Mount = filepath.Join(root, h.Mount)
			all = append(all, h)
		}
	}
	return all
}

// Folders returns the folders of the cgroup and of its ancestors. In a container, some of
// them do not exist.
func (h Hierarchy) Folders() iter.Seq[string] {
	return func(yield func(string) bool) {
		for name := path.Clean("/" + h.Path); yield(filepath.Join(h.Mount, name)) && name != "/"; {
			name = path.Dir(name)
		}
	}
}
