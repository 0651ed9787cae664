package dotnettest

import (
	"hash/fnv"
	"testing"

	"github.com/gctrail/gctrail/internal/extent"
)

// Due returns the versions with which a run does a test: all in a full run, and otherwise one,
// another in each turn. Which one differs from test to test, so that a run has all versions.
func Due(t testing.TB) []int {
	h := fnv.New32a()
	_, _ = h.Write([]byte(t.Name()))
	at := (int(h.Sum32()%1000) + extent.Turn()) % len(Versions)
	return extent.Pick(Versions[at:at+1], Versions[at:at+1], Versions)
}
