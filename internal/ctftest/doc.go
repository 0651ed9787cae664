// Package ctftest assembles CTF traces from text, so that a test of a reader
// reads like the format's description. It writes wrong traces as easily as
// right ones, and shares no code with what it tests.
//
// A text is a list of lines; # begins a comment. A line is a word followed by
// NAME=VALUE pairs and single words; "quotes" and [brackets] keep blanks
// together. Numbers are as in Go, also negative.
//
//	trace ctf=1.8|2 order=le|be align=packed|natural uuid=0 dir=NAME packets=SIZE
//	                              packets: metadata in packets of so much text
//	env domain=ust NAME=VALUE
//	clock freq=1000000000 seconds=0 cycles=0
//	stream 0 header=large|compact|none context=[TYPE:NAME TYPE:NAME] count=64 seq=yes|no
//	                              count: bits of the counter of discarded events
//	event 0 NAME stream=0 fields=[TYPE:NAME TYPE:NAME]
//	file NAME
//	packet stream=0 instance=0 begin= end= discarded= seq= cpu= content= size= magic=
//	                              content and size in bits, as the packet claims
//	  ev 0 time= context=[VALUE VALUE] full VALUE VALUE
//	                              full: with the extended header
//	  raw HEX
//	metadata TEXT                 in place of what the lines say
//
// A line "trace" begins another trace, in a folder of its own. What an event
// does not say of its context it has from the event before it.
//
// A TYPE is u or i with a number of bits, f32 or f64, with be or le after it
// where the order differs from the trace's, and @ with an alignment in bits;
// string; text and a number of bytes; bytes, a sequence as .NET writes it; blob,
// in CTF 2 a BLOB with a length; or T[3] and T[], arrays of T. A VALUE is a
// number, a text, HEX for bytes and blob, or [numbers].
package ctftest
