// Package live tells of the garbage collections of running .NET processes, as
// they end:
//
//	for u, err := range live.Follow(ctx, process, live.Options{}) { … }
//
// It is diag, nettrace and gc put together: the same reader and the same model
// that files go through.
package live
