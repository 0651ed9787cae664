"""The layout of packages for NuGet from which the .NET SDK installs a native program as a tool.

The rules are those of dotnet/sdk: Microsoft.NET.PackTool.targets writes such packages; ToolPackageDownloader.cs,
ToolPackageInstance.cs and ToolConfigurationDeserializer.cs read them. Others are nuget.org's, which signs packages.
"""
import os
import re
import struct
import zipfile
from xml.etree import ElementTree

NUSPEC = "{http://schemas.microsoft.com/packaging/2013/05/nuspec.xsd}"
TYPES = "{http://schemas.openxmlformats.org/package/2006/content-types}"
RELATIONS = "{http://schemas.openxmlformats.org/package/2006/relationships}"
MANIFEST = "http://schemas.microsoft.com/packaging/2010/07/manifest"
SETTINGS = "DotnetToolSettings.xml"
MOST = 250 << 20 # bytes that nuget.org takes


def checks(folder, version, programs):
    """Yields (what, got, want). PROGRAMS has the name of the program for each runtime identifier."""
    names = ["gctrail", *(f"gctrail.{rid}" for rid in programs)]
    yield "packages for NuGet", sorted(os.listdir(folder)), sorted(f"{n}.{version}.nupkg" for n in names)
    for rid, program in programs.items():
        package = Package(folder, f"gctrail.{rid}", version)
        yield from package.checks("DotnetToolRidPackage", f"tools/any/{rid}/", program)
        yield f"command of {package.id}", package.command(), {"Name": "gctrail", "EntryPoint": program, "Runner": "executable"}
        yield f"packages that {package.id} names", package.named(), []
        yield f"mode of the program of {package.id}", package.mode(f"tools/any/{rid}/{program}"), 0o755
    package = Package(folder, "gctrail", version)
    yield from package.checks("DotnetTool", "tools/any/any/")
    yield "command of gctrail", package.command(), {"Name": "gctrail"}
    yield "packages that gctrail names", package.named(), [(rid, f"gctrail.{rid}") for rid in programs]


class Package:
    def __init__(self, folder, package, version):
        self.id, self.version = package, version
        self.path = os.path.join(folder, f"{package}.{version}.nupkg")
        self.archive = zipfile.ZipFile(self.path)
        self.names = self.archive.namelist()

    def xml(self, name):
        return ElementTree.fromstring(self.archive.read(name))

    def settings(self):
        """Returns the settings of the tool, of which a package has one file: the SDK refuses two."""
        return self.xml(next(n for n in self.names if n.endswith("/" + SETTINGS)))

    def command(self):
        return dict(self.settings().find("Commands/Command").attrib)

    def named(self):
        return [(p.get("RuntimeIdentifier"), p.get("Id")) for p in self.settings().findall("RuntimeIdentifierPackages/RuntimeIdentifierPackage")]

    def mode(self, name):
        return self.archive.getinfo(name).external_attr >> 16 & 0o777

    def checks(self, kind, within, *program):
        """Yields what holds for each package. The SDK looks for files in tools/FRAMEWORK/RID."""
        parts = [n for n in self.names if not n.startswith("package/services/metadata/core-properties/")]
        yield f"files of {self.id}", sorted(parts), sorted(
            ["_rels/.rels", "[Content_Types].xml", f"{self.id}.nuspec", "README.md", "LICENSE", *(within + n for n in (SETTINGS, *program))])
        settings = self.settings()
        yield f"settings of {self.id}", (settings.tag, settings.attrib, len(settings.findall("Commands/Command"))), ("DotNetCliTool", {"Version": "2"}, 1)
        yield from self.nuspec(kind)
        yield from self.parts()
        yield from self.records()

    def nuspec(self, kind):
        metadata = self.xml(f"{self.id}.nuspec").find(NUSPEC + "metadata")
        text = lambda name: metadata.findtext(NUSPEC + name)
        yield f"description of {self.id}", [text(n) for n in ("id", "version", "readme", "license", "licenseUrl")], [
            self.id, self.version, "README.md", "MIT", "https://licenses.nuget.org/MIT"] # nuget.org refuses an expression without its address
        yield f"types of {self.id}", [t.get("name") for t in metadata.iter(NUSPEC + "packageType")], [kind]
        yield f"what {self.id} depends on", [n.tag for n in metadata.iter() if n.tag in (NUSPEC + "dependencies", NUSPEC + "frameworkReferences")], []
        yield f"fields of {self.id} that nuget.org needs", [n for n in ("authors", "description") if not text(n)], []

    def parts(self):
        """Yields what the Open Packaging Conventions ask for: a type for each part, and relations to parts that exist."""
        types = self.xml("[Content_Types].xml")
        extensions = {t.get("Extension") for t in types.iter(TYPES + "Default")}
        overridden = {t.get("PartName") for t in types.iter(TYPES + "Override")}
        known = lambda name: "/" + name in overridden or os.path.splitext(name)[1][1:] in extensions or name == "_rels/.rels"
        yield f"parts of {self.id} without a type", [n for n in self.names if n != "[Content_Types].xml" and not known(n)], []
        relations = {r.get("Type"): r.get("Target") for r in self.xml("_rels/.rels").iter(RELATIONS + "Relationship")}
        yield f"manifest of {self.id}", relations.get(MANIFEST), f"/{self.id}.nuspec"
        yield f"relations of {self.id} to nothing", [t for t in relations.values() if t[1:] not in self.names], []
        links = re.findall(r"\]\(([^)]+)\)", self.archive.read("README.md").decode())
        yield f"links of {self.id} that nuget.org cannot follow", [l for l in links if not l.startswith("https://")], []

    def records(self):
        """Yields what nuget.org's signature, which it appends as a part, would not leave as it is: its removal would not
        give the package that was attested."""
        sizes = [max(i.file_size, i.compress_size, i.header_offset) for i in self.archive.infolist()]
        yield f"size of {self.id}", [s for s in (*sizes, os.path.getsize(self.path)) if s > MOST], []
        yield f"comment of {self.id}", self.archive.comment, b""
        yield f"parts of {self.id} whose size follows them", [i.filename for i in self.archive.infolist() if i.flag_bits & 8], []
        yield f"parts of {self.id} of zip64", [i.filename for i in self.archive.infolist() if 1 in fields(i.extra)], []
        yield f"parts of {self.id} of no version of ZIP", [i.filename for i in self.archive.infolist() if i.extract_version < 20], []
        yield f"signature of {self.id}", [n for n in self.names if n.lower() == ".signature.p7s"], []


def fields(extra):
    """Returns the kinds of a ZIP record's further fields."""
    kinds = []
    while len(extra) >= 4:
        kind, size = struct.unpack_from("<HH", extra)
        kinds.append(kind)
        extra = extra[4 + size:]
    return kinds
