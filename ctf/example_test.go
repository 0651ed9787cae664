package ctf_test

import (
	"archive/zip"
	"fmt"

	"github.com/gctrail/gctrail/clr"
	"github.com/gctrail/gctrail/ctf"
)

func ExampleOpen() {
	files, err := zip.OpenReader("../testdata/net9-lttng-snapshot.trace.zip") // os.DirFS for a folder
	if err != nil {
		fmt.Println(err)
		return
	}
	defer files.Close()
	r, err := ctf.Open(files, ctf.Options{Resolve: clr.Tracepoint})
	if err != nil {
		fmt.Println(err)
		return
	}
	collections := 0
	for ev, err := range r.Events() {
		if err != nil {
			fmt.Println(err)
			return
		}
		if clr.KindOf(ev.Desc.Provider, ev.Desc.ID) == clr.KindGCStart {
			collections++
		}
	}
	fmt.Println(r.Info().Format, collections, "collections began,", r.Loss().Events, "events were lost")
	// Output: CTF 1.8 40 collections began, 0 events were lost
}
