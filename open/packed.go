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

// A packed is the source of a compressed trace. It checks a checksum after the trace's
// end, because any event may be wrong if it does not match.
type packed struct {
	trace.Source
	damage func() []trace.Damage // of the wrapping, once the events are read
}

// Events yields the events, and then records faults of the wrapping.
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

// note records damage of the wrapping, unless the source has already reported it.
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

// maxRest bounds the bytes read behind a trace.
const maxRest = 16 << 20

// rest reads the bytes behind a trace, and returns a checksum that does not match.
func (f *found) rest() []trace.Damage {
	if _, err := io.CopyN(io.Discard, f.r, maxRest); isChecksum(err) {
		return []trace.Damage{{Off: f.packed.n, Err: err}}
	}
	return nil
}

// isChecksum reports whether err means that everything was read but a checksum does not
// match.
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

// salvage copies the readable part of r to a scratch; what describes it in errors.
// An error of r counts only if there is nothing before it.
func (p *peeler) salvage(r *salvage, limit int64, what string) (io.ReaderAt, int64, error) {
	f, n, err := spool(p.scratch, r, limit, what)
	if err == nil && n == 0 && r.err != nil {
		err = errors.Join(r.err, f.Close())
	}
	if err != nil {
		return nil, 0, err
	}
	p.closers = append(p.closers, f.Close)
	return f, n, nil
}
