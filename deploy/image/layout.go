package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"time"
)

// Media types of https://github.com/opencontainers/image-spec, version 1.1.
const (
	typeIndex    = "application/vnd.oci.image.index.v1+json"
	typeManifest = "application/vnd.oci.image.manifest.v1+json"
	typeConfig   = "application/vnd.oci.image.config.v1+json"
	typeLayer    = "application/vnd.oci.image.layer.v1.tar+gzip"
)

type descriptor struct {
	MediaType   string            `json:"mediaType"`
	Digest      string            `json:"digest"`
	Size        int64             `json:"size"`
	Platform    *platform         `json:"platform,omitempty"`
	Annotations map[string]string `json:"annotations,omitempty"`
}

type platform struct {
	Architecture string `json:"architecture"`
	OS           string `json:"os"`
}

type index struct {
	SchemaVersion int          `json:"schemaVersion"`
	MediaType     string       `json:"mediaType"`
	Manifests     []descriptor `json:"manifests"`
}

type manifest struct {
	SchemaVersion int               `json:"schemaVersion"`
	MediaType     string            `json:"mediaType"`
	Config        descriptor        `json:"config"`
	Layers        []descriptor      `json:"layers"`
	Annotations   map[string]string `json:"annotations"`
}

type config struct {
	platform
	Created time.Time `json:"created"`
	Config  struct {
		Entrypoint []string          `json:"Entrypoint"`
		Labels     map[string]string `json:"Labels"`
	} `json:"config"`
	RootFS struct {
		Type    string   `json:"type"`
		DiffIDs []string `json:"diff_ids"`
	} `json:"rootfs"`
}

// A layout is the folder of an image: every part is a file whose name is the SHA-256 of
// its content.
type layout struct{ folder, blobs string }

func newLayout(folder string) (layout, error) {
	l := layout{folder, filepath.Join(folder, "blobs", "sha256")}
	if err := os.Mkdir(folder, 0o755); err != nil {
		return l, err
	}
	if err := os.MkdirAll(l.blobs, 0o755); err != nil {
		return l, err
	}
	return l, os.WriteFile(filepath.Join(folder, "oci-layout"), []byte(`{"imageLayoutVersion":"1.0.0"}`), 0o644)
}

// addVariant adds the image of one program.
func (l layout) addVariant(p program, certificates string) (descriptor, error) {
	files := []file{{"gctrail", p.path, 0o755}}
	if certificates != "" {
		files = append(files, file{"etc/ssl/certs/ca-certificates.crt", certificates, 0o644})
	}
	packed, diffID, err := layer(files, p.created)
	if err != nil {
		return descriptor{}, err
	}
	layer, err := l.add(typeLayer, packed)
	if err != nil {
		return descriptor{}, err
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
	c := config{platform: platform{p.arch, p.os}, Created: p.created}
	c.Config.Entrypoint = []string{"/gctrail"}
	c.Config.Labels = labels
	c.RootFS.Type = "layers"
	c.RootFS.DiffIDs = []string{diffID}
	configured, err := l.addJSON(typeConfig, c)
	if err != nil {
		return descriptor{}, err
	}
	d, err := l.addJSON(typeManifest, manifest{2, typeManifest, configured, []descriptor{layer}, labels})
	d.Platform = &c.platform
	return d, err
}

// finish writes the index of the variants, and the one that names it.
func (l layout) finish(variants index, name string) error {
	d, err := l.addJSON(typeIndex, variants)
	if err != nil {
		return err
	}
	d.Annotations = map[string]string{"org.opencontainers.image.ref.name": name}
	text, err := json.Marshal(index{2, typeIndex, []descriptor{d}})
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(l.folder, "index.json"), text, 0o644)
}

func (l layout) addJSON(mediaType string, v any) (descriptor, error) {
	text, err := json.Marshal(v)
	if err != nil {
		return descriptor{}, err
	}
	return l.add(mediaType, text)
}

func (l layout) add(mediaType string, content []byte) (descriptor, error) {
	sum := sum(content)
	d := descriptor{MediaType: mediaType, Digest: "sha256:" + sum, Size: int64(len(content))}
	return d, os.WriteFile(filepath.Join(l.blobs, sum), content, 0o644)
}

func sum(content []byte) string {
	s := sha256.Sum256(content)
	return hex.EncodeToString(s[:])
}

// A file is one of a layer, copied from path.
type file struct {
	name, path string
	mode       int64
}

// layer packs files with the folders that they are in, all root's and of one time. It
// also returns the digest of the layer before it is compressed.
func layer(files []file, modified time.Time) (packed []byte, diffID string, err error) {
	var plain bytes.Buffer
	w := tar.NewWriter(&plain)
	for _, f := range files {
		for i, c := range f.name {
			if c == '/' {
				if err := w.WriteHeader(&tar.Header{Typeflag: tar.TypeDir, Name: f.name[:i+1], Mode: 0o755, ModTime: modified}); err != nil {
					return nil, "", err
				}
			}
		}
		content, err := os.ReadFile(f.path)
		if err != nil {
			return nil, "", err
		}
		if err := w.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: f.name, Mode: f.mode, Size: int64(len(content)), ModTime: modified}); err != nil {
			return nil, "", err
		}
		if _, err := w.Write(content); err != nil {
			return nil, "", err
		}
	}
	if err := w.Close(); err != nil {
		return nil, "", err
	}
	diffID = "sha256:" + sum(plain.Bytes())
	var b bytes.Buffer
	z, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err != nil {
		return nil, "", err
	}
	if _, err := io.Copy(z, &plain); err != nil {
		return nil, "", err
	}
	if err := z.Close(); err != nil {
		return nil, "", err
	}
	return b.Bytes(), diffID, nil
}
