module github.com/gctrail/gctrail/test/e2e

go 1.26.0

require (
	github.com/gctrail/gctrail v0.0.0
	go.opentelemetry.io/proto/otlp v1.11.1
	google.golang.org/protobuf v1.36.12
)

replace github.com/gctrail/gctrail => ../..
