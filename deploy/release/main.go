// Command release writes the files that a release has besides the archives of the program:
//
//	go run ./deploy/release sbom PROGRAM FILE
//	go run ./deploy/release registry [-version VERSION] -o FOLDER PROGRAM…
//	go run ./deploy/release webpage FOLDER [ZIP [VSIX]]
//
// sbom lists the modules that a Go program was built from, as Go itself noted them in it, in
// the form of CycloneDX 1.6.
//
// registry writes the packages for npm and NuGet: FOLDER/npm and FOLDER/nuget get a package
// for each program, which is installed only on the program's system and processor, and the
// package gctrail, which names all of them: npm and the .NET SDK install the one that fits. No
// package runs anything when it is installed. The system, the processor and the version of a
// program come from Go's build information; VERSION is for programs in which Go noted none.
//
// webpage packs the page that opens traces in a browser: it builds the module of
// cmd/gctrail-wasm, and writes the page and what belongs to it to FOLDER, as a server has them,
// and gctrail.html, which is all of it in one file. A ZIP gets the same files, a VSIX the
// extension for VS Code, which has the same module.
//
// The last two run in the root of the repository. The same programs and sources give the same
// files.
package main

import (
	"errors"
	"fmt"
	"os"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) > 0 {
		switch rest := args[1:]; args[0] {
		case "sbom":
			return sbom(rest)
		case "registry":
			return registry(rest)
		case "webpage":
			return webpage(rest)
		}
	}
	return errors.New("usage: release sbom|registry|webpage …")
}
