package otlp_test

import (
	"context"
	"fmt"
	"log"
	"os"

	logspb "go.opentelemetry.io/proto/otlp/logs/v1"

	"github.com/gctrail/gctrail/internal/otlp"
)

// This sends records to the collector that OTEL_EXPORTER_OTLP_ENDPOINT names, until the
// context ends. What the collector does not accept, or the queue has no room for, is
// counted.
func ExampleSender() {
	options, err := otlp.FromEnvironment(os.Getenv)
	if err != nil {
		log.Fatal(err)
	}
	sender, err := otlp.NewSender(options)
	if err != nil {
		log.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		sender.Run(ctx)
	}()
	if err := sender.Push(otlp.Logs, &logspb.LogsData{}, 0); err != nil {
		log.Println(err)
	}
	cancel()
	<-done
	fmt.Println(sender.Stats())
}
