package cli

import (
	"fmt"

	"github.com/gctrail/gctrail/internal/ledger"
	"github.com/gctrail/gctrail/internal/report"
	"github.com/gctrail/gctrail/internal/text"
)

// A givenLedger is a ledger for one of the reports.
type givenLedger struct {
	name string
	*ledger.Ledger
	used bool
	err  error // why the latest report did not use it
}

// openLedgers reads the ledgers of the command line.
func (o *reportOptions) openLedgers(std *stdio) error {
	for _, arg := range o.ledgers {
		l, err := new(ledgerOptions).find(std, arg)
		if err != nil {
			return err
		}
		o.given = append(o.given, &givenLedger{name: arg, Ledger: l})
	}
	return nil
}

// addLedgers adds the ledgers to a report that are of its processes.
func (o *reportOptions) addLedgers(rep *report.Report) {
	for _, l := range o.given {
		if l.err = rep.AddLedger(l.Ledger); l.err == nil {
			l.used = true
		}
	}
}

// unusedLedgers returns an error for the first ledger that belongs to no report.
func (o *reportOptions) unusedLedgers() error {
	for _, l := range o.given {
		if !l.used && l.err != nil {
			return &usageError{whole: true, err: fmt.Errorf("--ledger %s: %w", text.Quoted(l.name), l.err)}
		}
	}
	return nil
}
