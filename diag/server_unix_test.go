//go:build !windows

package diag

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// TestOwnAddress: a server listens where clients look, also where the path must
// be cut; one of which nothing useful would be left is refused.
func TestOwnAddress(t *testing.T) {
	const most = len(syscall.RawSockaddrUnix{}.Path) - 1
	name := "dotnet-diagnostic-" + strconv.Itoa(os.Getpid()) + "-" + startKey() + "-socket"
	needed := len(name) - len(startKey()+"-socket") + 1 // with a digit of the key
	for length := 1; length < 200; length++ {
		folder := "/" + strings.Repeat("x", length-1)
		address, err := ownAddress(folder)
		if room := most - length - 1; room < needed && length > 1 {
			if err == nil {
				t.Errorf("%d bytes: %s", length, address)
			}
			continue
		}
		if err != nil || len(address) > most || filepath.Dir(address) != folder || !strings.HasPrefix(name, filepath.Base(address)) ||
			!socketName.MatchString(filepath.Base(address)) {
			t.Errorf("%d bytes: %s, %v", length, address, err)
		}
	}
}
