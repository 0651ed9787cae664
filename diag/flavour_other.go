//go:build !linux

package diag

// inside is the path of a file as the process sees it.
func (*Process) inside(path string) string { return path }

// threadFlavour knows no names of threads here.
func (*Process) threadFlavour() Flavour { return Flavour{} }
