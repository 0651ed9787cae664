// Package supply tests what lies between this repository and a user's machine: workflows
// run only actions that are pinned.
//
//	cd test/supply && go test ./...
package supply
