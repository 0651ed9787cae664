// Package deploy renders the Helm chart as Helm does, and holds what comes of it, and the
// manifests beside it, against the schemas of Kubernetes.
//
//	cd test/deploy && go test ./...
package deploy
