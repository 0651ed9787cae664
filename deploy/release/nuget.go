package main

import (
	"encoding/xml"
	"os"
)

// The folder of a tool's files is tools/FRAMEWORK/RID. The framework is any where nothing
// depends on one, as the SDK packs self-contained tools, and the package that only names
// others. See _ToolPackShortTargetFrameworkName and _ToolSettingsTargetFrameworkPath in
// Microsoft.NET.PackTool.targets of dotnet/sdk.
const toolFolder = "tools/any/"

// settingsName is the file in which the SDK looks for a tool's command.
const settingsName = "DotnetToolSettings.xml"

// A toolSettings is a DotnetToolSettings.xml. See DotNetCliTool.cs of dotnet/sdk; version 2
// has programs that need no runtime, and packages for runtime identifiers. .NET 10 reads it.
type toolSettings struct {
	XMLName  xml.Name      `xml:"DotNetCliTool"`
	Version  int           `xml:"Version,attr"`
	Commands []toolCommand `xml:"Commands>Command"`
	Packages *toolPackages `xml:"RuntimeIdentifierPackages"`
}

type toolPackages struct {
	All []toolPackage `xml:"RuntimeIdentifierPackage"`
}

type toolCommand struct {
	Name       string `xml:"Name,attr"`
	EntryPoint string `xml:"EntryPoint,attr,omitempty"`
	Runner     string `xml:"Runner,attr,omitempty"`
}

// A toolPackage names the package of the same version for a runtime identifier. The SDK
// installs the nearest: on Alpine, linux-musl-x64 falls back on linux-x64, whose static
// program runs there.
type toolPackage struct {
	RID string `xml:"RuntimeIdentifier,attr"`
	ID  string `xml:"Id,attr"`
}

// The types of packages: searches find only the first.
const (
	toolType        = "DotnetTool"
	ridSpecificType = "DotnetToolRidPackage"
)

// writeNuGet writes a package for each program, and the one that people install.
func writeNuGet(folder string, programs []program, license []byte) error {
	var packages toolPackages
	for _, p := range programs {
		id := "gctrail." + p.rid
		packages.All = append(packages.All, toolPackage{p.rid, id})
		data, err := os.ReadFile(p.path)
		if err != nil {
			return err
		}
		settings, err := document(toolSettings{Version: 2, Commands: []toolCommand{{"gctrail", p.file(), "executable"}}})
		if err != nil {
			return err
		}
		within := toolFolder + p.rid + "/"
		n := newNuspec(id, ridSpecificType, "The program of the tool gctrail for "+p.rid+". Install gctrail instead, which names it.", p)
		if err := n.write(folder, p.created, []file{
			{within + settingsName, settings, 0o644}, {within + p.file(), data, 0o755}, {"README.md", nugetReadme, 0o644}, {"LICENSE", license, 0o644},
		}); err != nil {
			return err
		}
	}
	settings, err := document(toolSettings{Version: 2, Commands: []toolCommand{{Name: "gctrail"}}, Packages: &packages})
	if err != nil {
		return err
	}
	n := newNuspec("gctrail", toolType, summary+".", programs[0])
	return n.write(folder, programs[0].created, []file{
		{toolFolder + "any/" + settingsName, settings, 0o644}, {"README.md", nugetReadme, 0o644}, {"LICENSE", license, 0o644},
	})
}

// document returns a value as an XML document.
func document(v any) ([]byte, error) {
	text, err := xml.MarshalIndent(v, "", "  ")
	return append([]byte(xml.Header), append(text, '\n')...), err
}
