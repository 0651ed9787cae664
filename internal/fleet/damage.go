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
type damages struct{ files sync.Map }

// add notes that a file cannot be read, unless err is nil.
func (d *damages) add(file string, err error) {
	if err != nil {
		d.files.Store(file, err)
	}
}

func (d *damages) has(file string) bool {
	_, damaged := d.files.Load(file)
	return damaged
}

func (d *damages) all() (all []Damage) {
	for file, err := range d.files.Range {
		all = append(all, Damage{file.(string), err.(error)})
	}
	slices.SortFunc(all, func(a, b Damage) int { return cmp.Compare(a.File, b.File) })
	return all
}
