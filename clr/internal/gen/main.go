// Command gen writes the generated files of package clr from its table,
// events.json, the names of the providers for package etl, and the keywords of
// rundowns for package diag. Run it with go generate in the package's folder.
package main

import (
	"fmt"
	"os"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "gen:", err)
		os.Exit(1)
	}
}

func run() error {
	b, err := os.ReadFile("events.json")
	if err != nil {
		return err
	}
	files, err := generate(b)
	if err != nil {
		return err
	}
	for name, src := range files {
		if err := os.WriteFile(name, src, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// generate returns the generated files by name.
func generate(eventsJSON []byte) (map[string][]byte, error) {
	t, err := parseTable(eventsJSON)
	if err != nil {
		return nil, err
	}
	files := map[string][]byte{}
	add := func(name string, w *writer) {
		if err == nil {
			files[name], err = w.source()
		}
	}
	for _, p := range t.Providers {
		if len(p.Events) > 0 {
			add(p.file(), t.providerFile(p))
		}
	}
	add("dynamic_gen.go", t.dynamicFile())
	add("enums_gen.go", t.enumsFile())
	add("keywords_gen.go", t.keywordsFile())
	add("kinds_gen.go", t.kindsFile())
	add("layouts_gen.go", t.layoutsFile())
	add("structs_gen_test.go", t.testFile())
	add("tracepoints_gen.go", t.tracepointsFile())
	add("../etl/providers_gen.go", t.etlFile())
	add("../diag/rundown_gen.go", t.rundownFile())
	return files, err
}
