// Package e2e runs gctrail with the real programs that it is used with: the
// OpenTelemetry Collector, ClickHouse, Prometheus and .NET, and with Pyroscope's push API.
// Each test is skipped, with the reason, if one of them is missing.
//
//	cd test/e2e && go test ./...
//
// The Collector is built from the module in collector, into the folder that
// GCTRAIL_E2E_CACHE names, or the user's cache.
package e2e
