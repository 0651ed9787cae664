package diag

import (
	"os"
	"strconv"
)

// ownAddress is the name of this process's pipe.
func ownAddress(string) (string, error) {
	return pipeFolder + "dotnet-diagnostic-" + strconv.Itoa(os.Getpid()), nil
}
