package etl_test

import (
	"archive/zip"
	"bytes"
	"fmt"
	"io/fs"
	"log"

	"github.com/gctrail/gctrail/etl"
	"github.com/gctrail/gctrail/trace"
)

// This lists the processes of an ETW trace, which need not name them all.
func ExampleReader() {
	files, err := zip.OpenReader("../testdata/net8-win-x64-gcevents.etl.zip")
	if err != nil {
		log.Fatal(err)
	}
	defer files.Close()
	data, err := fs.ReadFile(files, files.File[0].Name)
	if err != nil {
		log.Panic(err)
	}

	r := etl.NewReader(bytes.NewReader(data), int64(len(data)), etl.Options{})
	count := make(map[uint64]int)
	for ev, err := range r.Events() {
		if err != nil {
			log.Panic(err)
		}
		count[ev.PID]++
	}
	for pid, n := range count {
		name := r.Info().Processes[pid].Name
		if name == "" {
			name = "without a name"
		}
		if pid == trace.UnknownID {
			fmt.Println(n, "events of no known process")
			continue
		}
		fmt.Printf("%d events of process %d, %s\n", n, pid, name)
	}
	// Unordered output:
	// 1 events of process 179356, without a name
	// 69 events of process 179596, without a name
}
