//go:build !windows || !(amd64 || arm64)

package emit

import (
	"errors"
	"fmt"
)

func (p *Provider) startSystemETW() (*Session, error) {
	return nil, fmt.Errorf("emit: ETW: %w", errors.ErrUnsupported)
}
