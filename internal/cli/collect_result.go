package cli

import (
	"errors"
	"fmt"

	"github.com/gctrail/gctrail/clr"
	"github.com/gctrail/gctrail/diag"
	"github.com/gctrail/gctrail/internal/units"
)

// tell says what was collected, what it lacks, and what to do with it.
func (c *capture) tell(std *stdio) {
	if c.out.size == 0 {
		return
	}
	std.warn("gctrail", fmt.Sprintf("%s: %s, %s of events", c.out.name, units.Bytes(c.out.size), units.Duration(c.reader.Info().Last)))
	c.tellMissing(std)
	p := pageOn(std.errTerm)
	if c.asksForCollections() {
		c.verdict(p)
	}
	if c.out.file != nil {
		p.command("  ", "gctrail "+quoted(c.out.name))
	}
	_, _ = std.err.Write(p.Bytes()) // there is nobody else to tell
}

// tellMissing says what the trace does not hold.
func (c *capture) tellMissing(std *stdio) {
	loss := c.reader.Loss()
	switch {
	case c.failed != nil:
		std.warn("gctrail", "writing failed: the file holds what was written until then, and is closed")
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
		std.warn("gctrail", plural(int64(loss.Events), "event was", "events were")+
			" lost, the runtime's buffer was full: collect fewer kinds, or set --buffersize higher")
	}
}

// asksForCollections says whether the runtime raised events of collections.
func (c *capture) asksForCollections() bool {
	providers := providerList(c.session.Config.Providers)
	p := providers.find(clr.RuntimeProvider)
	return p != nil && p.Keywords&keywordGC != 0 && (p.Level == levelLogAlways || p.Level >= levelInformational)
}

// verdict writes what the report of the file begins with.
func (c *capture) verdict(p *page) {
	rep := report{info: c.reader.Info(), loss: c.reader.Loss()}
	if c.collections.Load() == 0 {
		p.heading("No collection happened in %s.", units.Duration(rep.info.Last))
		return
	}
	rep.collect(c.reader)
	rep.add(&reportOptions{}, &c.found)
	judged := &rep.cases[0]
	p.heading("%s", judged.Verdict(judged.found))
	judged.writeFigures(p)
}

// tooOld says whether a runtime refuses what it does not know.
func tooOld(err error) bool {
	return errors.Is(err, diag.UnknownCommand) || errors.Is(err, diag.NotSupported)
}
