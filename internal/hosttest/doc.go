// Package hosttest has what gctrail's tests need of their machine: ClickHouse's engine, LTTng's
// daemons and the requests that a Pyroscope receives, and consoles of Windows to run tests on.
package hosttest
