//go:build !unix

package lttng

import "os/exec"

// detach does nothing: there is no LTTng.
func detach(*exec.Cmd) {}
