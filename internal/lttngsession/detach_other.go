//go:build !unix

package lttngsession

import "os/exec"

// detach does nothing: there is no LTTng.
func detach(*exec.Cmd) {}
