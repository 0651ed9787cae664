package main

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"path"
	"slices"
	"strings"
	"text/template"
)

// An editorPackage is the part of the extension's package.json that the package's manifest repeats.
type editorPackage struct {
	Name, Publisher, Version, DisplayName, Description, Homepage, Icon string

	Categories, Keywords []string
	Engines              struct{ VSCode string }
	Repository, Bugs     struct{ URL string }
	GalleryBanner        struct{ Color, Theme string }
}

// vsixManifest describes the package to the Marketplace and to VS Code, as vsce does.
var vsixManifest = template.Must(template.New("").Funcs(template.FuncMap{"x": escaped, "join": strings.Join}).Parse(`<?xml version="1.0" encoding="utf-8"?>
<PackageManifest Version="2.0.0" xmlns="http://schemas.microsoft.com/developer/vsx-schema/2011" xmlns:d="http://schemas.microsoft.com/developer/vsx-schema-design/2011">
	<Metadata>
		<Identity Language="en-US" Id="{{x .Name}}" Version="{{x .Version}}" Publisher="{{x .Publisher}}"/>
		<DisplayName>{{x .DisplayName}}</DisplayName>
		<Description xml:space="preserve">{{x .Description}}</Description>
		<Tags>{{x (join .Keywords ",")}},__web_extension</Tags>
		<Categories>{{x (join .Categories ",")}}</Categories>
		<GalleryFlags>Public</GalleryFlags>
		<Properties>
			<Property Id="Microsoft.VisualStudio.Code.Engine" Value="{{x .Engines.VSCode}}"/>
			<Property Id="Microsoft.VisualStudio.Code.ExtensionDependencies" Value=""/>
			<Property Id="Microsoft.VisualStudio.Code.ExtensionPack" Value=""/>
			<Property Id="Microsoft.VisualStudio.Code.ExtensionKind" Value="workspace,web"/>
			<Property Id="Microsoft.VisualStudio.Code.LocalizedLanguages" Value=""/>
			<Property Id="Microsoft.VisualStudio.Code.EnabledApiProposals" Value=""/>
			<Property Id="Microsoft.VisualStudio.Code.ExecutesCode" Value="true"/>
			<Property Id="Microsoft.VisualStudio.Services.Links.Source" Value="{{x .Repository.URL}}"/>
			<Property Id="Microsoft.VisualStudio.Services.Links.Getstarted" Value="{{x .Repository.URL}}"/>
			<Property Id="Microsoft.VisualStudio.Services.Links.GitHub" Value="{{x .Repository.URL}}"/>
			<Property Id="Microsoft.VisualStudio.Services.Links.Support" Value="{{x .Bugs.URL}}"/>
			<Property Id="Microsoft.VisualStudio.Services.Links.Learn" Value="{{x .Homepage}}"/>
			<Property Id="Microsoft.VisualStudio.Services.Branding.Color" Value="{{x .GalleryBanner.Color}}"/>
			<Property Id="Microsoft.VisualStudio.Services.Branding.Theme" Value="{{x .GalleryBanner.Theme}}"/>
			<Property Id="Microsoft.VisualStudio.Services.GitHubFlavoredMarkdown" Value="true"/>
			<Property Id="Microsoft.VisualStudio.Services.Content.Pricing" Value="Free"/>
		</Properties>
		<License>extension/LICENSE.txt</License>
		<Icon>extension/{{x .Icon}}</Icon>
	</Metadata>
	<Installation>
		<InstallationTarget Id="Microsoft.VisualStudio.Code"/>
	</Installation>
	<Dependencies/>
	<Assets>
		<Asset Type="Microsoft.VisualStudio.Code.Manifest" Path="extension/package.json" Addressable="true"/>
		<Asset Type="Microsoft.VisualStudio.Services.Content.Details" Path="extension/readme.md" Addressable="true"/>
		<Asset Type="Microsoft.VisualStudio.Services.Content.Changelog" Path="extension/changelog.md" Addressable="true"/>
		<Asset Type="Microsoft.VisualStudio.Services.Content.License" Path="extension/LICENSE.txt" Addressable="true"/>
		<Asset Type="Microsoft.VisualStudio.Services.Icons.Default" Path="extension/{{x .Icon}}" Addressable="true"/>
	</Assets>
</PackageManifest>
`))

// manifestOf returns the manifest of the package with these files.
func manifestOf(files []file) ([]byte, error) {
	var d editorPackage
	i := slices.IndexFunc(files, func(f file) bool { return f.name == "extension/package.json" })
	if err := json.Unmarshal(files[i].data, &d); err != nil {
		return nil, fmt.Errorf("%s/package.json: %w", editor, err)
	}
	var b bytes.Buffer
	err := vsixManifest.Execute(&b, d)
	return b.Bytes(), err
}

// mediaTypes are the types of files, by how their names end.
var mediaTypes = map[string]string{
	".css": "text/css", ".gz": "application/gzip", ".js": "application/javascript", ".json": "application/json",
	".md": "text/markdown", ".png": "image/png", ".txt": "text/plain", ".vsixmanifest": "text/xml",
}

// vsixTypes returns the types of all files of the package.
func vsixTypes(files []file) []byte {
	endings := []string{".vsixmanifest"}
	for _, f := range files {
		endings = append(endings, path.Ext(f.name))
	}
	slices.Sort(endings)
	var b bytes.Buffer
	b.WriteString(`<?xml version="1.0" encoding="utf-8"?>` + "\n" + `<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">`)
	for _, ending := range slices.Compact(endings) {
		fmt.Fprintf(&b, `<Default Extension="%s" ContentType="%s"/>`, ending, mediaTypes[ending])
	}
	b.WriteString("</Types>\n")
	return b.Bytes()
}

func escaped(s string) string {
	var b bytes.Buffer
	_ = xml.EscapeText(&b, []byte(s)) // a buffer takes everything
	return b.String()
}
