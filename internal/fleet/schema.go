package fleet

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gctrail/gctrail/gc/figure"
)

// A Schema describes the tables to create in ClickHouse, 24.8 or later.
type Schema struct {
	Database string
	// Cluster spreads the tables over the shards of a cluster of this name in the
	// server's remote_servers; empty for one server.
	Cluster string
	// Replicated makes the servers of a shard replicas of each other, with the macros
	// shard and replica of each server.
	Replicated bool
	// Days is how long rows are kept; 0 for ever.
	Days int
	// Logs adds views that copy the records from the table of logs that the OpenTelemetry
	// Collector's ClickHouse exporter writes.
	Logs string
}

// Statements returns the statements that create the tables. Existing tables are not
// changed.
func (s Schema) Statements() []string {
	database := quoteName(s.Database)
	statements := []string{"CREATE DATABASE IF NOT EXISTS " + database}
	for _, t := range Tables() {
		stored := s.stored(t)
		statements = append(statements, s.table(t, stored))
		if s.Cluster != "" {
			statements = append(statements, fmt.Sprintf("CREATE TABLE IF NOT EXISTS %s AS %s ENGINE = Distributed(%s, %s, %s, cityHash64(%s))",
				s.name(t.Name), s.name(stored), quoteText(s.Cluster), quoteText(s.Database), quoteText(stored), columnUID))
		}
		if s.Logs != "" {
			statements = append(statements, s.view(t, database))
		}
	}
	return statements
}

// Moves returns the statements that replace the tables of an earlier gctrail, which has
// the time in two columns, by the tables of Statements, and copy their rows. The old
// tables stay, with names that end in "_before".
func (s Schema) Moves() []string {
	var renames, drops, copies []string
	for _, t := range Tables() {
		stored := s.stored(t)
		renames = append(renames, fmt.Sprintf("RENAME TABLE %s TO %s", s.name(stored), s.name(stored+"_before")))
		if s.Logs != "" {
			drops = append(drops, "DROP VIEW IF EXISTS "+s.name(t.Name+fromLogs))
		}
		if s.Cluster != "" {
			drops = append(drops, "DROP TABLE IF EXISTS "+s.name(t.Name))
		}
		columns := strings.TrimPrefix(t.names(), quoteName(columnTime)+", ")
		copies = append(copies, fmt.Sprintf("INSERT INTO %s (time, %s) SELECT fromUnixTimestamp64Nano(%s, 'UTC'), %s FROM %s SETTINGS max_partitions_per_insert_block = 0",
			s.name(stored), columns, columnTime, columns, s.name(stored+"_before")))
	}
	return slices.Concat(renames, drops, s.Statements(), copies)
}

// stored returns the name of the table that stores rows on a server.
func (s Schema) stored(t *Table) string {
	if s.Cluster == "" {
		return t.Name
	}
	return t.Name + "_local"
}

// name returns the full name of a table.
func (s Schema) name(table string) string { return quoteName(s.Database) + "." + quoteName(table) }

// table returns the statement for the table that stores rows. A repeated row replaces the
// one before when parts are merged, and in queries with FINAL; a repeated batch is
// dropped.
func (s Schema) table(t *Table, stored string) string {
	engine, settings := "ReplacingMergeTree", "non_replicated_deduplication_window = 1000"
	if s.Replicated {
		path := quoteText(fmt.Sprintf("/clickhouse/tables/{shard}/%s/%s", s.Database, stored))
		engine, settings = "ReplicatedReplacingMergeTree("+path+", '{replica}')", "replicated_deduplication_window = 1000"
	}
	var b strings.Builder
	fmt.Fprintf(&b, "CREATE TABLE IF NOT EXISTS %s (\n", s.name(stored))
	for i := range t.Columns {
		fmt.Fprintf(&b, "    %s,\n", t.sqlColumn(i))
	}
	fmt.Fprintf(&b, "    %s Int64 ALIAS toUnixTimestamp64Nano(time)\n", quoteName(columnTime))
	fmt.Fprintf(&b, ") ENGINE = %s PARTITION BY toDate(time) ORDER BY (%s)", engine, strings.Join(t.Key, ", "))
	if s.Days > 0 {
		fmt.Fprintf(&b, " TTL toDateTime(time) + INTERVAL %d DAY", s.Days)
		settings += ", ttl_only_drop_parts = 1"
	}
	return b.String() + " SETTINGS " + settings
}

// sqlColumn returns the definition of a column. The time of a record is a stored column,
// because partitions and conditions use it.
func (t *Table) sqlColumn(i int) string {
	c := &t.Columns[i]
	switch {
	case c.Name == columnTime:
		return "time DateTime64(9, 'UTC') CODEC(Delta, ZSTD(1))"
	case c.Name == columnUID:
		return quoteName(c.Name) + " String CODEC(ZSTD(1))"
	case c.Type == figure.Text:
		return quoteName(c.Name) + " LowCardinality(String) CODEC(ZSTD(1))"
	}
	typ, codec := "Float64", "ZSTD(1)"
	switch c.Type {
	case figure.Int, figure.Bytes:
		typ, codec = "Int64", "Delta, ZSTD(1)"
	case figure.Bool:
		typ = "UInt8"
	}
	if !t.required[i] {
		typ = "Nullable(" + typ + ")"
	}
	return fmt.Sprintf("%s %s CODEC(%s)", quoteName(c.Name), typ, codec)
}

// fromLogs ends the name of the view that fills a table.
const fromLogs = "_from_logs"

// view returns the statement for a view that copies records from the Collector's table
// of logs, where attributes are strings in maps.
func (s Schema) view(t *Table, database string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "CREATE MATERIALIZED VIEW IF NOT EXISTS %s.%s TO %s.%s AS SELECT\n", database, quoteName(t.Name+fromLogs), database, quoteName(t.Name))
	for i := range t.Columns {
		if name := t.Columns[i].Name; name != columnTime {
			fmt.Fprintf(&b, "    %s AS %s,\n", t.fromLogs(i), quoteName(name))
		}
	}
	fmt.Fprintf(&b, "    Timestamp AS time\nFROM %s.%s WHERE EventName = %s", database, quoteName(s.Logs), quoteText(t.Event))
	return b.String()
}

func (t *Table) fromLogs(i int) string {
	c := &t.Columns[i]
	key := quoteText(c.Attribute)
	text := fmt.Sprintf("if(mapContains(LogAttributes, %s), LogAttributes[%s], ResourceAttributes[%s])", key, key, key)
	switch c.Type {
	case figure.Text:
		return text
	case figure.Bool:
		return fmt.Sprintf("CAST(multiIf(%s = 'true', 1, %s = 'false', 0, NULL), 'Nullable(UInt8)')", text, text)
	case figure.Int, figure.Bytes:
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
