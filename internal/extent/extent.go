// Package extent chooses how much the long tests do, which damage traces in thousands of
// ways, flood a reader with events, kill programs, wait for time limits or run .NET
// programs. GCTRAIL_TESTS is
//
//   - unset: a sample of each, so that go test ./... ends within two minutes,
//   - all: as much as .ci/run does,
//   - full: every case there is, which takes hours.
package extent

import (
	"os"
	"testing"
)

const variable = "GCTRAIL_TESTS"

// Pick returns how much a test does in this run.
func Pick[T any](sample, all, full T) T {
	switch os.Getenv(variable) {
	case "full":
		return full
	case "all":
		return all
	}
	return sample
}

// All reports whether the run does more than a sample.
func All() bool { return Pick(false, true, true) }

// Long skips a test that has no sample, except where the run does more.
func Long(tb testing.TB, why string) {
	tb.Helper()
	if !All() {
		tb.Skipf("%s: set %s=all", why, variable)
	}
}

// Full skips a test that takes minutes, except in a run of every case.
func Full(tb testing.TB, why string) {
	tb.Helper()
	if !Pick(false, false, true) {
		tb.Skipf("%s: set %s=full", why, variable)
	}
}
