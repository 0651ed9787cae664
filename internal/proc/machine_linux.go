package proc

import (
	"bytes"
	"math"
	"path/filepath"
	"time"

	"github.com/gctrail/gctrail/gc"
)

// tick is the unit of /proc/stat, USER_HZ, on all architectures that .NET runs on.
const tick = 10 * time.Millisecond

func (s *Scan) ofMachine(b *Buffer, root string) *machine {
	if s.machine == nil {
		s.machine = &machine{stalled: pressureOf(b, filepath.Join(root, "/proc/pressure/cpu"))}
		s.machine.readTimes(b, root)
	}
	return s.machine
}

// readTimes reads the first line of /proc/stat: user, nice, system, idle, iowait, irq,
// softirq, steal.
func (m *machine) readTimes(b *Buffer, root string) {
	text, err := b.Read(filepath.Join(root, "/proc/stat"))
	if err != nil {
		return
	}
	line, _, _ := bytes.Cut(text, []byte("\n"))
	line, found := bytes.CutPrefix(line, []byte("cpu "))
	var n [8]int64
	if !found || !numbers(line, n[:]) {
		return
	}
	busy := int64(0)
	for _, i := range [...]int{0, 1, 2, 5, 6} {
		busy += min(n[i], math.MaxInt64/int64(tick)/8)
	}
	m.busy, m.stolen = gc.Some(time.Duration(busy)*tick), gc.Some(time.Duration(min(n[7], math.MaxInt64/int64(tick)))*tick)
}
