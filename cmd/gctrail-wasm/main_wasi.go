//go:build !js

package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"syscall"

	"github.com/gctrail/gctrail/internal/assets"
	"github.com/gctrail/gctrail/internal/convert"
	"github.com/gctrail/gctrail/open"
)

const (
	invalidUsage = 2
	failed       = 3
)

func main() {
	debug.SetGCPercent(growth)
	os.Exit(run(os.Args[1:], os.Stdout, os.Stderr))
}

// options has the values of the flags.
type options struct {
	format            string
	redact            convert.Redaction
	licenses, version bool
}

func run(args []string, stdout, stderr io.Writer) int {
	var o options
	flags := flag.NewFlagSet("gctrail", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.StringVar(&o.format, "format", "json", "what to write: "+formats())
	flags.BoolVar(&o.redact.On, "redact", false, "remove what identifies the program")
	flags.BoolVar(&o.redact.KeepSystem, "keep-system", false, "with -redact, keep the names of the framework")
	flags.BoolVar(&o.licenses, "licenses", false, "print the licences of what this is made of")
	flags.BoolVar(&o.version, "version", false, "print the version")
	switch err := flags.Parse(args); {
	case errors.Is(err, flag.ErrHelp):
		return 0
	case err != nil:
		return invalidUsage
	}
	data, err := o.answer(flags.Args())
	if err == nil {
		_, err = stdout.Write(data)
	}
	if err != nil {
		fmt.Fprintln(stderr, "gctrail:", err)
		if errors.Is(err, errUsage) {
			return invalidUsage
		}
		return failed
	}
	return 0
}

// errUsage is the error of an invalid command line.
var errUsage = errors.New("invalid usage")

// answer returns the report on the files, or an export of them.
func (o *options) answer(paths []string) ([]byte, error) {
	switch {
	case o.licenses:
		return []byte(assets.Licenses()), nil
	case o.version:
		return []byte(program() + "\n"), nil
	case len(paths) == 0:
		return nil, fmt.Errorf("%w: name a trace or heap snapshot; -help lists the options", errUsage)
	}
	j := &job{program: program(), redact: o.redact}
	for _, path := range paths {
		f, err := os.Open(path)
		if err != nil {
			return nil, explain(err)
		}
		defer f.Close()
		info, err := f.Stat()
		if err != nil {
			return nil, err
		}
		if info.IsDir() {
			return nil, fmt.Errorf("%s is a folder: name the files in it, or pack it as a .zip", path)
		}
		j.files = append(j.files, open.Content{ReaderAt: f, Size: info.Size(), Name: filepath.Base(path)})
	}
	ctx := context.Background()
	switch o.format {
	case "json", "full":
		return j.Report(ctx, o.format)
	case "html":
		return j.Page(ctx)
	}
	if !known(o.format) {
		return nil, fmt.Errorf("%w: there is no format %q; valid formats: %s", errUsage, o.format, formats())
	}
	return j.Convert(ctx, o.format)
}

// explain adds that the host has to give a folder, if Go finds none in which a name could be,
// because it does not know the folder of a relative name if the host calls that one ".".
func explain(err error) error {
	if !errors.Is(err, syscall.EBADF) {
		return err
	}
	return fmt.Errorf("%w: the host has given no folder for this name. Give it one as /, such as wasmtime --dir .::/", err)
}

// formats lists the formats: json is the report, full the report with every collection.
func formats() string {
	list := "json, full, html"
	for _, f := range exportFormats() {
		list += ", " + f.Name
	}
	return list
}

func known(format string) bool {
	return slices.ContainsFunc(exportFormats(), func(f exportFormat) bool { return f.Name == format })
}
