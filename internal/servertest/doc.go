// Package servertest has the servers of other projects that gctrail's tests use: ClickHouse's
// engine, LTTng's daemons, and the requests that a Pyroscope receives.
package servertest
