package fleet

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/gctrail/gctrail/export/parquet"
	"github.com/gctrail/gctrail/gc/figure"
	"github.com/gctrail/gctrail/internal/outfile"
	"github.com/gctrail/gctrail/internal/text"
)

// A Folder stores rows as Parquet files, TABLE/day=YYYYMMDD/*.parquet, which DuckDB,
// Spark and ClickHouse can read. Only one program may write to it; any number may read.
// Answers leave out unreadable rows of damaged files; see Damaged.
type Folder struct {
	Path string

	mu      sync.Mutex // held while files of a day are joined
	damaged damages
}

const (
	suffix = ".parquet"
	// joinFiles is how many small files of a day are joined into one.
	joinFiles = 32
	// smallFile is the size below which a file is small.
	smallFile = 8 << 20
)

// insert writes a file for each day of the rows. A file gets its final name only when it
// is complete and on disk.
func (f *Folder) insert(_ context.Context, t *Table, encoded []byte, _ int) error {
	var days []string
	for row, err := range t.decode(encoded) {
		if err != nil {
			return err
		}
		if day := dayOf(t.Time(row)); !slices.Contains(days, day) {
			days = append(days, day)
		}
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, day := range days {
		into := filepath.Join(f.Path, t.Name, day)
		err := f.write(into, t, func(yield func(Row, error) bool) {
			for row, err := range t.decode(encoded) {
				if dayOf(t.Time(row)) == day && !yield(row, err) {
					return
				}
			}
		})
		if err != nil {
			return err
		}
		if err := f.join(into, t); err != nil {
			return err
		}
	}
	return nil
}

func dayOf(t time.Time) string { return "day=" + t.UTC().Format("20060102") }

// write writes rows to a new file in a folder.
func (f *Folder) write(folder string, t *Table, rows iter.Seq2[Row, error]) error {
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return err
	}
	name := fmt.Sprintf("%020d-%08x%s", time.Now().UnixNano(), rand.Uint32(), suffix)
	out, err := outfile.Create(filepath.Join(folder, name), 0o600, nil)
	if err != nil {
		return err
	}
	defer out.Close()
	buffered := bufio.NewWriter(out)
	w := parquet.NewRowWriter(buffered, t.Name, t.stored())
	for row, err := range rows {
		if err != nil {
			return err
		}
		if err := w.Add(row); err != nil {
			return err
		}
	}
	if err := errors.Join(w.Close(), buffered.Flush()); err != nil {
		return err
	}
	return out.Commit()
}

// stored are a table's columns in a file.
func (t *Table) stored() []parquet.Column {
	return text.Each(t.Columns, func(c *Column) parquet.Column { return parquet.Column{Name: c.Name, Type: c.Type} })
}

// join rewrites the small files of a day as one, once there are many, and removes
// duplicate rows. A crash in between leaves duplicates, which do no harm because queries
// ignore them.
func (f *Folder) join(folder string, t *Table) error {
	files, err := tables(folder)
	if err != nil {
		return err
	}
	var small []string
	for _, file := range files {
		if info, err := os.Stat(file); err == nil && info.Size() < smallFile && !f.damaged.has(file) {
			small = append(small, file)
		}
	}
	if len(small) < joinFiles {
		return nil
	}
	if err := f.write(folder, t, unique(t, f.rowsOf(t, small))); err != nil {
		return err
	}
	for _, file := range small {
		if f.damaged.has(file) {
			continue // another program may read more of it
		}
		if err := os.Remove(file); err != nil {
			return err
		}
	}
	return nil
}

// tables lists the files of a folder, in time order.
func tables(folder string) ([]string, error) {
	entries, err := os.ReadDir(folder)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var files []string
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), suffix) && e.Type().IsRegular() {
			files = append(files, filepath.Join(folder, e.Name()))
		}
	}
	return files, err
}

// rowsOf yields the rows of files. The row is valid until the next step.
func (f *Folder) rowsOf(t *Table, files []string) iter.Seq2[Row, error] {
	return func(yield func(Row, error) bool) {
		for _, name := range files {
			more, err := rowsOfFile(t, name, yield)
			f.damaged.add(name, err)
			if !more {
				return
			}
		}
	}
}

// rowsOfDay yields the rows of a folder's files. Rows may come twice, because it finds
// files that are joined meanwhile under their new name.
func (f *Folder) rowsOfDay(t *Table, folder string) iter.Seq2[Row, error] {
	return func(yield func(Row, error) bool) {
		read := make(map[string]bool)
		for vanished := true; vanished; {
			vanished = false
			files, err := tables(folder)
			if err != nil {
				yield(nil, err)
				return
			}
			for _, name := range files {
				if read[name] {
					continue
				}
				read[name] = true
				more, err := rowsOfFile(t, name, yield)
				if errors.Is(err, fs.ErrNotExist) {
					vanished = true
				} else {
					f.damaged.add(name, err)
				}
				if !more {
					return
				}
			}
		}
	}
}

// rowsOfFile yields the rows of a file, up to any damage. It reports whether yield wants
// more.
func rowsOfFile(t *Table, name string, yield func(Row, error) bool) (more bool, err error) {
	file, err := os.Open(name)
	if err != nil {
		return true, err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return true, err
	}
	r, err := parquet.NewReader(file, info.Size())
	if err != nil {
		return true, err
	}
	defer r.Close()
	for row, err := range r.Rows(t.stored()) {
		if err != nil {
			return true, err
		}
		if !yield(row, nil) {
			return false, nil
		}
	}
	return true, nil
}

// rows yields the rows of a table that match a filter, each once, by day; the row is
// valid until the next step.
func (f *Folder) rows(ctx context.Context, t *Table, filter *Filter) iter.Seq2[Row, error] {
	return func(yield func(Row, error) bool) {
		entries, err := os.ReadDir(filepath.Join(f.Path, t.Name))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			yield(nil, err)
			return
		}
		for _, e := range entries {
			if !filter.day(e.Name()) {
				continue
			}
			for row, err := range unique(t, f.rowsOfDay(t, filepath.Join(f.Path, t.Name, e.Name()))) {
				if err = cmp.Or(err, ctx.Err()); err != nil {
					yield(nil, err)
					return
				}
				if filter.keeps(t, row) && !yield(row, nil) {
					return
				}
			}
		}
	}
}

// unique leaves out rows that came before.
func unique(t *Table, rows iter.Seq2[Row, error]) iter.Seq2[Row, error] {
	return func(yield func(Row, error) bool) {
		var before keys
		for row, err := range rows {
			if err == nil && !before.add(t, row) {
				continue
			}
			if !yield(row, err) || err != nil {
				return
			}
		}
	}
}

// keys is the set of the rows of a day. The rows of a process are bits in a few pages,
// because collections have consecutive numbers.
type keys struct {
	pages map[page]*[pageBits / 64]uint64
}

// A page is a range of the numbers of a process.
type page struct {
	process string // and the rest of the key
	number  int64
}

const (
	pageBits = 1 << 10
	maxPages = 1 << 19
)

// add reports whether the row's key is new. When the set is full, every key counts as
// new.
func (k *keys) add(t *Table, r Row) bool {
	var at page
	bit := int64(0)
	for _, name := range t.Key {
		v := t.Value(r, name)
		if name == "number" {
			at.number, bit = v.Int/pageBits, v.Int%pageBits&(pageBits-1)
			continue
		}
		if v.Type == figure.Text {
			at.process += v.Text
		} else {
			at.process += fmt.Sprintf("\x00%d", v.Int)
		}
	}
	bits := k.pages[at]
	if bits == nil {
		if len(k.pages) == maxPages {
			return true
		}
		if k.pages == nil {
			k.pages = make(map[page]*[pageBits / 64]uint64)
		}
		bits = new([pageBits / 64]uint64)
		k.pages[at] = bits
	}
	if bits[bit/64]>>(bit%64)&1 != 0 {
		return false
	}
	bits[bit/64] |= 1 << (bit % 64)
	return true
}

// Check reports whether the folder can be written to. It removes the remains of a killed
// receiver.
func (f *Folder) Check() error {
	for _, t := range Tables() {
		days, err := os.ReadDir(filepath.Join(f.Path, t.Name))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		for _, day := range days {
			outfile.Sweep(filepath.Join(f.Path, t.Name, day.Name()))
		}
	}
	if err := os.MkdirAll(f.Path, 0o700); err != nil {
		return err
	}
	probe, err := outfile.Create(filepath.Join(f.Path, "probe"), 0o600, nil)
	if err != nil {
		return err
	}
	return probe.Close()
}

// Exists reports whether there is such a folder with tables.
func (f *Folder) Exists() bool {
	return slices.ContainsFunc(Tables(), func(t *Table) bool {
		info, err := os.Stat(filepath.Join(f.Path, t.Name))
		return err == nil && info.IsDir()
	})
}
