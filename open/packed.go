package open

import (
	"errors"
	"io"
	"iter"
	"slices"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zip"
	"github.com/klauspost/compress/zstd"

	"github.com/gctrail/gctrail/trace"
)

// A packed is the source of a compressed trace. A checksum may come after the
// trace's end: if it does not match, any event may be wrong.
type packed struct {
	trace.Source
	damage func() []trace.Damage // of the wrapping, once the events are read
}

// Events yields the events, and then notes what is wrong with the wrapping.
func (p *packed) Events() iter.Seq2[*trace.Event, error] {
	return func(yield func(*trace.Event, error) bool) {
		for ev, err := range p.Source.Events() {
			if !yield(ev, err) || err != nil {
				return
			}
		}
		for _, d := range p.damage() {
			p.note(d)
		}
	}
}

// note records damage of the wrapping, unless the source has met it.
func (p *packed) note(damage trace.Damage) {
	loss := p.Loss()
	switch {
	case slices.ContainsFunc(loss.Damage, func(d trace.Damage) bool { return errors.Is(d.Err, damage.Err) }):
		return
	case errors.Is(damage.Err, io.ErrUnexpectedEOF):
		loss.Truncated = true
	default:
		loss.AddDamage(damage)
	}
	if loss.Exactness == trace.Exact {
		loss.Exactness = trace.LowerBound
	}
}

// maxRest bounds what is read behind a trace.
const maxRest = 16 << 20

// rest reads what follows a trace, and returns a checksum that does not match.
func (f *found) rest() []trace.Damage {
	if _, err := io.CopyN(io.Discard, f.r, maxRest); isChecksum(err) {
		return []trace.Damage{{Off: f.packed.n, Err: err}}
	}
	return nil
}

// isChecksum reports whether err says that all was read, and that a checksum does not
// match it.
func isChecksum(err error) bool {
	return errors.Is(err, gzip.ErrChecksum) || errors.Is(err, zip.ErrChecksum) || errors.Is(err, zstd.ErrCRCMismatch) || errors.Is(err, errXZCheck)
}

// A salvage ends where its Reader fails.
type salvage struct {
	io.Reader
	err error // why it ended early
}

func (s *salvage) Read(p []byte) (int, error) {
	n, err := s.Reader.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		s.err, err = err, io.EOF
	}
	return n, err
}

// salvage copies what can be read of r to a temporary file, which what describes. An
// error of r is one only if there is nothing before it.
func (p *peeler) salvage(r *salvage, limit int64, what string) (io.ReaderAt, int64, error) {
	f, n, err := spool(r, limit, what)
	if err == nil && n == 0 && r.err != nil {
		err = errors.Join(r.err, f.Close())
	}
	if err != nil {
		return nil, 0, err
	}
	p.closers = append(p.closers, f.Close)
	return f, n, nil
}
