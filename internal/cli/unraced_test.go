//go:build !race

package cli

// raced reports whether the race detector runs, which makes a test many times as slow.
const raced = false
