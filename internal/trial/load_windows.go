package trial

import "os/exec"

// endGroup leaves it to the context to end the command.
func endGroup(*exec.Cmd) {}
