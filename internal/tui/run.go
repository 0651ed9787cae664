// Package tui is the face of a watch in a terminal: processes with their
// collections as they happen, and one process in depth. What it shows comes from
// a watch.Watcher; it computes nothing.
package tui

import (
	"context"
	"errors"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/gctrail/gctrail/internal/watch"
)

// Options say what is shown, and how.
type Options struct {
	// Snapshot returns what is known now.
	Snapshot func() *watch.Snapshot
	// Save writes the trace of a process to a file, and returns its path.
	Save func(*watch.Process) (path string, err error)
	// Reason says in a few words why a process is not watched, Remedy what to do
	// about it, if anything.
	Reason, Remedy func(error) string
	// Sort is one of Sorts; the first is the default.
	Sort string
	// Colour and Unicode say what the terminal shows; without them it is plain
	// text in ASCII.
	Colour, Unicode bool
	// Columns limits the width that is used, 0 for all of the terminal.
	Columns int
}

// refresh is how often the screen is drawn anew.
const refresh = 500 * time.Millisecond

// Run shows the watch until the user quits or ctx ends, and leaves the terminal
// as it was. work runs meanwhile; when it panics, the terminal is restored
// first.
func Run(ctx context.Context, opts Options, work func(context.Context)) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	m := newModel(opts)
	done := make(chan struct{})
	m.work = func() tea.Msg {
		defer close(done)
		work(ctx)
		return nil
	}
	program := tea.NewProgram(m, tea.WithoutSignalHandler(), tea.WithFPS(20))
	stop := context.AfterFunc(ctx, program.Quit)
	defer stop()
	_, err := program.Run()
	cancel()
	if !errors.Is(err, tea.ErrProgramPanic) {
		<-done
	}
	return err
}
