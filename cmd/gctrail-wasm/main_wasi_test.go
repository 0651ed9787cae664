//go:build !js

package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"strings"
	"syscall"
	"testing"
)

const example = "../../testdata/net10-wks-stacks.nettrace.gz"

func TestFormats(t *testing.T) {
	for format, want := range map[string]string{
		"":         `"verdict"`,
		"json":     `"verdict"`,
		"full":     `"verdict"`,
		"html":     "<!doctype html>",
		"markdown": "# ",
		"csv":      "number,",
	} {
		t.Run(format, func(t *testing.T) {
			args := []string{example}
			if format != "" {
				args = []string{"-format", format, example}
			}
			var out, errs bytes.Buffer
			if code := run(args, &out, &errs); code != 0 || !strings.Contains(out.String(), want) || errs.Len() != 0 {
				t.Errorf("%d: %.300s%s, want %s", code, out.String(), errs.String(), want)
			}
			if strings.Contains(want, `"`) && !json.Valid(out.Bytes()) {
				t.Errorf("no JSON: %.300s", out.String())
			}
		})
	}
}

// Redacted output does not have the name of the program.
func TestRedactedCommand(t *testing.T) {
	const name = "gcload"
	var outs [2]bytes.Buffer
	for i, args := range [][]string{{example}, {"-redact", example}} {
		var errs bytes.Buffer
		if code := run(args, &outs[i], &errs); code != 0 {
			t.Fatal(code, errs.String())
		}
	}
	if !strings.Contains(outs[0].String(), name) || strings.Contains(outs[1].String(), name) {
		t.Errorf("%.1000s\n%.1000s", outs[0].String(), outs[1].String())
	}
}

func TestErrors(t *testing.T) {
	for _, tt := range []struct {
		args []string
		code int
		want string
	}{
		{[]string{t.TempDir()}, failed, "is a folder: name the files in it"},
		{nil, invalidUsage, "name a trace"},
		{[]string{"-no"}, invalidUsage, "-no"},
		{[]string{"-format", "no", example}, invalidUsage, "valid formats: json, full, html, perfetto"},
		{[]string{"no"}, failed, "no"},
		{[]string{"program.go"}, failed, "program.go"},
		{[]string{"-help"}, 0, "-format"},
	} {
		var out, errs bytes.Buffer
		if code := run(tt.args, &out, &errs); code != tt.code || !strings.Contains(errs.String(), tt.want) || out.Len() != 0 {
			t.Errorf("%v: %d, want %d: %s%s", tt.args, code, tt.code, out.String(), errs.String())
		}
	}
}

func TestAbout(t *testing.T) {
	for flag, want := range map[string]string{"-version": "gctrail ", "-licenses": "klauspost"} {
		var out, errs bytes.Buffer
		if code := run([]string{flag}, &out, &errs); code != 0 || !strings.Contains(out.String(), want) {
			t.Errorf("%s: %d: %.300s%s", flag, code, out.String(), errs.String())
		}
	}
}

// WASI's error for a name in no folder of the host is that of a bad file descriptor.
func TestExplain(t *testing.T) {
	for want, err := range map[string]error{
		"open a.etl: " + syscall.EBADF.Error() + ": the host has given no folder for this name. Give it one as /, such as wasmtime --dir .::/": &fs.PathError{Op: "open", Path: "a.etl", Err: syscall.EBADF},
		"open a.etl: " + fs.ErrNotExist.Error(): &fs.PathError{Op: "open", Path: "a.etl", Err: fs.ErrNotExist},
	} {
		if got := explain(err); got.Error() != want || !errors.Is(got, err) {
			t.Errorf("%v, want %s", got, want)
		}
	}
}
