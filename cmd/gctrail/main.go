// Command gctrail reports on the garbage collector of a .NET program, from a trace of its
// events.
package main

import (
	"os"

	"github.com/gctrail/gctrail/internal/cli"
)

func main() { os.Exit(cli.Main(os.Args[1:])) }
