package ledger

import (
	"cmp"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/gctrail/gctrail/internal/outfile"
)

const (
	// Suffix is that of the names of ledgers.
	Suffix = ".ledger"
	// Seconds is how many records a ledger has room for, at one a second.
	Seconds = 600
	// Size is that of a ledger, in bytes.
	Size = headerSize + Seconds*recordSize

	magicSize  = 8
	headerSize = 4096
	maxText    = headerSize - 16 // of a header's JSON
	// maxWord bounds the texts about a process in a header.
	maxWord = 512
)

// ErrFormat reports a file that is not a ledger.
var ErrFormat = errors.New("not a ledger of gctrail")

// A Process identifies the process of a ledger.
type Process struct {
	PID       int       `json:"pid"` // of the system, or else of its own namespace; always known
	Name      string    `json:"process"`
	Command   string    `json:"command,omitempty"`
	Runtime   string    `json:"runtime,omitempty"`
	UID       string    `json:"uid,omitempty"` // the runtime's random number
	Service   string    `json:"service,omitempty"`
	Container string    `json:"container,omitempty"`
	Namespace string    `json:"namespace,omitempty"`
	Pod       string    `json:"pod,omitempty"`
	Host      string    `json:"host,omitempty"`
	Attached  time.Time `json:"attached"`
}

// An End is how a process ended, as far as that was seen.
type End struct {
	Time     time.Time `json:"time"`
	Closed   bool      `json:"closed"`           // its runtime shut down and closed the session
	OOMKills int64     `json:"oom_kills"`        // in its cgroup since the last record
	Signal   int       `json:"signal,omitempty"` // that ended it; zero for none, or unknown
}

// A header is the JSON at the beginning of a ledger.
type header struct {
	Process
	End     *End  `json:"end,omitempty"`
	Records int64 `json:"records,omitempty"` // numbered up to the end
}

// A Writer writes the ledger of a process, by one goroutine. It writes with the
// system's calls: a mapped file on a full disk would kill the program that writes.
type Writer struct {
	f       *outfile.File
	process Process
	number  int64 // of the latest record, from 1 on
	recent  [rewritable]struct{ second, number int64 }
}

// rewritable is for how many of the latest seconds a record can be replaced.
const rewritable = 8

// Create makes a ledger, with room for all its records. It fails if the file exists.
func Create(path string, p Process) (*Writer, error) {
	if _, err := os.Lstat(path); err == nil {
		return nil, &fs.PathError{Op: "open", Path: path, Err: fs.ErrExist}
	}
	f, err := outfile.Create(path, 0o600, nil)
	if err != nil {
		return nil, err
	}
	for _, word := range []*string{&p.Name, &p.Command, &p.Service, &p.Pod} {
		*word = (*word)[:min(len(*word), maxWord)]
	}
	w := &Writer{f: f, process: p}
	// Zeros are written, not skipped, so that a full disk shows now.
	_, err = f.Write(make([]byte, Size))
	if err == nil {
		err = w.writeHeader(nil)
	}
	if err == nil {
		err = f.Publish()
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return w, nil
}

func (w *Writer) writeHeader(end *End) error {
	text, err := json.Marshal(header{w.process, end, w.number})
	if err != nil {
		return err
	}
	if len(text) > maxText {
		return fmt.Errorf("the description of the process has %d bytes, more than %d", len(text), maxText)
	}
	b := make([]byte, headerSize)
	copy(b, versions[0].magic)
	binary.LittleEndian.PutUint32(b[8:], uint32(len(text)))
	copy(b[16:], text)
	binary.LittleEndian.PutUint32(b[12:], versions[0].headerSum(b, text))
	_, err = w.f.WriteAt(b, 0)
	return err
}

// Put writes the record of a second. It replaces the record of the same second, or the
// oldest.
func (w *Writer) Put(r *Record) error {
	second := r.Time.Unix()
	var b [recordSize]byte
	r.encode(&b, w.numberOf(second))
	slot := ((second % Seconds) + Seconds) % Seconds
	_, err := w.f.WriteAt(b[:], headerSize+slot*recordSize)
	return err
}

// numberOf returns the number of the record of a second: its earlier one, if it has one.
func (w *Writer) numberOf(second int64) int64 {
	for _, r := range w.recent {
		if r.number != 0 && r.second == second {
			return r.number
		}
	}
	w.number++
	at := &w.recent[w.number%rewritable]
	at.second, at.number = second, w.number
	return w.number
}

// Close records how the process ended, nil for unknown, and closes the file.
func (w *Writer) Close(end *End) error {
	var err error
	if end != nil {
		err = w.writeHeader(end)
	}
	return errors.Join(err, w.f.Close())
}

// A Ledger is the content of a file about a process.
type Ledger struct {
	Path string
	Process
	End     *End     // nil while the process runs, or if whoever wrote the ledger was killed too
	Records []Record // by time, of the last minutes
	Lost    int      // damaged or missing records of these minutes, as far as known
	Cut     bool     // the file is truncated: it has no room for all records
}

// Open reads a ledger.
func Open(path string) (*Ledger, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, Size))
	if err != nil {
		return nil, err
	}
	l := &Ledger{Path: path}
	v, h, err := readHeader(b)
	if err != nil {
		return nil, err
	}
	l.Process, l.End = h.Process, h.End
	l.readRecords(b[headerSize:], v, h.Records)
	return l, nil
}

// readRecords reads the records of a version. ended is the last number, from the header
// of a process that ended.
func (l *Ledger) readRecords(b []byte, v *version, ended int64) {
	l.Cut = len(b) < Seconds*v.recordSize
	var read []numbered
	damaged := 0
	for ; len(b) >= v.recordSize; b = b[v.recordSize:] {
		var r numbered
		switch {
		case r.decode(b, v):
			read = append(read, r)
		case slices.ContainsFunc(b[:v.recordSize], func(c byte) bool { return c != 0 }):
			damaged++
		}
	}
	slices.SortFunc(read, func(a, b numbered) int { return a.Time.Compare(b.Time) })
	read = withoutOld(read)
	l.Lost = max(damaged, missing(read, ended))
	l.Records = make([]Record, len(read))
	for i := range read {
		l.Records[i] = read[i].Record
	}
}

// missing returns how many numbers are missing among the records, and up to the last one
// at the end of the process, if that is known.
func missing(read []numbered, ended int64) int {
	if len(read) == 0 {
		return int(min(ended, Seconds))
	}
	first, last := read[0].number, ended
	for i := range read {
		first, last = min(first, read[i].number), max(last, read[i].number)
	}
	if first == 0 {
		return 0 // the version has no numbers
	}
	return int(min(last-first+1-int64(len(read)), Seconds))
}

// withoutOld drops records that the ring would have overwritten had the process been
// watched all the time.
func withoutOld(read []numbered) []numbered {
	if len(read) == 0 {
		return nil
	}
	oldest := read[len(read)-1].Time.Unix() - Seconds
	return slices.DeleteFunc(read, func(r numbered) bool { return r.Time.Unix() <= oldest })
}

func readHeader(b []byte) (*version, *header, error) {
	if len(b) < headerSize {
		return nil, nil, ErrFormat
	}
	at := slices.IndexFunc(versions[:], func(v version) bool { return v.magic == string(b[:magicSize]) })
	if at < 0 {
		return nil, nil, ErrFormat
	}
	n := binary.LittleEndian.Uint32(b[8:])
	if n > maxText {
		return nil, nil, fmt.Errorf("%w: its header is damaged", ErrFormat)
	}
	text := b[16 : 16+n]
	h := new(header)
	if versions[at].headerSum(b, text) != binary.LittleEndian.Uint32(b[12:]) || json.Unmarshal(text, h) != nil {
		return nil, nil, fmt.Errorf("%w: its header is damaged", ErrFormat)
	}
	return &versions[at], h, nil
}

// List returns the ledgers in a folder, the newest first, and the errors of unreadable
// ones.
func List(folder string) ([]*Ledger, error) {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return nil, err
	}
	var all []*Ledger
	var errs []error
	for _, e := range entries {
		if filepath.Ext(e.Name()) != Suffix {
			continue
		}
		path := filepath.Join(folder, e.Name())
		l, err := Open(path)
		if err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", path, err))
			continue
		}
		all = append(all, l)
	}
	slices.SortFunc(all, func(a, b *Ledger) int { return cmp.Or(b.Latest().Compare(a.Latest()), cmp.Compare(a.Path, b.Path)) })
	return all, errors.Join(errs...)
}

// Latest returns the time up to which the ledger describes the process.
func (l *Ledger) Latest() time.Time {
	at := l.Attached
	if n := len(l.Records); n > 0 && l.Records[n-1].Time.After(at) {
		at = l.Records[n-1].Time
	}
	if l.End != nil && l.End.Time.After(at) {
		at = l.End.Time
	}
	return at
}
