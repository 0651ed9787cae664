package diag_test

import (
	"context"
	"fmt"
	"io"
	"log"
	"os"
	"time"

	"github.com/gctrail/gctrail/diag"
)

// This writes ten seconds of a process's collections to a file.
func ExampleClient_Collect() {
	record := func(ctx context.Context, pid int, path string) error {
		process, err := diag.Find(ctx, pid)
		if err != nil {
			return err
		}
		session, err := process.Client().Collect(ctx, diag.Config{
			BufferMB:  64,
			Rundown:   diag.RundownGC,
			NoStacks:  true,
			Providers: []diag.Provider{{Name: "Microsoft-Windows-DotNETRuntime", Keywords: 0x1, Level: 4}},
		})
		if err != nil {
			return err
		}
		defer session.Close()
		out, err := os.Create(path)
		if err != nil {
			return err
		}
		defer out.Close()
		time.AfterFunc(10*time.Second, func() { session.Stop(ctx) })
		_, err = io.Copy(out, session) // until the runtime has sent all
		return err
	}
	if err := record(context.Background(), 4711, "web.nettrace"); err != nil {
		log.Fatalf("%v; %s", err, diag.Remedy(err))
	}
}

// This lists the running processes.
func ExampleList() {
	for _, p := range diag.List(context.Background()) {
		if p.Err != nil {
			fmt.Println(p.PID, p.Err, diag.Remedy(p.Err))
			continue
		}
		fmt.Println(p.PID, p.Name, p.Info.RuntimeVersion)
	}
}
