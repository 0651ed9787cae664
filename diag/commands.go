package diag

import (
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"strings"
)

// Resume lets a runtime continue that waits at startup. It has no effect on a runtime
// that does not wait. A runtime that waits for several diagnostic ports must be resumed
// by each.
func (c *Client) Resume(ctx context.Context) error {
	_, err := c.ask(ctx, newRequest(cmdResumeRuntime))
	return err
}

// Environment returns the environment that a process started with, as
// "name=value" (.NET 5 and later).
func (c *Client) Environment(ctx context.Context) ([]string, error) {
	a, err := c.ask(ctx, newRequest(cmdProcessEnvironment))
	if err != nil {
		return nil, err
	}
	var vars []string
	if environment(a, &vars); a.err != nil {
		return nil, a.err
	}
	return vars, nil
}

// environment lays out the variables of a process.
func environment(m *message, vars *[]string) {
	list(m, vars, 4, func(v *string) { m.str("variable", v) })
}

// maxEnvironment bounds the environment that is read. Linux allows 6 MB for arguments and
// environment together, which would be 12 MB in UTF-16.
const maxEnvironment = 16 << 20

// environmentBehind reads the environment, which follows the answer with its size.
func (m *message) environmentBehind(in io.Reader) (err error) {
	var size uint32
	if m.u32(&size); m.err != nil || size > maxEnvironment {
		return fmt.Errorf("%w: an environment of %d bytes", ErrProtocol, size)
	}
	m.b, err = io.ReadAll(io.LimitReader(in, int64(size)))
	if err == nil && len(m.b) < int(size) {
		err = io.ErrUnexpectedEOF
	}
	return err
}

// SetEnvironment sets an environment variable of a runtime that waits at
// startup; an empty value removes it (.NET 6 and later).
func (c *Client) SetEnvironment(ctx context.Context, name, value string) error {
	req := newRequest(cmdSetEnvironment)
	req.name("variable", &name)
	if strings.ContainsRune(name, '=') {
		req.refuse("variable", "its name contains =")
	}
	req.str("value", &value)
	return c.perform(ctx, req)
}

// PerfMap selects the files for perf that EnablePerfMap makes a runtime write to its
// temporary folder.
type PerfMap uint32

const (
	PerfMapAll PerfMap = iota + 1
	PerfMapJitDump
	PerfMapOnly
)

// EnablePerfMap makes a runtime write the names of its methods, both existing
// and future ones (.NET 8 and later).
func (c *Client) EnablePerfMap(ctx context.Context, kind PerfMap) error {
	req := newRequest(cmdEnablePerfMap)
	if kind < PerfMapAll || kind > PerfMapOnly {
		req.refuse("kind of perf map", "it is %d", kind)
	}
	req.u32((*uint32)(&kind))
	return c.perform(ctx, req)
}

// DisablePerfMap undoes EnablePerfMap.
func (c *Client) DisablePerfMap(ctx context.Context) error {
	return c.perform(ctx, newRequest(cmdDisablePerfMap))
}

// perform sends a command whose answer is an HRESULT.
func (c *Client) perform(ctx context.Context, req *message) error {
	a, err := c.ask(ctx, req)
	if err != nil {
		return err
	}
	if code := HRESULT(binary.LittleEndian.Uint32(append(a.b, 0, 0, 0, 0))); int32(code) < 0 {
		return &RuntimeError{req.cmd.String(), code}
	}
	return nil
}
