package main

import (
	"crypto/sha256"
	"debug/buildinfo"
	"encoding/hex"
	"encoding/json"
	"errors"
	"net/url"
	"os"
	"runtime/debug"
	"strings"

	"github.com/gctrail/gctrail/internal/text"
)

// sbom writes the list of modules of a program.
func sbom(args []string) error {
	if len(args) != 2 {
		return errors.New("usage: release sbom PROGRAM FILE")
	}
	program, err := os.ReadFile(args[0])
	if err != nil {
		return err
	}
	info, err := buildinfo.ReadFile(args[0])
	if err != nil {
		return err
	}
	text, err := json.MarshalIndent(describe(info, sha256.Sum256(program)), "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(args[1], append(text, '\n'), 0o644)
}

// A bom is a CycloneDX document: a program, and what it depends on.
type bom struct {
	Format       string       `json:"bomFormat"`
	SpecVersion  string       `json:"specVersion"`
	Version      int          `json:"version"`
	Metadata     metadata     `json:"metadata"`
	Components   []component  `json:"components"`
	Dependencies []dependency `json:"dependencies"`
}

type metadata struct {
	Component  component  `json:"component"`
	Properties []property `json:"properties"`
}

type component struct {
	Type    string   `json:"type"`
	Ref     string   `json:"bom-ref"`
	Name    string   `json:"name"`
	Version string   `json:"version"`
	PURL    string   `json:"purl"`
	Hashes  []digest `json:"hashes,omitempty"`
}

type digest struct {
	Algorithm string `json:"alg"`
	Content   string `json:"content"`
}

type property struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

type dependency struct {
	Ref       string   `json:"ref"`
	DependsOn []string `json:"dependsOn"`
}

func describe(info *debug.BuildInfo, sum [sha256.Size]byte) bom {
	program := library(info.Main)
	program.Type = "application"
	program.Hashes = []digest{{"SHA-256", hex.EncodeToString(sum[:])}}
	components := []component{library(debug.Module{Path: "std", Version: strings.TrimPrefix(info.GoVersion, "go")})}
	for _, m := range info.Deps {
		if m.Replace != nil {
			m = m.Replace
		}
		components = append(components, library(*m))
	}
	all := dependency{program.Ref, text.Each(components, func(c *component) string { return c.Ref })}
	settings := text.Each(info.Settings, func(s *debug.BuildSetting) property { return property{"go:build:" + s.Key, s.Value} })
	return bom{
		Format: "CycloneDX", SpecVersion: "1.6", Version: 1, Components: components, Dependencies: []dependency{all},
		Metadata: metadata{Component: program, Properties: settings},
	}
}

func library(m debug.Module) component {
	purl := packageURL(m)
	return component{Type: "library", Ref: purl, Name: m.Path, Version: m.Version, PURL: purl}
}

// packageURL returns the package URL of a module, whose path is in lower case there.
func packageURL(m debug.Module) string {
	return "pkg:golang/" + strings.ToLower(m.Path) + "@" + url.QueryEscape(m.Version)
}
