package main

import (
	"archive/zip"
	"bytes"
	"encoding/xml"
	"io"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// parts returns the files of a package for NuGet.
func parts(t *testing.T, name string) (files []file) {
	t.Helper()
	z, err := zip.OpenReader(name)
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	for _, f := range z.File {
		r, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		data, err := io.ReadAll(r) // compares the checksum
		if err != nil {
			t.Fatal(f.Name, err)
		}
		if f.Flags&8 != 0 {
			t.Errorf("%s: the size of %s comes after its content", name, f.Name)
		}
		if !f.Modified.Equal(earliest) {
			t.Errorf("%s: %s is of %v", name, f.Name, f.Modified)
		}
		files = append(files, file{f.Name, data, int64(f.Mode().Perm())})
	}
	return files
}

// part returns the content of a file, which must be there.
func part(t *testing.T, files []file, name string) file {
	t.Helper()
	i := slices.IndexFunc(files, func(f file) bool { return f.name == name })
	if i < 0 {
		t.Fatalf("no %s", name)
	}
	return files[i]
}

func decode[T any](t *testing.T, f file) (v T) {
	t.Helper()
	d := xml.NewDecoder(bytes.NewReader(f.data))
	if err := d.Decode(&v); err != nil {
		t.Fatalf("%s: %v\n%s", f.name, err, f.data)
	}
	return v
}

func TestNuGet(t *testing.T) {
	program := self(t)
	folder := filepath.Join(written(t, program), "nuget")
	p, err := readProgram(program)
	if err != nil {
		t.Fatal(err)
	}
	content, err := os.ReadFile(program)
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		id, kind, folder string
		settings         string
		files            []string
	}{
		{"gctrail", "DotnetTool", "tools/any/any/", `<DotNetCliTool Version="2">
  <Commands>
    <Command Name="gctrail"></Command>
  </Commands>
  <RuntimeIdentifierPackages>
    <RuntimeIdentifierPackage RuntimeIdentifier="` + p.rid + `" Id="gctrail.` + p.rid + `"></RuntimeIdentifierPackage>
  </RuntimeIdentifierPackages>
</DotNetCliTool>
`, nil},
		{"gctrail." + p.rid, "DotnetToolRidPackage", "tools/any/" + p.rid + "/", `<DotNetCliTool Version="2">
  <Commands>
    <Command Name="gctrail" EntryPoint="` + p.file() + `" Runner="executable"></Command>
  </Commands>
</DotNetCliTool>
`, []string{p.file()}},
	} {
		t.Run(tt.id, func(t *testing.T) {
			files := parts(t, filepath.Join(folder, tt.id+".1.2.3-rc.1.nupkg"))
			if got := string(part(t, files, tt.folder+"DotnetToolSettings.xml").data); got != xml.Header+tt.settings {
				t.Errorf("%s", got)
			}
			for _, name := range tt.files {
				if f := part(t, files, tt.folder+name); !bytes.Equal(f.data, content) || f.mode != 0o755 {
					t.Errorf("%s, mode %o, is not the program", f.name, f.mode)
				}
			}
			n := decode[nuspec](t, part(t, files, tt.id+".nuspec"))
			if m := n.Metadata; m.ID != tt.id || m.Version != "1.2.3-rc.1" || len(m.Types) != 1 || m.Types[0].Name != tt.kind {
				t.Errorf("%+v", m)
			}
			part(t, files, n.Metadata.Readme)
			checkConventions(t, files, 6+len(tt.files))
		})
	}
}

// checkConventions holds a package to the Open Packaging Conventions: each part has a type,
// and the relationships lead to parts.
func checkConventions(t *testing.T, files []file, count int) {
	t.Helper()
	if len(files) != count+1 {
		t.Errorf("%d files, want %d", len(files), count+1)
	}
	types := decode[contentTypes](t, part(t, files, "[Content_Types].xml"))
	for _, f := range files {
		extension := strings.TrimPrefix(path.Ext(f.name), ".")
		byExtension := slices.ContainsFunc(types.Defaults, func(d defaultType) bool { return d.Extension == extension })
		byName := slices.ContainsFunc(types.Overrides, func(o overriddenType) bool { return o.PartName == "/"+f.name })
		if f.name != "[Content_Types].xml" && !byExtension && !byName {
			t.Errorf("%s has no type", f.name)
		}
	}
	relations := decode[relationships](t, part(t, files, "_rels/.rels"))
	if len(relations.All) != 2 || relations.All[0].ID == relations.All[1].ID {
		t.Errorf("%+v", relations.All)
	}
	for _, r := range relations.All {
		part(t, files, strings.TrimPrefix(r.Target, "/"))
	}
}
