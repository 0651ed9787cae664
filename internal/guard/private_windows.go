package guard

import "os"

// private accepts every file: on Windows, lists of access replace the mode.
func private(os.FileInfo) bool { return true }
