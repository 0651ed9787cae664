package docs

import (
	"fmt"
	"io"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// onTerminal gives the command a terminal, on which a q ends it.
func (p *process) onTerminal() {
	p.t.Helper()
	master, slave, err := openTerminal()
	if err != nil {
		p.t.Fatal(err)
	}
	p.t.Cleanup(func() { _ = master.Close() })
	p.cmd.Stdin, p.cmd.Stdout, p.cmd.Stderr = slave, slave, slave
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	p.screen = master
	go func() { _, _ = io.Copy(p.said, master) }() // until the last program on it has ended
}

// openTerminal returns the two sides of a terminal of 80 columns and 30 lines.
func openTerminal() (master, slave *os.File, err error) {
	if master, err = os.OpenFile("/dev/ptmx", os.O_RDWR, 0); err != nil {
		return nil, nil, err
	}
	fd := int(master.Fd())
	n, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	if err == nil {
		err = unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0)
	}
	if err == nil {
		err = unix.IoctlSetWinsize(fd, unix.TIOCSWINSZ, &unix.Winsize{Row: 30, Col: 80})
	}
	if err == nil {
		slave, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|syscall.O_NOCTTY, 0)
	}
	return master, slave, err
}
