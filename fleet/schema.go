package fleet

import (
	"fmt"
	"strings"

	"github.com/gctrail/gctrail/export/column"
)

// A Schema describes the tables to create in ClickHouse.
type Schema struct {
	Database string
	// Cluster spreads the tables over the shards of a cluster of this name in the
	// server's remote_servers; empty for one server.
	Cluster string
	// Days is how long rows are kept; 0 for ever. It needs ClickHouse 19.6 or later.
	Days int
	// Logs adds views that take the records from the table of logs that the
	// OpenTelemetry Collector's ClickHouse exporter writes; it needs 20.1 or later.
	Logs string
}

// Statements returns the statements that create the tables; they change nothing
// where the tables are there. Everything without Days and Logs is understood by
// ClickHouse 18.16 and all later versions.
func (s Schema) Statements() []string {
	database := quoteName(s.Database)
	statements := []string{"CREATE DATABASE IF NOT EXISTS " + database}
	for _, t := range Tables() {
		stored := t.Name
		if s.Cluster != "" {
			stored += "_local"
		}
		statements = append(statements, s.table(t, database+"."+quoteName(stored)))
		if s.Cluster != "" {
			statements = append(statements, fmt.Sprintf("CREATE TABLE IF NOT EXISTS %s.%s AS %s.%s ENGINE = Distributed(%s, %s, %s, cityHash64(%s))",
				database, quoteName(t.Name), database, quoteName(stored), quoteText(s.Cluster), quoteText(s.Database), quoteText(stored), columnUID))
		}
		if s.Logs != "" {
			statements = append(statements, s.view(t, database))
		}
	}
	return statements
}

// table is the statement for the table that stores rows. A row that comes again
// replaces the one before when parts are merged, and in queries with FINAL.
func (s Schema) table(t *Table, name string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "CREATE TABLE IF NOT EXISTS %s (\n", name)
	for i := range t.Columns {
		fmt.Fprintf(&b, "    %s %s,\n", quoteName(t.Columns[i].Name), t.sqlType(i))
	}
	fmt.Fprintf(&b, "    time DateTime DEFAULT %s\n", timeOf(columnTime))
	fmt.Fprintf(&b, ") ENGINE = ReplacingMergeTree PARTITION BY toYYYYMMDD(time) ORDER BY (%s)", strings.Join(t.Key, ", "))
	if s.Days > 0 {
		fmt.Fprintf(&b, " TTL time + INTERVAL %d DAY", s.Days)
	}
	return b.String()
}

// timeOf converts a column of nanoseconds.
func timeOf(name string) string { return "toDateTime(intDiv(" + name + ", 1000000000))" }

func (t *Table) sqlType(i int) string {
	typ := "Float64"
	switch t.Columns[i].Type {
	case column.Text:
		return "String"
	case column.Int, column.Bytes:
		typ = "Int64"
	case column.Bool:
		typ = "UInt8"
	}
	if t.required[i] {
		return typ
	}
	return "Nullable(" + typ + ")"
}

// view returns the statement for a view that copies records from the Collector's table
// of logs, where attributes are strings in maps.
func (s Schema) view(t *Table, database string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "CREATE MATERIALIZED VIEW IF NOT EXISTS %s.%s TO %s.%s AS SELECT\n", database, quoteName(t.Name+"_from_logs"), database, quoteName(t.Name))
	for i := range t.Columns {
		fmt.Fprintf(&b, "    %s AS %s,\n", t.fromLogs(i), quoteName(t.Columns[i].Name))
	}
	fmt.Fprintf(&b, "    toDateTime(Timestamp) AS time\nFROM %s.%s WHERE EventName = %s", database, quoteName(s.Logs), quoteText(t.Event))
	return b.String()
}

func (t *Table) fromLogs(i int) string {
	c := &t.Columns[i]
	if c.Name == columnTime {
		return "toUnixTimestamp64Nano(Timestamp)"
	}
	key := quoteText(c.Attribute)
	text := fmt.Sprintf("if(mapContains(LogAttributes, %s), LogAttributes[%s], ResourceAttributes[%s])", key, key, key)
	switch c.Type {
	case column.Text:
		return text
	case column.Bool:
		return fmt.Sprintf("CAST(multiIf(%s = 'true', 1, %s = 'false', 0, NULL), 'Nullable(UInt8)')", text, text)
	case column.Int, column.Bytes:
		if t.required[i] {
			return "toInt64OrZero(" + text + ")"
		}
		return "toInt64OrNull(" + text + ")"
	default:
		return "toFloat64OrNull(" + text + ")"
	}
}

// quoteName quotes the name of a table or column, quoteText a text.
func quoteName(s string) string { return "`" + escape(s, "`") + "`" }

func quoteText(s string) string { return "'" + escape(s, "'") + "'" }

func escape(s, quote string) string {
	return strings.NewReplacer(`\`, `\\`, quote, `\`+quote, "\x00", "").Replace(s)
}
