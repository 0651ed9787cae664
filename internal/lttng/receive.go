package lttng

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// A NoSessionError reports a session that a daemon does not have.
type NoSessionError struct {
	Address Address
	Others  []string // addresses of existing sessions
}

func (e *NoSessionError) Error() string {
	if len(e.Others) == 0 {
		return e.Address.String() + ": the relay daemon has no session"
	}
	return e.Address.String() + ": no such session; the relay daemon has " + strings.Join(e.Others, ", ")
}

// pollTime is how long to wait when no stream has anything new. Partial packets reach the
// daemon with the session's live timer, every second or so.
const pollTime = 200 * time.Millisecond

// A Receiver stores a session in a folder.
type Receiver struct {
	client  *client
	session uint64
	folder  string
	streams map[uint64]*received
	more    bool // streams may be added
	changed bool // since the last round
}

// A received stream is stored in a file.
type received struct {
	stream
	file *os.File
	done bool
}

// Attach attaches to a daemon's session. The error is a *NoSessionError if it has none of
// that name.
func Attach(ctx context.Context, a Address, folder string) (*Receiver, error) {
	c, err := dial(ctx, a.Daemon)
	if err != nil {
		return nil, err
	}
	missing := &NoSessionError{Address: a}
	for _, s := range c.sessions() {
		is := Address{a.Daemon, text(s.Host[:]), text(s.Name[:])}
		if is != a {
			missing.Others = append(missing.Others, is.String())
			continue
		}
		r := &Receiver{client: c, session: s.ID, folder: folder, streams: make(map[uint64]*received), more: true}
		if err := r.add(c.attach(s.ID)); err != nil {
			return nil, errors.Join(err, r.Close())
		}
		return r, nil
	}
	if c.err != nil {
		return nil, errors.Join(c.err, c.conn.Close())
	}
	return nil, errors.Join(missing, c.conn.Close())
}

// text returns the characters before a zero.
func text(b []byte) string {
	b, _, _ = bytes.Cut(b, []byte{0})
	return string(b)
}

// Receive stores events until the session ends or ctx is done.
func (r *Receiver) Receive(ctx context.Context) error {
	for ctx.Err() == nil {
		r.changed = false
		over, err := r.round()
		if over || err != nil {
			return err
		}
		if r.changed {
			continue
		}
		select {
		case <-ctx.Done():
		case <-time.After(pollTime):
		}
	}
	return nil
}

// round receives the new packets of each stream. It reports whether the session has
// ended.
func (r *Receiver) round() (over bool, err error) {
	if r.more {
		var fresh []stream
		fresh, r.more = r.client.newStreams(r.session)
		if err := r.add(fresh); err != nil {
			return false, err
		}
	}
	over = !r.more
	for _, s := range r.streams {
		if s.Metadata != 0 || s.done {
			continue
		}
		if err := r.advance(s); err != nil {
			return false, err
		}
		over = over && s.done
	}
	return over, r.describe()
}

// advance stores the packets of a stream that there are.
func (r *Receiver) advance(s *received) error {
	for r.client.err == nil {
		i := r.client.next(s.ID)
		if r.client.err != nil {
			break
		}
		if i.Flags&flagNewMetadata != 0 {
			if err := r.describe(); err != nil {
				return err
			}
		}
		switch i.Status {
		case statusOK:
		case indexRetry, indexInactive:
			return nil
		case indexHangup, indexEOF:
			s.done = true
			return nil
		default:
			return ErrProtocol
		}
		if err := r.store(s, &i); err != nil {
			return err
		}
	}
	return r.client.err
}

// store stores a packet. It may have to fetch metadata and streams first, because
// otherwise the daemon refuses the packet.
func (r *Receiver) store(s *received, i *index) error {
	for r.client.err == nil {
		status, flags := r.client.packet(s.ID, i, s.file)
		if r.client.err != nil {
			break
		}
		if status == statusOK {
			r.changed = true
			return nil
		}
		switch {
		case status == packetEOF:
			s.done = true
			return nil
		case flags&flagNewMetadata != 0:
			if err := r.describe(); err != nil {
				return err
			}
		case flags&flagNewStreams != 0:
			fresh, more := r.client.newStreams(r.session)
			if r.more = more; r.add(fresh) != nil {
				return r.client.err
			}
		case status == packetRetry:
			time.Sleep(pollTime)
		default:
			return ErrProtocol
		}
	}
	return r.client.err
}

// describe stores new metadata.
func (r *Receiver) describe() error {
	for _, s := range r.streams {
		for s.Metadata != 0 && r.client.metadata(s.ID, s.file) {
			r.changed = true
		}
	}
	return r.client.err
}

// add makes the files of streams. Each trace has a folder, whose name contains the size
// of its pointers.
func (r *Receiver) add(fresh []stream) error {
	for _, s := range fresh {
		if r.streams[s.ID] != nil {
			continue
		}
		folder := filepath.Join(r.folder, fmt.Sprintf("trace-%d", s.Trace))
		if strings.HasSuffix(text(s.Path[:]), "32-bit") {
			folder = filepath.Join(folder, "32-bit")
		} else {
			folder = filepath.Join(folder, "64-bit")
		}
		name := "metadata"
		if s.Metadata == 0 {
			name = fmt.Sprintf("stream-%d", s.ID)
		}
		if err := os.MkdirAll(folder, 0o777); err != nil {
			return err
		}
		file, err := os.OpenFile(filepath.Join(folder, name), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o666)
		if err != nil {
			return err
		}
		r.streams[s.ID] = &received{stream: s, file: file}
		r.changed = true
	}
	return r.client.err
}

// Close ends the connection. The received events stay.
func (r *Receiver) Close() error {
	errs := []error{r.client.conn.Close()}
	for _, s := range r.streams {
		errs = append(errs, s.file.Close())
	}
	return errors.Join(errs...)
}
