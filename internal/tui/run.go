// Package tui shows a watch in a terminal: processes with their collections as they
// happen, and one process in depth. It computes nothing, because all figures come from a
// watch.Watcher.
package tui

import (
	"cmp"
	"context"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/gctrail/gctrail/internal/watch"
)

// Options configure the screen.
type Options struct {
	// Snapshot returns the present state.
	Snapshot func() *watch.Snapshot
	// Save writes the trace of a process to a file, and returns its path and size.
	Save func(*watch.Process) (path string, size int, err error)
	// DumpCost describes the cost of a heap snapshot of a process in a few words. Dump takes one,
	// and returns its path and a few words about it.
	DumpCost func(*watch.Process) string
	Dump     func(*watch.Process) (path, about string, err error)
	// Reason explains in a few words why a process is not watched, Remedy how to change
	// that, if possible.
	Reason, Remedy func(error) string
	// Sort is one of Sorts; the first is the default.
	Sort string
	// Colour and Unicode describe the terminal; without them the screen is plain text in
	// ASCII.
	Colour, Unicode bool
	// Columns limits the width of the screen, 0 for all of the terminal.
	Columns int
	// WindowSize returns the size of the window, 0 if unknown. It is nil if the
	// terminal reports every change, with the right size.
	WindowSize func() (width, height int)
}

// refresh is how often the screen is drawn anew.
const refresh = 500 * time.Millisecond

// framesPerSecond is how often changes by keys are drawn.
const framesPerSecond = 20

// Run shows the watch until the user quits or ctx ends, and leaves the terminal
// as it was. work runs meanwhile, and has ended when Run returns; when it ends, so
// does Run, and when it panics, Run does so in a terminal that is restored.
func Run(ctx context.Context, opts Options, work func(context.Context)) error {
	return run(ctx, opts, work)
}

func run(ctx context.Context, opts Options, work func(context.Context), how ...tea.ProgramOption) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	program := tea.NewProgram(newModel(opts), append(how, tea.WithoutSignalHandler(), tea.WithFPS(framesPerSecond), tea.WithFilter(opts.measured))...)
	context.AfterFunc(ctx, program.Quit)
	done := make(chan any)
	go func() {
		defer func() {
			failed := recover()
			cancel()
			done <- failed
		}()
		work(ctx)
	}()
	_, err := program.Run()
	cancel()
	if failed := <-done; failed != nil {
		panic(failed)
	}
	return err
}

// measured replaces the size in a message by that of the window.
func (o *Options) measured(_ tea.Model, msg tea.Msg) tea.Msg {
	if msgSize, ok := msg.(tea.WindowSizeMsg); ok {
		return o.window(msgSize)
	}
	return msg
}

// window returns the size of the window, or else the one in the message.
func (o *Options) window(msgSize tea.WindowSizeMsg) tea.WindowSizeMsg {
	if o.WindowSize == nil {
		return msgSize
	}
	width, height := o.WindowSize()
	return tea.WindowSizeMsg{Width: cmp.Or(width, msgSize.Width), Height: cmp.Or(height, msgSize.Height)}
}
