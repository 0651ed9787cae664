package parquet_test

import (
	"bytes"
	"fmt"
	"log"
	"time"

	"github.com/gctrail/gctrail/export/parquet"
	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/gc/figure"
	"github.com/gctrail/gctrail/open"
)

// This writes a column of all collections and reads it again. Unknown figures are null.
func ExampleCollections() {
	in, err := open.File("../../testdata/net10-wks-web-collect.nettrace.gz", open.Options{Want: gc.Wants})
	if err != nil {
		log.Fatal(err)
	}
	defer in.Close()

	var model gc.Model
	sinceLast, _ := figure.Named("since_last_ms")
	var file bytes.Buffer
	w := parquet.Collections(&file, func() time.Time { return in.Source.Info().Start }, []figure.Figure{sinceLast})
	for c, err := range model.Collections(in.Source) {
		if err != nil {
			log.Panic(err)
		}
		if err := w.Add(c); err != nil {
			log.Panic(err)
		}
	}
	if err := w.Close(); err != nil {
		log.Panic(err)
	}

	r, err := parquet.NewReader(bytes.NewReader(file.Bytes()), int64(file.Len()))
	if err != nil {
		log.Panic(err)
	}
	defer r.Close()
	rows, unknown := 0, 0
	for row, err := range r.Rows([]parquet.Column{{Name: "since_last_ms", Type: figure.Float}}) {
		if err != nil {
			log.Panic(err)
		}
		rows++
		if row[0].Type == figure.Unknown {
			unknown++
		}
	}
	fmt.Printf("%d collections, of %d the time since the last one is unknown\n", rows, unknown)
	// Output:
	// 94 collections, of 1 the time since the last one is unknown
}
