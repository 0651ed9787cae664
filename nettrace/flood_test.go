package nettrace

import (
	"encoding/binary"
	"io"
	"runtime"
	"testing"

	"github.com/gctrail/gctrail/internal/eventpipe"
	"github.com/gctrail/gctrail/internal/extent"
	"github.com/gctrail/gctrail/internal/tracetest"
	"github.com/gctrail/gctrail/trace"
)

// TestFloods reads traces with a million of each thing that a reader remembers, because
// its memory must not grow with them.
func TestFloods(t *testing.T) {
	extent.Long(t, "reads 10 traces of a million records each")
	const n, perBlock = 1_000_000, 1000
	v4 := tracetest.MustNettrace(t, "nettrace v4\nmetadata\n  def id=1 provider=P event=1\n")
	v6 := tracetest.MustNettrace(t, "nettrace v6\nthreads\n  thread index=1 pid=1 tid=1\nmetadata\n  def id=1 provider=P event=1\n  def id=2 provider=Universal.System event=0\n")
	le := binary.LittleEndian
	for _, test := range []struct {
		name    string
		version int
		kind    eventpipe.BlockKind
		head    func(i int) []byte
		record  func(b []byte, i int) []byte
	}{
		{"threads of V4", 4, eventpipe.BlockEvents, eventHead, func(b []byte, i int) []byte {
			h := eventpipe.Header{MetadataID: 1, Seq: 1, Capture: uint64(i + 1), Thread: uint64(i + 1), Ticks: 1}
			return h.AppendCompressed(b, new(eventpipe.Header), false)
		}},
		{"metadata of V4", 4, eventpipe.BlockMetadata, eventHead, func(b []byte, i int) []byte {
			record := eventpipe.AppendMetadataV4(nil, uint32(i+1), &trace.Descriptor{Provider: "Provider", ID: uint32(i)}, nil)
			h := eventpipe.Header{Payload: len(record)}
			return append(h.AppendCompressed(b, new(eventpipe.Header), false), record...)
		}},
		{"metadata ids of V4", 4, eventpipe.BlockMetadata, eventHead, func(b []byte, i int) []byte {
			record := eventpipe.AppendMetadataV4(nil, uint32(i+1), &trace.Descriptor{Provider: "Provider"}, nil)
			h := eventpipe.Header{Payload: len(record)}
			return append(h.AppendCompressed(b, new(eventpipe.Header), false), record...)
		}},
		{"stacks", 4, eventpipe.BlockStacks, tableHead, func(b []byte, i int) []byte {
			b = le.AppendUint32(b, 64)
			return append(b, make([]byte, 64)...)
		}},
		{"empty stacks", 4, eventpipe.BlockStacks, tableHead, func(b []byte, i int) []byte { return le.AppendUint32(b, 0) }},
		{"sequence points", 4, eventpipe.BlockSequencePoint, pointHead, func(b []byte, i int) []byte {
			return le.AppendUint32(le.AppendUint64(b, uint64(i)), 5)
		}},
		{"threads of V6", 6, eventpipe.BlockThreads, noHead, func(b []byte, i int) []byte {
			row := binary.AppendUvarint(nil, uint64(i))
			row = append(row, threadPID, 1, threadTID, 2)
			return append(le.AppendUint16(b, uint16(len(row))), row...)
		}},
		{"threads removed", 6, eventpipe.BlockRemoveThreads, noHead, func(b []byte, i int) []byte {
			return append(binary.AppendUvarint(b, uint64(i)), 3)
		}},
		{"label lists", 6, eventpipe.BlockLabels, tableHead, func(b []byte, i int) []byte {
			return append(b, labelText|labelLast, 2, 'a', 'b', 1, 'c')
		}},
		{"labels", 6, eventpipe.BlockLabels, oneListHead, func(b []byte, i int) []byte {
			if i%perBlock == perBlock-1 {
				return append(b, labelText|labelLast, 0, 0)
			}
			return append(b, labelText, 0, 0)
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			runtime.GC()
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			head := v4
			if test.version == 6 {
				head = v6
			}
			in := &flood{rest: head, blocks: n / perBlock, block: func(off int64, i int) []byte {
				body := test.head(i * perBlock)
				for j := range perBlock {
					body = test.record(body, i*perBlock+j)
				}
				if test.version == 6 {
					return append(eventpipe.AppendFrameV6(nil, test.kind, len(body)), body...)
				}
				return append(append(eventpipe.AppendFrameV4(nil, test.kind, len(body), off), body...), eventpipe.TagEnd)
			}}
			r := NewReader(in, Options{Stacks: true})
			for _, err := range r.Events() {
				if err != nil {
					t.Fatal(err)
				}
			}
			runtime.GC()
			runtime.ReadMemStats(&after)
			if held := int64(after.HeapAlloc) - int64(before.HeapAlloc); held > 48<<20 {
				t.Errorf("the reader holds %d MB", held>>20)
			}
			if sys := int64(after.HeapSys) - int64(before.HeapSys); sys > 128<<20 {
				t.Errorf("the heap grew by %d MB", sys>>20)
			}
			runtime.KeepAlive(r)
		})
	}
}

// A flood is a trace that is made while it is read.
type flood struct {
	rest   []byte
	off    int64
	i      int
	blocks int
	block  func(off int64, i int) []byte
}

func (f *flood) Read(p []byte) (int, error) {
	if len(f.rest) == 0 {
		if f.i == f.blocks {
			return 0, io.EOF
		}
		f.rest = f.block(f.off, f.i)
		f.i++
	}
	n := copy(p, f.rest)
	f.rest = f.rest[n:]
	f.off += int64(n)
	return n, nil
}

func noHead(int) []byte { return nil }

func eventHead(int) []byte {
	b := make([]byte, eventpipe.EventBlockHeader)
	eventpipe.PutBlockHeader(b, true, 0, 0)
	return b
}

func tableHead(i int) []byte {
	return binary.LittleEndian.AppendUint32(binary.LittleEndian.AppendUint32(nil, uint32(i+1)), 1000)
}

func oneListHead(i int) []byte {
	return binary.LittleEndian.AppendUint32(binary.LittleEndian.AppendUint32(nil, uint32(i+1)), 1)
}

func pointHead(int) []byte {
	return binary.LittleEndian.AppendUint32(make([]byte, 8), 1000)
}
