package cli

import (
	"compress/gzip"
	"encoding/hex"
	"flag"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/gctrail/gctrail/internal/extent"
)

func TestMain(m *testing.M) {
	if os.Getenv("GCTRAIL_TEST_MAIN") != "" { // a test runs gctrail as it is run
		os.Exit(Main(os.Args[1:]))
	}
	if err := os.Setenv("LC_ALL", "C.UTF-8"); err != nil { // it decides which characters are printed
		panic(err)
	}
	if !extent.All() { // half of the parallel tests only wait; in a run of all they run programs
		if err := flag.Set("test.parallel", strconv.Itoa(2*runtime.GOMAXPROCS(0))); err != nil {
			panic(err)
		}
	}
	testscript.Main(m, map[string]func(){"gctrail": func() { os.Exit(Main(os.Args[1:])) }})
}

// TestScripts runs the files of testdata/script: commands, and what they must print.
func TestScripts(t *testing.T) {
	traces, err := filepath.Abs("../../testdata")
	if err != nil {
		t.Fatal(err)
	}
	dir, files := "testdata/script", []string(nil)
	switch {
	case runtime.GOOS == "windows" && !extent.All(): // a program starts slowly there
		dir = ""
		for _, name := range []string{"merge", "mcp", "output", "ps", "top", "unreadable"} {
			files = append(files, filepath.Join("testdata", "script", name+".txtar"))
		}
	case raced && os.Getenv("GCTRAIL_TURN") != "": // half of them in each second turn: the others leave this package out
		dir = ""
		all, err := filepath.Glob("testdata/script/*.txtar")
		if err != nil {
			t.Fatal(err)
		}
		for i, path := range all {
			if (i+extent.Turn()/2)%2 == 0 {
				files = append(files, path)
			}
		}
	}
	testscript.Run(t, testscript.Params{
		Dir:           dir,
		Files:         files,
		UpdateScripts: extent.Update(),
		Setup: func(env *testscript.Env) error {
			env.Setenv("TRACES", traces)
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"unzip":  unzipTrace,
			"poke":   poke,
			"exits":  exits,
			"age":    age,
			"rowsof": rowsOf,
		},
	})
}

// unzipTrace NAME FILE [SIZE] writes a trace of testdata as FILE, cut to SIZE
// bytes.
func unzipTrace(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 || len(args) > 3 {
		ts.Fatalf("usage: unzip NAME FILE [SIZE]")
	}
	f, err := os.Open(filepath.Join(ts.Getenv("TRACES"), args[0]))
	ts.Check(err)
	defer f.Close()
	z, err := gzip.NewReader(f)
	ts.Check(err)
	data, err := io.ReadAll(z)
	ts.Check(err)
	if len(args) == 3 {
		n, err := strconv.Atoi(args[2])
		ts.Check(err)
		data = data[:n]
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), data, 0o666))
}

// poke FILE OFFSET HEX overwrites bytes.
func poke(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: poke FILE OFFSET HEX")
	}
	off, err := strconv.ParseInt(args[1], 0, 64)
	ts.Check(err)
	b, err := hex.DecodeString(args[2])
	ts.Check(err)
	f, err := os.OpenFile(ts.MkAbs(args[0]), os.O_RDWR|os.O_CREATE, 0o666)
	ts.Check(err)
	defer f.Close()
	_, err = f.WriteAt(b, off)
	ts.Check(err)
}

// age FILE [TIME] sets the time of a file: to TIME, or to an hour ago.
func age(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 1 || len(args) > 2 {
		ts.Fatalf("usage: age FILE [TIME]")
	}
	at := time.Now().Add(-time.Hour)
	if len(args) == 2 {
		var err error
		at, err = time.Parse(time.RFC3339, args[1])
		ts.Check(err)
	}
	ts.Check(os.Chtimes(ts.MkAbs(args[0]), time.Time{}, at))
}

// exits CODE ARG... runs gctrail, which must end with that code.
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 1 {
		ts.Fatalf("usage: exits CODE ARG...")
	}
	code := 0
	if err := ts.Exec("gctrail", args[1:]...); err != nil {
		exit, ok := err.(interface{ ExitCode() int })
		if !ok {
			ts.Fatalf("gctrail: %v", err)
		}
		code = exit.ExitCode()
	}
	if strconv.Itoa(code) != args[0] {
		ts.Fatalf("exit code %d, want %s", code, args[0])
	}
}

// rowsOf FILE N checks the number of lines of a file, or of stdout.
func rowsOf(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: rowsof FILE N")
	}
	if n := strings.Count(ts.ReadFile(args[0]), "\n"); strconv.Itoa(n) != args[1] {
		ts.Fatalf("%s has %d lines, want %s", args[0], n, args[1])
	}
}
