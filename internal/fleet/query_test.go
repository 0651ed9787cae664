package fleet

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/gctrail/gctrail/internal/hosttest"
)

// TestQueryReads checks that queries run in read-only mode, and that inserts and
// statements of the schema do not.
func TestQueryReads(t *testing.T) {
	asked := ""
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked = r.URL.Query().Get("readonly")
		_, _ = fmt.Fprint(w, `{"meta": [], "data": []}`)
	}))
	defer s.Close()
	c := &ClickHouse{URL: s.URL}
	if _, err := Query(t.Context(), c, "SELECT 1"); err != nil || asked != "1" {
		t.Errorf("readonly=%q, %v", asked, err)
	}
	if err := c.Exec(t.Context(), "CREATE TABLE t (x Int8) ENGINE = Memory"); err != nil || asked != "" {
		t.Errorf("readonly=%q for a statement, %v", asked, err)
	}
}

// TestQueryChangesNothing tries to change a server through queries.
func TestQueryChangesNothing(t *testing.T) {
	c := created(t, Schema{Database: "gctrail", Cluster: hosttest.Cluster})
	if w := post(receiver(c, ""), encode(t, pods(1)[0].logs(1, 10))); w.Code != http.StatusOK {
		t.Fatalf("status %d", w.Code)
	}
	const syntax, readOnly = 62, 164 // ClickHouse's codes: of some statements, the format of a query is no part
	for _, sql := range []string{
		"DROP TABLE gc", "DROP DATABASE gctrail", "TRUNCATE TABLE gc_local", "ALTER TABLE gc_local DROP PARTITION tuple()", "CREATE TABLE other (x Int8) ENGINE = Memory",
		"INSERT INTO gc_local SELECT * FROM gc_local WHERE 1", "RENAME TABLE gc TO gone", "SET readonly = 0", "OPTIMIZE TABLE gc_local FINAL", "SYSTEM SHUTDOWN",
		"SELECT 1 SETTINGS readonly = 0",
	} {
		var refusal *ServerError
		if _, err := Query(t.Context(), c, sql); !errors.As(err, &refusal) || refusal.Code != readOnly && refusal.Code != syntax {
			t.Errorf("%s: %v", sql, err)
		}
	}
	for _, sql := range []string{"SELECT count() FROM gc FINAL", "SHOW TABLES", "DESCRIBE TABLE gc", "SELECT reason, count() FROM gc FINAL GROUP BY reason"} {
		if r, err := Query(t.Context(), c, sql); err != nil || len(r.Rows) == 0 {
			t.Errorf("%s: %v", sql, err)
		}
	}
	if r, err := Query(t.Context(), c, "SELECT count() FROM gc FINAL"); err != nil || fmt.Sprint(r.Rows[0][0]) != "10" {
		t.Errorf("%v, %v", r, err)
	}
}
