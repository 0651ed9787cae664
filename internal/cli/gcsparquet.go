package cli

import (
	"errors"
	"time"

	"github.com/gctrail/gctrail/export/column"
	"github.com/gctrail/gctrail/export/parquet"
	"github.com/gctrail/gctrail/gc"
)

// parquetGCs write one table with the collections of all traces.
type parquetGCs struct {
	table *parquet.Writer
	r     *reading
}

func newParquetGCs(out *output, columns []column.Column) *parquetGCs {
	w := new(parquetGCs)
	w.table = parquet.Collections(out, func() time.Time { return w.r.Info().Start }, columns)
	return w
}

func (w *parquetGCs) begin(r *reading) error {
	w.r = r
	return nil
}

func (w *parquetGCs) collection(c *gc.Collection) error { return w.table.Add(c) }

func (w *parquetGCs) end() error { return nil }

// Close writes the end of the file.
func (w *parquetGCs) Close() error { return w.table.Close() }

// checkParquet refuses what a table of collections does not hold.
func (o *gcsOptions) checkParquet(std *stdio) error {
	switch {
	case o.format.value != "parquet":
		return nil
	case o.perHeap || o.metrics || o.perfview != "":
		return errors.New("--format parquet is for collections; leave out --per-heap, --metrics and --columns perfview")
	case o.output == "-" && std.outTerm.Is:
		return errors.New("refusing to write parquet, a binary format, to a terminal: redirect standard output, or use -o FILE")
	}
	return nil
}
