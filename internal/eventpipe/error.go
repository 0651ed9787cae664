package eventpipe

import (
	"fmt"

	"github.com/gctrail/gctrail/trace"
)

// Malformed returns an ErrMalformed with the particulars.
func Malformed(format string, args ...any) error {
	return fmt.Errorf("%w: %s", trace.ErrMalformed, fmt.Sprintf(format, args...))
}
