// Package live yields the garbage collections of running .NET processes as they
// end:
//
//	for u, err := range live.Follow(ctx, process, live.Options{}) { … }
//
// It combines diag, nettrace and gc: the same reader and the same model as for
// files.
package live
