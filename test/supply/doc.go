// Package supply tests what lies between this repository and a user's machine: workflows
// run only actions that are pinned, and the install script refuses releases that the
// release workflow did not build.
//
//	cd test/supply && go test ./...
package supply
