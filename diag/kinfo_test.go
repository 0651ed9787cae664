package diag

import (
	"encoding/hex"
	"testing"
)

// TestKinfoProc reads the output of a C program with the structures of Apple's headers:
// started at 1700000000.123456, PID 4711.
func TestKinfoProc(t *testing.T) {
	kinfo, err := hex.DecodeString("00f153650000000040e201000000000000000000000000000000000000000000000000000000000067120000")
	if err != nil {
		t.Fatal(err)
	}
	kinfo = append(kinfo, make([]byte, 648-len(kinfo))...)
	if seconds, ok := startSeconds(kinfo); seconds != 1700000000 || !ok {
		t.Errorf("%d, %t", seconds, ok)
	}
	for _, size := range []int{0, 8, 647, 649} {
		if _, ok := startSeconds(append(kinfo, 0)[:size]); ok {
			t.Errorf("%d bytes are taken for a struct kinfo_proc", size)
		}
	}
}
