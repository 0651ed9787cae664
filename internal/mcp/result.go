package mcp

import (
	"bytes"
	"cmp"

	"github.com/gctrail/gctrail/internal/jsontext"
	"github.com/gctrail/gctrail/internal/outfile"
)

// MaxResult bounds the bytes of a tool's result: agents cut longer ones.
const MaxResult = 20_000

const (
	maxNotes   = 1_000 // of the commands' words on standard error
	maxTrailer = 1_000 // of what follows the rows of a result that is not whole
)

// A spill receives the output of a command. Once that exceeds MaxResult, it writes all
// of it to a file.
type spill struct {
	root  *root
	name  string
	limit int

	buf  bytes.Buffer
	file *outfile.File // nil while there is room in buf
	err  error         // of writing to it
	size int64
}

func (s *spill) Write(p []byte) (int, error) {
	s.size += int64(len(p))
	if s.file == nil && s.buf.Len()+len(p) <= s.limit {
		return s.buf.Write(p)
	}
	if s.file == nil {
		file, err := s.root.create(s.name, ".jsonl")
		if err != nil {
			return 0, err
		}
		s.file = file
		if _, s.err = file.Write(s.buf.Bytes()); s.err != nil {
			return 0, s.err
		}
		s.buf.Write(p[:s.limit-s.buf.Len()])
	}
	n, err := s.file.Write(p)
	s.err = cmp.Or(s.err, err)
	return n, err
}

// result returns the output if it is small, else its first lines and the file
// that has all of them.
func (s *spill) result() (string, error) {
	if s.file == nil {
		return s.buf.String(), nil
	}
	defer s.file.Close()
	if s.err != nil {
		return "", s.err
	}
	if err := s.file.Commit(); err != nil {
		return "", err
	}
	lines := s.buf.Bytes()
	shown := bytes.NewBuffer(lines[:bytes.LastIndexByte(lines, '\n')+1])
	err := jsontext.Encode(shown, struct {
		Omitted int64  `json:"omitted_bytes"`
		File    string `json:"file"`
	}{s.size - int64(shown.Len()), s.file.Name()})
	return shown.String(), err
}

// A head keeps the first bytes that are written to it.
type head struct {
	bytes.Buffer
	limit int
}

func (h *head) Write(p []byte) (int, error) {
	h.Buffer.Write(p[:min(len(p), h.limit-h.Len())])
	return len(p), nil
}
