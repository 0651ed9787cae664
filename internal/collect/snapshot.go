package collect

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/gctrail/gctrail/clr"
	"github.com/gctrail/gctrail/nettrace"
	"github.com/gctrail/gctrail/trace"
)

// A Description describes a traced process apart from its trace.
type Description struct {
	CommandLine, OS, Arch string
	Runtime               string // version, "10.0.12"; empty if unknown
	Server, Concurrent    *bool  // of its GC; nil if unknown
}

// WriteSnapshot writes the part received so far of a trace that is still being recorded,
// up to the end of an object, as a complete trace. The snapshot gets the process, version
// and settings from p if the trace lacks them, because a runtime reports them when a
// trace ends. Events missing from the received part are missing from the snapshot too.
// Damaged input is written unchanged. The error is the writer's, or a *trace.FormatError.
func WriteSnapshot(w io.Writer, received []byte, p *Description) error {
	in := nettrace.NewReader(bytes.NewReader(received), nettrace.Options{Stacks: true})
	var out bytes.Buffer
	s := snapshot{in: in, seen: map[clr.Kind]bool{}}
	if err := s.copy(&out); err != nil && !errors.Is(err, errRefused) {
		return err
	}
	if s.out == nil || s.failed || in.Loss().Damaged > 0 {
		size, end := in.Whole()
		_, err := w.Write(append(received[:size:size], end...))
		return err
	}
	if err := s.end(p); err != nil {
		return err
	}
	_, err := w.Write(out.Bytes())
	return err
}

// A snapshot copies the events of a trace.
type snapshot struct {
	in     *nettrace.Reader
	out    *nettrace.Writer // nil before the first event
	seen   map[clr.Kind]bool
	last   trace.Event // only its numbers count
	lost   uint64      // events that the copy reports as lost
	failed bool        // the copy lacks events
}

// errRefused reports an event that the writer does not take.
var errRefused = errors.New("refused")

func (s *snapshot) copy(to io.Writer) error {
	for ev, err := range s.in.Events() {
		if err != nil {
			return err
		}
		if s.out == nil {
			if s.out, err = nettrace.NewWriter(to, optionsLike(s.in.Info())); err != nil {
				return err
			}
		}
		s.recordLost(ev.PID, ev.TID)
		s.seen[clr.KindOf(ev.Desc.Provider, ev.Desc.ID)] = true
		if err := s.out.Write(ev.TID, ev); err != nil {
			s.failed = true
			return fmt.Errorf("%w: %w", errRefused, err)
		}
		if s.last.Desc == nil || ev.Ticks > s.last.Ticks {
			s.last = trace.Event{Desc: ev.Desc, Ticks: ev.Ticks, PID: ev.PID, TID: ev.TID, PointerSize: ev.PointerSize}
		}
	}
	return nil
}

// optionsLike returns the options for a trace with the head of another.
func optionsLike(info *trace.Info) nettrace.WriterOptions {
	opt := nettrace.WriterOptions{
		Version: 4, Start: info.Start, Frequency: info.Clock.Frequency, PointerSize: info.PointerSize, CPUs: info.CPUs, PID: info.PID,
	}
	if info.Format == "nettrace V6" {
		opt.Version = 6
	}
	return opt
}

// recordLost records newly found losses in the copy.
func (s *snapshot) recordLost(pid, tid uint64) {
	now := s.in.Loss().Events
	for now > s.lost {
		n := min(now-s.lost, math.MaxUint32)
		s.out.Lost(pid, tid, uint32(n))
		s.lost += n
	}
}

// end adds the events that the runtime would raise at the end of the trace.
func (s *snapshot) end(p *Description) error {
	s.recordLost(s.last.PID, s.last.TID)
	line := clr.NewUTF16(p.CommandLine)
	if !s.seen[clr.KindProcessInfo] && p.CommandLine != "" {
		err := s.write(clr.EventPipeProvider, &clr.ProcessInfo{
			CommandLine: line, OSInformation: clr.NewUTF16(p.OS), ArchInformation: clr.NewUTF16(p.Arch),
		})
		if err != nil {
			return err
		}
	}
	told := s.seen[clr.KindRuntimeInformationStart] || s.seen[clr.KindRuntimeInformationDCStart]
	if info, ok := p.runtimeInformation(); ok && !told {
		info.CommandLine = line
		if err := s.write(clr.RundownProvider, info); err != nil {
			return err
		}
	}
	return s.out.Close()
}

// write adds an event at the end of the trace.
func (s *snapshot) write(provider string, e clr.Event) error {
	k := e.EventKind()
	version := slices.Max(slices.Collect(k.Versions()))
	d := &trace.Descriptor{
		Provider: provider, ID: k.ID(), Version: version, Opcode: k.Opcode(), Level: k.Level(), Keywords: k.Keywords(),
	}
	if provider == clr.EventPipeProvider { // the one whose events come with a description
		d.Name, d.Fields = k.String(), k.Fields(version)
	}
	ev := s.last
	ev.Desc, ev.CPU = d, trace.UnknownCPU
	ev.Payload = e.Append(nil, d.Version, ev.PointerSize)
	return s.out.Write(ev.TID, &ev)
}

// runtimeInformation returns the runtime's description of itself; false if its
// version or flavour of GC is not known.
func (p *Description) runtimeInformation() (*clr.RuntimeInformationDCStart, bool) {
	var v [3]uint16
	if n, _ := fmt.Sscanf(p.Runtime, "%d.%d.%d", &v[0], &v[1], &v[2]); n < len(v) || p.Server == nil {
		return nil, false
	}
	info := &clr.RuntimeInformationDCStart{
		Sku:             clr.RuntimeSkuCoreClr,
		BclMajorVersion: v[0], BclMinorVersion: v[1], BclBuildNumber: v[2],
		VMMajorVersion: v[0], VMMinorVersion: v[1], VMBuildNumber: v[2],
	}
	if *p.Server {
		info.StartupFlags |= clr.StartupFlagsServerGC
	}
	if p.Concurrent != nil && *p.Concurrent {
		info.StartupFlags |= clr.StartupFlagsConcurrentGC
	}
	return info, true
}
