package etl

import (
	"fmt"

	"github.com/gctrail/gctrail/trace"
)

// malformed returns an ErrMalformed with the particulars.
func malformed(format string, args ...any) error {
	return fmt.Errorf("%w: %s", trace.ErrMalformed, fmt.Sprintf(format, args...))
}
