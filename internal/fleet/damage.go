package fleet

import (
	"cmp"
	"fmt"
	"slices"
	"sync"
)

// Damage is the reason why a file of a Folder cannot be read, or not to its end.
type Damage struct {
	File string
	Err  error
}

// Error implements error.
func (d Damage) Error() string { return fmt.Sprintf("%s: %v", d.File, d.Err) }

// Unwrap returns the cause.
func (d Damage) Unwrap() error { return d.Err }

// Damaged returns the files that could not be read so far, in the order of their names.
// Rows after the damage are missing in answers. The files are not changed.
func (f *Folder) Damaged() []Damage { return f.damaged.all() }

// damages has the errors of files.
type damages struct {
	mu    sync.Mutex
	files map[string]error
}

// add notes that a file cannot be read, unless err is nil.
func (d *damages) add(file string, err error) {
	if err == nil {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.files == nil {
		d.files = make(map[string]error)
	}
	d.files[file] = err
}

func (d *damages) has(file string) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.files[file] != nil
}

func (d *damages) all() []Damage {
	d.mu.Lock()
	defer d.mu.Unlock()
	all := make([]Damage, 0, len(d.files))
	for file, err := range d.files {
		all = append(all, Damage{file, err})
	}
	slices.SortFunc(all, func(a, b Damage) int { return cmp.Compare(a.File, b.File) })
	return all
}
