// Package consoletest runs tests on consoles of Windows.
package consoletest
