package profile_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log"

	"github.com/gctrail/gctrail/export/profile"
	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/open"
)

// This writes a profile for profiler.firefox.com. Unknown figures are left out.
func ExampleFirefox() {
	in, err := open.File("../../testdata/net10-wks-web-collect.nettrace.gz", open.Options{Want: gc.Wants})
	if err != nil {
		log.Fatal(err)
	}
	defer in.Close()

	var model gc.Model
	var out bytes.Buffer
	w := profile.NewFirefox(&out, in.Source.Info().Start)
	for c, err := range model.Collections(in.Source) {
		if err != nil {
			log.Panic(err)
		}
		if err := w.Add(c); err != nil {
			log.Panic(err)
		}
	}
	if err := w.Close(); err != nil {
		log.Panic(err)
	}
	var profile struct {
		Threads []struct {
			ProcessName string
			Markers     struct{ Length int }
		}
	}
	if err := json.Unmarshal(out.Bytes(), &profile); err != nil {
		log.Panic(err)
	}
	for _, t := range profile.Threads {
		fmt.Println(t.ProcessName, t.Markers.Length, "markers")
	}
	// Output:
	// gcload 306 markers
}
