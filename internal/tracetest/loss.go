package tracetest

import (
	"fmt"
	"strings"

	"github.com/gctrail/gctrail/trace"
)

// ListLoss writes the loss that a reader reports, in lines.
func ListLoss(b *strings.Builder, l *trace.Loss) {
	fmt.Fprintf(b, "lost: %d (%s)", l.Events, l.Exactness)
	if l.Truncated {
		b.WriteString(", cut")
	}
	if l.Late > 0 {
		fmt.Fprintf(b, ", %d late", l.Late)
	}
	b.WriteByte('\n')
	for _, r := range l.Ranges() {
		fmt.Fprintf(b, "lost between %v and %v\n", r.From, r.To)
	}
	for _, d := range l.Damage {
		fmt.Fprintf(b, "damage: %v\n", d.Err)
	}
}
