package ctf_test

import (
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/gctrail/gctrail/ctf"
	"github.com/gctrail/gctrail/trace"
)

func ExampleCreateFolder() {
	tmp, err := os.MkdirTemp("", "")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(tmp)
	dir := filepath.Join(tmp, "shop")

	w, err := ctf.CreateFolder(dir, ctf.WriterOptions{Start: time.Now(), PID: 4711, Process: "shop"})
	if err != nil {
		fmt.Println(err)
		return
	}
	order := &trace.Descriptor{Provider: "shop", Name: "order", Fields: []trace.Field{
		{Name: "number", Type: trace.Uint16},
		{Name: "customer", Type: trace.UTF16String},
	}}
	err = w.Write(&trace.Event{Desc: order, TID: 1, Payload: []byte{7, 0, 'E', 0, 'v', 0, 'a', 0, 0, 0}})
	if err != nil {
		fmt.Println(err)
		return
	}
	if err := w.Close(); err != nil {
		fmt.Println(err)
		return
	}

	r, err := ctf.Open(os.DirFS(dir), ctf.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	for ev, err := range r.Events() {
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Printf("%s of %s (%d): %q\n", ev.Desc.Name, r.Info().Processes[ev.PID].Name, ev.PID, ev.Payload)
	}
	// Output:
	// order of shop (4711): "\a\x00E\x00v\x00a\x00\x00\x00"
}
