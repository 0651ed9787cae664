package open

import (
	"io/fs"
	"os"
	"path/filepath"
)

// Reads returns the files that File reads for a path: the file, the other parts
// of an ETW trace next to it, or all files of a folder.
func Reads(path string) []string {
	info, err := os.Stat(path)
	if err != nil {
		return nil
	}
	if !info.IsDir() {
		return append(companionsOf(path), path)
	}
	var files []string
	_ = filepath.WalkDir(path, func(name string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			files = append(files, name)
		}
		return nil // an unlistable folder cannot be read
	})
	return files
}
