package fleet

import (
	"context"
	"iter"
)

// A Store stores rows and answers questions about them. It is a ClickHouse or a Folder.
type Store interface {
	// insert stores encoded rows. When it returns nil, they survive a crash of this program
	// and of the server.
	insert(ctx context.Context, t *Table, rows []byte, count int) error
	// groups sums up the selected collections by the values of columns, the groups with the
	// most pause first.
	groups(ctx context.Context, f *Filter, by []string, limit int) ([]Group, error)
	// latest returns at most limit of the selected rows, the newest first.
	latest(ctx context.Context, t *Table, f *Filter, limit int) ([]Row, error)
	// rows yields the selected rows, in any order. The row is valid until the next
	// step.
	rows(ctx context.Context, t *Table, f *Filter) iter.Seq2[Row, error]
}
