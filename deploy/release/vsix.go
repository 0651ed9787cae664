package main

import (
	"encoding/json"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/gctrail/gctrail/internal/assets"
	"github.com/gctrail/gctrail/internal/html"
)

// editor is the folder of the extension for VS Code.
const editor = "editor/vscode"

// vsix returns the files of the extension's package, in the layout of vsce, the packer of VS Code.
// That one needs several hundred packages of npm, and its archives have the time in them.
func (p *pageParts) vsix(module []byte) ([]file, error) {
	own, err := extension()
	if err != nil {
		return nil, err
	}
	notices, err := os.ReadFile("internal/assets/page/LICENSES")
	if err != nil {
		return nil, err
	}
	hashes, err := json.Marshal(map[string]string{"script": html.Hash(assets.Script), "style": html.Hash(assets.Style)})
	if err != nil {
		return nil, err
	}
	own = append(own,
		file{name: "extension/dist/gctrail.wasm.gz", data: module},
		file{name: "extension/dist/worker.js", data: []byte(p.worker)},
		file{name: "extension/dist/parts.json", data: hashes},
		file{name: "extension/NOTICES.txt", data: append(append(notices, '\n'), assets.Licenses()...)},
	)
	manifest, err := manifestOf(own)
	if err != nil {
		return nil, err
	}
	return append([]file{
		{name: "extension.vsixmanifest", data: manifest},
		{name: "[Content_Types].xml", data: vsixTypes(own)},
	}, own...), nil
}

// extension returns the files that are in the repository.
func extension() ([]file, error) {
	paths := map[string]string{
		"extension/package.json": editor + "/package.json", "extension/readme.md": editor + "/README.md",
		"extension/changelog.md": editor + "/CHANGELOG.md", "extension/LICENSE.txt": "LICENSE",
	}
	for _, folder := range []string{"dist", "media"} {
		found, err := filepath.Glob(filepath.Join(editor, folder, "*"))
		if err != nil {
			return nil, err
		}
		for _, p := range found {
			paths[path.Join("extension", folder, filepath.Base(p))] = p
		}
	}
	var files []file
	for name, p := range paths {
		data, err := os.ReadFile(p)
		if err != nil {
			return nil, err
		}
		files = append(files, file{name: name, data: data})
	}
	slices.SortFunc(files, func(a, b file) int { return strings.Compare(a.name, b.name) })
	return files, nil
}
