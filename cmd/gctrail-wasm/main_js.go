package main

import (
	"context"
	"fmt"
	"runtime/debug"
	"syscall/js"
	"time"

	"github.com/gctrail/gctrail/internal/text"
	"github.com/gctrail/gctrail/open"
)

// main defines gctrail(request, report) in the worker's scope, which returns the result or an
// object with an error.
func main() {
	debug.SetGCPercent(growth)
	js.Global().Set("gctrail", js.FuncOf(func(_ js.Value, args []js.Value) any { return answer(args[0], args[1]) }))
	js.Global().Get("ready").Invoke(program(), formats())
	select {} // until the worker ends
}

// formats lists the formats of exports.
func formats() any {
	return text.Each(exportFormats(), func(f *exportFormat) any { return map[string]any{"name": f.Name, "suffix": f.Suffix, "says": f.Says} })
}

// answer carries a request out. report is called with bytes read, bytes in all and
// collections.
func answer(request, report js.Value) (result any) {
	defer func() {
		if r := recover(); r != nil {
			result = failure(fmt.Errorf("this is a fault of gctrail: %v", r))
		}
	}()
	data, err := do(request, func(read, size, collections int64) { report.Invoke(read, size, collections) })
	if err != nil {
		return failure(err)
	}
	array := js.Global().Get("Uint8Array").New(len(data))
	js.CopyBytesToJS(array, data)
	return array
}

func failure(err error) any { return map[string]any{"error": err.Error()} }

func do(request js.Value, progress func(read, size, collections int64)) ([]byte, error) {
	j := &job{
		program: program(), files: contents(request.Get("files")), beside: contents(request.Get("beside")), progress: progress,
	}
	j.redact.On, j.redact.KeepSystem = request.Get("redact").Truthy(), request.Get("system").Truthy()
	ctx := context.Background()
	if err := j.Select(textOf(request, "process"), textOf(request, "from"), textOf(request, "to")); err != nil {
		return nil, err
	}
	format := request.Get("format").String()
	switch kind := request.Get("kind").String(); kind {
	case "page":
		return j.Page(ctx)
	case "entry":
		return j.Entry(ctx)
	case "report":
		return j.Report(ctx, format)
	case "convert":
		return j.Convert(ctx, format)
	case "diff":
		return j.Diff(ctx, request.Get("before").Int())
	default:
		return nil, fmt.Errorf("there is no request %q", kind)
	}
}

// textOf returns a text of a request, empty where it has none.
func textOf(request js.Value, name string) string {
	if v := request.Get(name); v.Type() == js.TypeString {
		return v.String()
	}
	return ""
}

// contents returns files of a request, none where it has no such files.
func contents(files js.Value) []open.Content {
	if files.IsUndefined() {
		return nil
	}
	all := make([]open.Content, files.Length())
	for i := range all {
		f := files.Index(i)
		size := int64(f.Get("size").Float())
		all[i] = open.Content{ReaderAt: newFile(f, size), Size: size, Name: f.Get("name").String(), Modified: time.UnixMilli(int64(f.Get("lastModified").Float()))}
	}
	return all
}
