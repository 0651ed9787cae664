//go:build !linux

package agent

// An ending has no source on this system.
type ending struct{}

func watchEnding(int) *ending { return &ending{} }

func (*ending) signal() int { return 0 }

func (*ending) stop() {}
