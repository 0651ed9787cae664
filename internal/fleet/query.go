package fleet

import (
	"context"
	"fmt"
	"path/filepath"

	"github.com/gctrail/gctrail/trace"
)

// Query runs a query in the store's own language. A Folder has none: its error wraps
// trace.ErrUnsupported and names programs that can read it.
func Query(ctx context.Context, s Store, sql string) (*Result, error) {
	switch s := s.(type) {
	case *ClickHouse:
		return s.Query(ctx, sql)
	case *Folder:
		return nil, fmt.Errorf("SQL on a folder is %w: read its files with DuckDB or ClickHouse, as in: duckdb -c \"SELECT count(*) FROM '%s'\"",
			trace.ErrUnsupported, filepath.Join(s.Path, Collections().Name, "*", "*"+suffix))
	}
	return nil, trace.ErrUnsupported
}
