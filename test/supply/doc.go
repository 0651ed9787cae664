// Package supply tests the way from this repository to a user's machine: workflows run
// only actions that are pinned, and the install script refuses releases that the release
// workflow did not build.
package supply
