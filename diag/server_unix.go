//go:build !windows

package diag

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// ownAddress is the path of this process's socket. One that is too long is cut,
// as .NET 10 does it, if clients still know it for a socket's.
func ownAddress(folder string) (string, error) {
	folder = strings.TrimSuffix(cmp.Or(folder, os.TempDir()), "/")
	path := fmt.Sprintf("%s/dotnet-diagnostic-%d-%s-socket", folder, os.Getpid(), startKey())
	most := len(syscall.RawSockaddrUnix{}.Path) - 1
	if len(path) <= most {
		return path, nil
	}
	cut := path[:most]
	if len(cut) <= len(folder) || !socketName.MatchString(filepath.Base(cut)) {
		return "", &ListenError{path, fmt.Errorf("the folder's path is too long for a socket: %d bytes", len(folder))}
	}
	return cut, nil
}
