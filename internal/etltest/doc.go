// Package etltest assembles ETW trace files, so that a test of a reader says
// what is in the file. It writes wrong files as easily as right ones, and shares
// no code with what it tests.
//
//	f := etltest.New()
//	f.Header.Frequency = 2_630_627
//	f.Buffer(0).Event(etltest.Event{Type: etltest.Event64, Time: 10, Provider: etltest.Runtime, ID: 1})
//	f.Buffer(3).Compress().Event(…)
//	data := f.Bytes()
//
// It also makes large files of small ones: see Repeat.
package etltest
