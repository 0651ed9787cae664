package cli

import (
	"errors"
	"fmt"
	"os"

	"github.com/gctrail/gctrail/diag"
	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/gc/findings"
	"github.com/gctrail/gctrail/internal/provider"
	"github.com/gctrail/gctrail/internal/report"
	"github.com/gctrail/gctrail/internal/text"
	"github.com/gctrail/gctrail/internal/units"
	"github.com/gctrail/gctrail/nettrace"
	"github.com/gctrail/gctrail/trace"
)

// tell says what was collected, what it lacks, and what to do with it.
func (c *capture) tell(std *stdio) {
	if c.out == nil || c.out.Size() == 0 {
		return
	}
	k := kept{c.reader, &c.found, c.collections.Load()}
	if c.ring != nil {
		var err error
		if k, err = review(c.path); err != nil {
			std.complain(err)
			return
		}
	}
	std.warn("gctrail", fmt.Sprintf("%s: %s, %s of events", c.path, units.Bytes(c.out.Size()), units.Duration(k.Info().Last)))
	c.tellStop(std)
	c.tellMissing(std, k.Loss())
	p := text.PageOn(std.errTerm)
	if provider.AsksForCollections(&c.session.Config) {
		k.verdict(p)
	}
	if c.out.Regular() {
		p.Command("  ", "gctrail "+text.Quoted(c.path))
	}
	_, _ = std.err.Write(p.Bytes()) // there is nobody else to tell
}

// A kept is a trace as it was written, when it was read to its end.
type kept struct {
	trace.Source
	found       *findings.Case
	collections int64
}

// review reads the file that was made of a ring.
func review(path string) (kept, error) {
	f, err := os.Open(path)
	if err != nil {
		return kept{}, &inputError{path, err}
	}
	defer f.Close()
	k := kept{Source: nettrace.NewReader(f, nettrace.Options{Want: gc.Wants}), found: new(findings.Case)}
	var m gc.Model
	for col, err := range m.Collections(k) {
		if err != nil {
			return k, &inputError{path, err}
		}
		k.found.Add(col)
		k.collections++
	}
	return k, nil
}

// tellStop says what became of what the trace was waiting for, and of the ring.
func (c *capture) tellStop(std *stdio) {
	if c.occasion == nil && c.plan.waitsFor() != "" {
		words := c.plan.waitsFor() + " did not come"
		if c.ring != nil {
			words += ": the file has what was last"
		}
		std.warn("gctrail", words)
	}
	if c.ring != nil && c.ring.Cut() && c.plan.before > 0 {
		std.warn("gctrail", fmt.Sprintf("there was no room for the %s before the end in %s: --keep sets how much there is", spanText(c.plan.before), units.Bytes(c.plan.keep.Size)))
	}
}

// tellMissing says what the trace does not hold.
func (c *capture) tellMissing(std *stdio, loss *trace.Loss) {
	switch {
	case c.failed != nil:
		if c.out.Regular() {
			std.warn("gctrail", "writing failed: the file holds what was written until then, and is closed")
		}
	case c.stopped != nil && loss.Cut:
		std.warn("gctrail", fmt.Sprintf("the process does not end the trace (%s): what it held back is lost", problemOf(c.stopped)))
	case c.broken != nil:
		std.warn("gctrail", "the connection broke: the file holds what came until then, and is closed")
	case c.usurped:
		std.warn("gctrail", "another tool ended the trace: the process goes on")
	case loss.Cut:
		std.warn("gctrail", "the process ended without ending the trace: it holds what came until then, and is closed")
	}
	if loss.Events > 0 {
		std.warn("gctrail", text.Plural(int64(loss.Events), "event was", "events were")+
			" lost, the runtime's buffer was full: collect fewer kinds, or set --buffersize higher")
	}
}

// verdict writes what the report of the file begins with.
func (k *kept) verdict(p *text.Page) {
	if k.collections == 0 {
		p.Heading("No collection happened in %s.", units.Duration(k.Info().Last))
		return
	}
	report.Judge(k, k.found).WriteVerdict(p)
}

// tooOld says whether a runtime refuses what it does not know.
func tooOld(err error) bool {
	return errors.Is(err, diag.UnknownCommand) || errors.Is(err, diag.NotSupported)
}
