// Package tracetest makes traces for tests: files of two formats from text, so that a test of a
// reader reads like the format's description, .etl files buffer by buffer, and single events of
// the runtime. It writes wrong files as easily as right ones, and shares no code with the readers
// that it tests.
//
// A text is a list of lines; # begins a comment. A line is a word followed by
// NAME=VALUE pairs and single words; "quotes" and [brackets] keep blanks
// together. Numbers are as in Go, also negative.
//
// # .netperf and .nettrace
//
// A line that is not indented begins a part of the file, an indented one is a record in it. A
// time is in ticks, or with a sign before it, in ticks from the start of the trace. HEX is
// pairs of digits.
//
//	nettrace v4|v6 | netperf v3   the head: pointer= pid= freq= sync= start= cpus= rate=
//	                              V3, V4: version= minver= name= of the Trace object
//	                              V6: major= minor= kv=NAME:VALUE
//	events | metadata             uncompressed, unpadded, header=SIZE flags= min= max=
//	stacks first=1 [] [0x10 0x20] count=
//	sp time=+200 10=5             a thread and its number; count=, in V6 flags=
//	threads
//	labels first=1                count=
//	removethreads 1=5             an index and its last number
//	object NAME                   any other object of V3 and V4
//	block kind=9                  any other block of V6
//	raw HEX                       bytes as they are
//	end                           the end mark
//	cut 5                         takes bytes off the end
//
// Every object or block takes payload= (after its records) and size= (what it
// claims), in V3 and V4 also version= minver= pad= (bytes of alignment) and
// endtag=. The records are
//
//	event meta= thread= capture= seq= cpu= stack= time= activity= related=
//	      sorted payload=           in V6 labels= (a number), in V3 stack=[0x10]
//	      flags= (which compressed fields are written) size= psize=
//	def id= provider= event= name= keywords= version= level= opcode=
//	      field=TYPE:NAME pad= (bytes after each field) surplus=HEX
//	      V3, V4: v2field=TYPE:NAME tag=KIND:HEX nofields, and what an event takes
//	      V6: template= description= kv=NAME:VALUE guid= option=HEX size=
//	thread index= pid= tid= name= kv=NAME:VALUE info=HEX size=
//	list  activity= related= trace= span= text=NAME:VALUE number=NAME:N opcode=
//	      keywords= level= version= label=HEX, in this order; open: without end
//	raw   HEX
//
// What an event does not say it has from the event before it; its number is the
// next one. Without flags= the compressed fields that differ are written.
//
// A payload is a list of KIND:VALUE with commas between: u8 u16 u32 u64 f32 f64
// varuint varint, utf16 (with a terminator), utf8 (after its length), hex,
// zeros (how many). A TYPE is the name of a code in trace.TypeCode in lower
// case (string for UTF16String, utf8 for UTF8Unit), a number for any other
// code, array<T>, relloc<T>, dataloc<T>, fixed<T*3>, object{TYPE:NAME;TYPE:NAME}.
//
// # CTF
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
//	metadata TEXT                 replaces the metadata of these lines
//
// A line "trace" begins another trace, in a folder of its own. What an event
// does not say of its context it has from the event before it.
//
// A TYPE is u or i with a number of bits, f32 or f64, with be or le after it
// where the order differs from the trace's, and @ with an alignment in bits;
// string; text and a number of bytes; bytes, a sequence as .NET writes it; blob,
// in CTF 2 a BLOB with a length; or T[3] and T[], arrays of T. A VALUE is a
// number, a text, HEX for bytes and blob, or [numbers].
//
// # ETW
//
//	f := tracetest.NewETL()
//	f.Header.Frequency = 2_630_627
//	f.Buffer(0).Event(tracetest.ETLEvent{Type: tracetest.ETLEvent64, Time: 10, Provider: tracetest.RuntimeGUID, ID: 1})
//	f.Buffer(3).Compress().Event(…)
//	data := f.Bytes()
//
// RepeatETL makes large files of small ones.
package tracetest
