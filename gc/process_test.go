package gc

import (
	"reflect"
	"testing"
	"time"

	"github.com/gctrail/gctrail/clr"
)

// TestLearn: what another reading found out of a process is taken over, except for a kind of
// collector that it did not find out.
func TestLearn(t *testing.T) {
	settings := new(clr.GCSettingsRundown)
	other := Process{
		Name: "web", CommandLine: "web --fast", OS: "Linux", Arch: "x64", Runtime: ".NET 10.0.12", major: 10, Settings: settings, Concurrent: Some(true),
	}
	p := Process{PID: 7, Server: Some(true)}
	p.learn(&other)
	want := other
	want.PID, want.Server = 7, Some(true)
	if !reflect.DeepEqual(p, want) {
		t.Errorf("%+v, expected %+v", p, want)
	}
	other.Server = Some(false)
	if p.learn(&other); p.Server != Some(false) {
		t.Errorf("server GC: %v", p.Server)
	}
}

// TestSuspensionsBounded: suspensions of more sorts than there is room for count as the last.
func TestSuspensionsBounded(t *testing.T) {
	var p Process
	for i := range maxSorts + 2 {
		for _, d := range []time.Duration{2, 3, 1, -1} {
			p.addSuspension(clr.SuspendReason(i), PauseOther, d)
		}
	}
	p.addSuspension(0, PauseHeapWalk, 7) // another kind of the same reason
	if len(p.Suspensions) != maxSorts {
		t.Fatalf("%d sorts", len(p.Suspensions))
	}
	for i, of := range p.Suspensions {
		want := SuspensionTotal{Reason: clr.SuspendReason(i), Kind: PauseOther, Count: 4, Total: 6, Max: 3}
		if i == maxSorts-1 {
			want.Count, want.Total, want.Max = 13, 25, 7
		}
		if of != want {
			t.Errorf("%+v, expected %+v", of, want)
		}
	}
}
