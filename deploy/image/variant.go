package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"io"
	"os"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// variant returns the image of one program.
func variant(p program, certificates string) (mutate.IndexAddendum, error) {
	none := mutate.IndexAddendum{}
	files := []file{{"gctrail", p.path, 0o755}}
	if certificates != "" {
		files = append(files, file{"etc/ssl/certs/ca-certificates.crt", certificates, 0o644})
	}
	packed, err := pack(files, p.created)
	if err != nil {
		return none, err
	}
	layer, err := tarball.LayerFromOpener(func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(packed)), nil },
		tarball.WithMediaType(types.OCILayer), tarball.WithCompressionLevel(gzip.BestCompression))
	if err != nil {
		return none, err
	}

	labels := map[string]string{
		"org.opencontainers.image.title":         "gctrail",
		"org.opencontainers.image.description":   "Shows what garbage collection costs .NET programs, and why",
		"org.opencontainers.image.source":        "https://github.com/gctrail/gctrail",
		"org.opencontainers.image.documentation": "https://github.com/gctrail/gctrail/blob/main/docs/deploy.md",
		"org.opencontainers.image.licenses":      "MIT",
		"org.opencontainers.image.version":       p.version,
		"org.opencontainers.image.revision":      p.revision,
		"org.opencontainers.image.created":       p.created.Format(time.RFC3339),
	}
	created := v1.Time{Time: p.created}
	image, err := mutate.ConfigFile(mutate.ConfigMediaType(mutate.MediaType(empty.Image, types.OCIManifestSchema1), types.OCIConfigJSON), &v1.ConfigFile{
		OS: p.os, Architecture: p.arch, Created: created,
		Config: v1.Config{Entrypoint: []string{"/gctrail"}, Labels: labels},
		RootFS: v1.RootFS{Type: "layers"},
	})
	if err != nil {
		return none, err
	}
	image, err = mutate.Append(image, mutate.Addendum{Layer: layer, History: v1.History{Created: created, CreatedBy: "deploy/image"}})
	if err != nil {
		return none, err
	}
	return mutate.IndexAddendum{
		Add:        mutate.Annotations(image, labels).(v1.Image),
		Descriptor: v1.Descriptor{Platform: &v1.Platform{OS: p.os, Architecture: p.arch}},
	}, nil
}

// A file is one of a layer, copied from path.
type file struct {
	name, path string
	mode       int64
}

// pack returns files as a tar archive with the folders that they are in, all root's and
// of one time.
func pack(files []file, modified time.Time) ([]byte, error) {
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, f := range files {
		for i, c := range f.name {
			if c == '/' {
				if err := w.WriteHeader(&tar.Header{Typeflag: tar.TypeDir, Name: f.name[:i+1], Mode: 0o755, ModTime: modified}); err != nil {
					return nil, err
				}
			}
		}
		content, err := os.ReadFile(f.path)
		if err != nil {
			return nil, err
		}
		if err := w.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: f.name, Mode: f.mode, Size: int64(len(content)), ModTime: modified}); err != nil {
			return nil, err
		}
		if _, err := w.Write(content); err != nil {
			return nil, err
		}
	}
	return b.Bytes(), w.Close()
}
