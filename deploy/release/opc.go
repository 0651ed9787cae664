package main

import (
	"archive/zip"
	"bytes"
	"compress/flate"
	"crypto/sha512"
	_ "embed"
	"encoding/hex"
	"encoding/xml"
	"errors"
	"hash/crc32"
	"path"
	"slices"
	"strings"
	"time"
)

//go:embed nuget/README.md
var nugetReadme []byte

// A nuspec describes a package for NuGet. See nuspec.xsd of NuGet.Client.
type nuspec struct {
	XMLName  xml.Name       `xml:"http://schemas.microsoft.com/packaging/2013/05/nuspec.xsd package"`
	Metadata nuspecMetadata `xml:"metadata"`
}

type nuspecMetadata struct {
	ID          string           `xml:"id"`
	Version     string           `xml:"version"`
	Authors     string           `xml:"authors"`
	License     expression       `xml:"license"`
	LicenseURL  string           `xml:"licenseUrl"` // which NuGet derives from the license
	Readme      string           `xml:"readme"`
	ProjectURL  string           `xml:"projectUrl"`
	Description string           `xml:"description"`
	Tags        string           `xml:"tags"`
	Types       []packageType    `xml:"packageTypes>packageType"`
	Repository  nuspecRepository `xml:"repository"`
}

type expression struct {
	Type string `xml:"type,attr"`
	Text string `xml:",chardata"`
}

type packageType struct {
	Name string `xml:"name,attr"`
}

type nuspecRepository struct {
	Type   string `xml:"type,attr"`
	URL    string `xml:"url,attr"`
	Commit string `xml:"commit,attr,omitempty"`
}

func newNuspec(id, kind, description string, p program) nuspec {
	return nuspec{Metadata: nuspecMetadata{
		ID: id, Version: p.version, Authors: "gctrail", Description: description,
		License: expression{"expression", "MIT"}, LicenseURL: "https://licenses.nuget.org/MIT", Readme: "README.md", ProjectURL: homepage,
		Tags: "dotnet garbage-collection gc performance diagnostics", Types: []packageType{{kind}},
		Repository: nuspecRepository{"git", repository, p.revision},
	}}
}

// Content types and relationships of the Open Packaging Conventions (OPC, ECMA-376 part 2),
// as NuGet's PackageBuilder writes them. NuGet itself reads the nuspec only.
const (
	packageNamespace   = "http://schemas.openxmlformats.org/package/2006/"
	relationshipsType  = "application/vnd.openxmlformats-package.relationships+xml"
	corePropertiesType = "application/vnd.openxmlformats-package.core-properties+xml"
	manifestRelation   = "http://schemas.microsoft.com/packaging/2010/07/manifest"
	otherType          = "application/octet"
)

type relationships struct {
	XMLName xml.Name       `xml:"http://schemas.openxmlformats.org/package/2006/relationships Relationships"`
	All     []relationship `xml:"Relationship"`
}

type relationship struct {
	Type   string `xml:"Type,attr"`
	Target string `xml:"Target,attr"`
	ID     string `xml:"Id,attr"`
}

type contentTypes struct {
	XMLName   xml.Name         `xml:"http://schemas.openxmlformats.org/package/2006/content-types Types"`
	Defaults  []defaultType    `xml:"Default"`
	Overrides []overriddenType `xml:"Override"`
}

type defaultType struct {
	Extension   string `xml:"Extension,attr"`
	ContentType string `xml:"ContentType,attr"`
}

type overriddenType struct {
	PartName    string `xml:"PartName,attr"`
	ContentType string `xml:"ContentType,attr"`
}

// write writes the package with the given files.
func (n nuspec) write(folder string, modified time.Time, files []file) error {
	parts, err := n.parts(files)
	if err != nil {
		return err
	}
	data, err := zipped(parts, modified)
	if err != nil {
		return err
	}
	return writePackage(folder, n.Metadata.ID+"."+n.Metadata.Version+".nupkg", data)
}

// parts returns the files with the parts that describe them, in the order of NuGet's own
// packages. Names that are random there come from what they name, because the same program
// must give the same package.
func (n nuspec) parts(files []file) ([]file, error) {
	manifest := n.Metadata.ID + ".nuspec"
	properties := "package/services/metadata/core-properties/" + short(n.Metadata.ID+"/"+n.Metadata.Version, 32) + ".psmdcp"
	types := contentTypes{Defaults: []defaultType{{"rels", relationshipsType}, {"psmdcp", corePropertiesType}}}
	extensions := []string{"nuspec"}
	for _, f := range files {
		if extension := strings.TrimPrefix(path.Ext(f.name), "."); extension == "" {
			types.Overrides = append(types.Overrides, overriddenType{"/" + f.name, otherType})
		} else if !slices.Contains(extensions, extension) {
			extensions = append(extensions, extension)
		}
	}
	for _, e := range extensions {
		types.Defaults = append(types.Defaults, defaultType{e, otherType})
	}
	relations := relationships{All: []relationship{
		{manifestRelation, "/" + manifest, "R" + short("/"+manifest, 16)},
		{packageNamespace + "relationships/metadata/core-properties", "/" + properties, "R" + short("/"+properties, 16)},
	}}
	parts := []file{{"_rels/.rels", nil, 0o644}, {manifest, nil, 0o644}, {"[Content_Types].xml", nil, 0o644}, {properties, nil, 0o644}}
	for i, v := range []any{relations, n, types, n.coreProperties()} {
		text, err := document(v)
		if err != nil {
			return nil, err
		}
		parts[i].data = text
	}
	return slices.Concat(parts[:2], files, parts[2:]), nil
}

// short returns the beginning of a name's hash.
func short(name string, digits int) string {
	sum := sha512.Sum512([]byte(name))
	return strings.ToUpper(hex.EncodeToString(sum[:]))[:digits]
}

// A coreProperties is the part of that name, whose children other vocabularies define.
type coreProperties struct {
	XMLName     xml.Name `xml:"coreProperties"`
	Namespace   string   `xml:"xmlns,attr"`
	DublinCore  string   `xml:"xmlns:dc,attr"`
	Creator     string   `xml:"dc:creator"`
	Description string   `xml:"dc:description"`
	Identifier  string   `xml:"dc:identifier"`
	Version     string   `xml:"version"`
	Keywords    string   `xml:"keywords"`
	ModifiedBy  string   `xml:"lastModifiedBy"`
}

func (n nuspec) coreProperties() coreProperties {
	m := n.Metadata
	return coreProperties{
		Namespace: packageNamespace + "metadata/core-properties", DublinCore: "http://purl.org/dc/elements/1.1/",
		Creator: m.Authors, Description: m.Description, Identifier: m.ID, Version: m.Version, Keywords: m.Tags, ModifiedBy: m.Authors,
	}
}

// zipped returns files as a zip archive that states sizes before contents, because readers of a
// stream need them first.
func zipped(files []file, modified time.Time) ([]byte, error) {
	const deflated = 20 // the version of ZIP that has Deflate, 2.0
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for _, f := range files {
		var packed bytes.Buffer
		w, _ := flate.NewWriter(&packed, flate.DefaultCompression) // the level is valid
		_, err := w.Write(f.data)
		if err = errors.Join(err, w.Close()); err != nil {
			return nil, err
		}
		h, err := zip.FileInfoHeader(f.header(modified).FileInfo())
		if err != nil {
			return nil, err
		}
		h.Name, h.Method, h.CRC32, h.CompressedSize64 = f.name, zip.Deflate, crc32.ChecksumIEEE(f.data), uint64(packed.Len())
		h.CreatorVersion, h.ReaderVersion = h.CreatorVersion|deflated, deflated // which CreateRaw leaves out
		to, err := z.CreateRaw(h)
		if err != nil {
			return nil, err
		}
		if _, err := to.Write(packed.Bytes()); err != nil {
			return nil, err
		}
	}
	err := z.Close()
	return b.Bytes(), err
}
