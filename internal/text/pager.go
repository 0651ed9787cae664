package text

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"strings"
	"syscall"
)

// fallback is the default pager: less with options to keep colours and to leave the text
// on the screen.
const fallback = "less -FRX"

// ChosenPager returns the command line of the user's pager: $GCTRAIL_PAGER, $PAGER
// or less. It is empty if the user wants none.
func ChosenPager() string {
	for _, name := range []string{"GCTRAIL_PAGER", "PAGER"} {
		if chosen, ok := os.LookupEnv(name); ok {
			if chosen = strings.TrimSpace(chosen); chosen == "cat" {
				return ""
			}
			return chosen
		}
	}
	return fallback
}

// A Pager writes text to a terminal. It holds back the first screen, and starts a
// pager when more comes. Without a pager it writes everything to Out.
type Pager struct {
	Out           io.Writer // the terminal
	Width, Height int       // of the terminal in cells; without a height nothing is held
	Command       string    // the pager's command line; empty for none
	Started       func()    // called before anything is shown; may be nil

	held    []byte
	rows    int // that held takes on the screen
	passing bool
	pager   *exec.Cmd
	in      io.WriteCloser // of the pager
	signals chan os.Signal
}

// Write writes p. The error wraps syscall.EPIPE if the user ended the pager.
func (w *Pager) Write(p []byte) (int, error) {
	if !w.passing {
		w.held = append(w.held, p...)
		if w.rows += w.rowsOf(p); w.rows < w.Height {
			return len(p), nil
		}
		return len(p), w.release(w.start())
	}
	if w.pager == nil {
		return w.Out.Write(p)
	}
	n, err := w.in.Write(p)
	return n, ended(err)
}

// Paging reports whether a pager is running.
func (w *Pager) Paging() bool { return w.pager != nil }

// Close shows the text held back, and waits until the user ends the pager.
func (w *Pager) Close() error {
	var err error
	if !w.passing {
		err = w.release(nil)
	}
	if w.pager == nil {
		return err
	}
	w.in.Close()
	_ = w.pager.Wait() // how a pager ends says nothing of the text
	signal.Stop(w.signals)
	w.pager = nil
	return nil
}

// rowsOf returns how many rows p takes on the screen, which breaks long lines.
func (w *Pager) rowsOf(p []byte) int {
	rows := 0
	for line := range bytes.Lines(p) {
		if w.Width > 0 {
			rows += max(0, Width(strings.TrimSuffix(string(line), "\n"))-1) / w.Width
		}
		if bytes.HasSuffix(line, []byte("\n")) {
			rows++
		}
	}
	return rows
}

// release shows the text held back: in the running pager, or on the terminal.
func (w *Pager) release(pager *exec.Cmd) error {
	w.passing, w.pager = true, pager
	if w.Started != nil {
		w.Started()
	}
	held := w.held
	w.held = nil
	if pager == nil {
		_, err := w.Out.Write(held)
		return err
	}
	_, err := w.in.Write(held)
	return ended(err)
}

// start starts the pager; nil if there is none, or it cannot be started.
func (w *Pager) start() *exec.Cmd {
	cmd := command(w.Command)
	if cmd == nil {
		return nil
	}
	cmd.Stdout, cmd.Stderr = w.Out, os.Stderr
	if _, ok := os.LookupEnv("LESS"); !ok {
		cmd.Env = append(os.Environ(), "LESS=FRX")
	}
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil
	}
	w.in = in
	// Ignore Ctrl-C, because in the pager it ends a search, and must not end this
	// program.
	w.signals = make(chan os.Signal, 1)
	signal.Notify(w.signals, os.Interrupt)
	if cmd.Start() != nil {
		in.Close()
		signal.Stop(w.signals)
		return nil
	}
	return cmd
}

// command makes the command for a command line, which a shell reads if it is
// more than words; nil if its program does not exist.
func command(line string) *exec.Cmd {
	words := strings.Fields(line)
	if len(words) == 0 {
		return nil
	}
	const special = "|&;<>()$`\\\"'*?[#~=%"
	if !strings.ContainsAny(words[0], special) {
		if _, err := exec.LookPath(words[0]); err != nil {
			return nil
		}
	}
	if runtime.GOOS != "windows" && strings.ContainsAny(line, special) {
		return exec.Command("sh", "-c", line)
	}
	return exec.Command(words[0], words[1:]...)
}

// ended turns an error of writing to a pager into EPIPE.
func ended(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("pager: %w", syscall.EPIPE)
}
