#!/usr/bin/env python3
"""Checks what .ci/release built.

    release_check.py ONE AGAIN VERSION COUNTS

ONE and AGAIN are clones in which GoReleaser has run; AGAIN may be missing. The file COUNTS gets "N passed, N failed, N skipped".
"""
import gzip
import hashlib
import io
import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from xml.etree import ElementTree

sys.dont_write_bytecode = True # nothing is written beside the sources
import npm_registry
import nuget

ONE, AGAIN, VERSION, COUNTS = sys.argv[1:]
DIST = os.path.join(ONE, "dist")
TARGETS = [(o, a) for o in ("linux", "darwin", "windows") for a in ("amd64", "arm64")]
LINUX = ("amd64", "arm64")
SHELLS = ("bash", "zsh", "fish", "ps1")
MAX_BINARY = 26 << 20
MAX_MODULE = 3_000_000 # of the page for browsers, as brotli
MAX_WASI = 18 << 20
MAX_VSIX = 5 << 20
MAX_NOTES = 6_000 # characters
WEB = f"gctrail_{VERSION}_web.zip"
WASI = f"gctrail_{VERSION}_wasip1.wasm"
VSIX = f"gctrail_{VERSION}_vscode.vsix"
MODULES = WEB, WASI, VSIX

passed, failed, skipped = 0, 0, 0


def check(what, ok, why=""):
    global passed, failed
    if ok:
        passed += 1
    else:
        failed += 1
        print(f"FAILED: {what}: {why}")


def equal(what, got, want):
    check(what, got == want, f"{got!r}, want {want!r}")


def skip(what, why):
    global skipped
    skipped += 1
    print(f"skipped: {what}: {why}")


def run(*command, cwd=None):
    """Returns how a command ended, and what it printed."""
    done = subprocess.run(command, cwd=cwd, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    return done.returncode, done.stdout


def read(path):
    with open(path, "rb") as f:
        return f.read()


def sha256(path):
    return hashlib.sha256(read(path)).hexdigest()


def name(os_, arch, suffix):
    return f"gctrail_{VERSION}_{os_}_{arch}.{suffix}"


def archive(os_, arch):
    return name(os_, arch, "zip" if os_ == "windows" else "tar.gz")


def published():
    """Returns the names of the files of a release."""
    names = [archive(o, a) for o, a in TARGETS] + [name(o, a, "cdx.json") for o, a in TARGETS]
    return names + [name("linux", a, s) for a in LINUX for s in ("deb", "rpm", "apk")] + [*MODULES]


def place(n, root=ONE):
    """Returns the path of a file of a release."""
    return os.path.join(root, "build" if n in MODULES else "dist", n)


def pages():
    """Returns the names of the manual pages: one for each command that is not hidden."""
    return sorted(os.listdir(os.path.join(ONE, "build/man")))


def check_files():
    for n in published():
        check(n, os.path.isfile(place(n)), "is not there")
    sums = dict(reversed(line.split("  ")) for line in read(os.path.join(DIST, "checksums.txt")).decode().splitlines())
    equal("names in checksums.txt", sorted(sums), sorted(published()))
    for n, want in sums.items():
        equal(f"SHA-256 of {n}", sha256(place(n)), want)
    check("pages of the manual", len(pages()) > 30 and "gctrail.1" in pages() and "gctrail-collect.1" in pages(), pages())
    return sums


def check_reproducible():
    """Compares the two builds. GoReleaser notes paths and the time in the files that are left out; in winget's, it
    notes the day, and lists first what it packed first."""
    def tree(root):
        files = {}
        for folder, _, names in os.walk(root):
            for n in names:
                path = os.path.join(folder, n)
                content = read(path)
                if n == "gctrail.gctrail.installer.yaml":
                    content = b"\n".join(sorted(l for l in content.splitlines() if not l.startswith(b"ReleaseDate:")))
                files[os.path.relpath(path, root)] = hashlib.sha256(content).hexdigest()
        for n in ("artifacts.json", "metadata.json", "config.yaml"):
            files.pop(n, None)
        return files
    if not os.path.isdir(AGAIN):
        return skip("two builds are equal", "it is not the turn of a second build")
    one, again = tree(DIST), tree(os.path.join(AGAIN, "dist"))
    check("both builds have files", len(one) > 30, len(one))
    different = sorted(n for n in one.keys() | again.keys() if one.get(n) != again.get(n))
    check(f"{len(one)} files of two builds are equal", not different, different)
    print(f"{len(one)} files of two builds compared, {len(different)} different")
    for n in MODULES:
        equal(f"{n} of the second build", sha256(place(n, AGAIN)), sha256(place(n)))


def check_version(what, output):
    """Expects the version, the commit and its date."""
    code, commit = run("git", "log", "-1", "--format=%H %cI", "--date=iso", cwd=ONE)
    revision, date = commit.split()
    # Go notes the date in UTC.
    utc = subprocess.run(["date", "-u", "-d", date, "+%Y-%m-%dT%H:%M:%SZ"], stdout=subprocess.PIPE, text=True).stdout.strip()
    want = f"gctrail v{VERSION}\ncommit  {revision} of {utc}\n"
    check(f"version of {what}", output.startswith(want), f"{output!r}, want {want!r}")


def binary(os_, arch):
    """Returns the path of a program as it was built."""
    level = "v1" if arch == "amd64" else "v8.0"
    return os.path.join(DIST, f"gctrail_{os_}_{arch}_{level}", "gctrail" + (".exe" if os_ == "windows" else ""))


def check_binaries():
    code, revision = run("git", "rev-parse", "HEAD", cwd=ONE)
    for o, a in TARGETS:
        path = binary(o, a)
        code, text = run("go", "version", "-m", path)
        for setting in (f"GOOS={o}", f"GOARCH={a}", "CGO_ENABLED=0", "-trimpath=true", f"vcs.revision={revision.strip()}", "vcs.modified=false"):
            check(f"{o}_{a} is built with {setting}", re.search(rf"^\tbuild\t{re.escape(setting)}$", text, re.M), text)
        check(f"{o}_{a} is v{VERSION}", f"\tmod\tgithub.com/gctrail/gctrail\tv{VERSION}\t" in text, text[:300])
        size = os.path.getsize(path)
        if (o, a) == ("linux", "amd64"):
            check("size of the program", size <= MAX_BINARY, size)
        bom = json.loads(read(os.path.join(DIST, name(o, a, "cdx.json"))))
        modules = len(re.findall(r"^\tdep\t", text, re.M))
        equal(f"modules listed of {o}_{a}", len(bom["components"]), modules + 1)
        equal(f"program listed of {o}_{a}", bom["metadata"]["component"]["hashes"][0]["content"], sha256(path))


def members(path):
    """Returns the files of a tar, zip or apk, by name, as (content, mode)."""
    files = {}
    if path.endswith((".zip", ".nupkg", ".vsix")):
        with zipfile.ZipFile(path) as z:
            for i in z.infolist():
                if not i.is_dir():
                    files[i.filename] = (z.read(i), i.external_attr >> 16 & 0o777)
        return files
    # An apk is several tar files, each in gzip.
    with tarfile.open(fileobj=io.BytesIO(gzip.decompress(read(path))), ignore_zeros=True) as t:
        for i in t:
            if i.isfile():
                files[i.name] = (t.extractfile(i).read(), i.mode)
            check(f"{i.name} of {os.path.basename(path)} is root's", (i.uid, i.gid) == (0, 0), (i.uid, i.gid))
    return files


def check_archives(work):
    for o, a in TARGETS:
        n = archive(o, a)
        files = members(os.path.join(DIST, n))
        program = "gctrail.exe" if o == "windows" else "gctrail"
        want = {program, "LICENSE", "README.md", "CHANGELOG.md"} | {f"man/{p}" for p in pages()} | {f"completions/gctrail.{s}" for s in SHELLS}
        equal(f"files of {n}", sorted(files), sorted(want))
        equal(f"mode of the program of {n}", files[program][1], 0o755)
        if o == "linux":
            runs(n, files[program][0], a, work)


def check_web(work):
    """Checks the page that opens traces. test/browser runs it."""
    files = members(place(WEB))
    equal(f"files of {WEB}", sorted(files), sorted(f"gctrail/{n}" for n in (
        "index.html", "gctrail.html", "gctrail.wasm.gz", "offline.js", "manifest.webmanifest", "icon.svg", "LICENSES")))
    module = gzip.decompress(files["gctrail/gctrail.wasm.gz"][0])
    check(f"module of {WEB} is v{VERSION}", f"\tgithub.com/gctrail/gctrail\tv{VERSION}\t".encode() in module, "it names no such version")
    path = os.path.join(work, "gctrail.wasm")
    with open(path, "wb") as f:
        f.write(module)
    if not shutil.which("node"):
        return skip("size of the module as brotli", "no node")
    code, text = run("node", "-p", f"const z = require('zlib'); z.brotliCompressSync(require('fs').readFileSync({path!r}), {{ params: {{ [z.constants.BROTLI_PARAM_LGWIN]: 24 }} }}).length")
    check("size of the module as brotli", code == 0 and int(text) <= MAX_MODULE, text)
    print(f"{int(text):>11,}  the module as brotli, of {len(module):,} bytes")


def check_wasi(work):
    """Compares reports of the module for WASI with the native program's, and runs the example that docs/wasi.md says runs."""
    path, traces = os.path.abspath(place(WASI)), os.path.abspath(os.path.join(ONE, "testdata"))
    check(f"{WASI} is v{VERSION}", f"\tgithub.com/gctrail/gctrail\tv{VERSION}\t".encode() in read(path), "it names no such version")
    check(f"size of {WASI}", os.path.getsize(path) <= MAX_WASI, os.path.getsize(path))
    native = os.path.abspath(binary("linux", "amd64"))
    if not shutil.which("node") or os.uname().machine != "x86_64":
        return skip(f"{WASI} is run", "this takes node, on x86-64")
    for n in ("net10-wks-stacks.nettrace.gz", "net8-win-x64-gcevents.etl.zip", "net31-net9-lttng.trace.zip"):
        code, got = run("node", "--no-warnings", os.path.join(ONE, ".ci/wasi.mjs"), path, traces, "-format", "json", n)
        want = run(native, "report", "--format", "json", n, cwd=traces)[1]
        check(f"{WASI}: report on {n}", code == 0 and got == want, f"{code}: {got[:300]}, want {want[:300]}")
    # One whose reading makes the memory grow while WASI is called, where Node.js crashed.
    large = os.path.abspath(os.path.join(os.environ.get("GCTRAIL_SHARED", "../shared"), "traces/etw/net.4.5.2.x64.etl.zip"))
    if os.path.isfile(large):
        code, got = run("node", "--no-warnings", os.path.join(ONE, ".ci/wasi.mjs"), path, os.path.dirname(large), "-format", "json", os.path.basename(large))
        check(f"{WASI}: report on a packed .etl", code == 0 and '"verdict_code":"innocent"' in got, f"{code}: {got[:300]}")
    example = os.path.join(work, "verdict.mjs")
    with open(example, "w") as f:
        f.write(re.search(r"```js\n(.*?)```", read(os.path.join(ONE, "docs/wasi.md")).decode(), re.S)[1])
    verdict = json.loads(want)["verdict"]
    code, got = run("node", "--no-warnings", example, path, os.path.join(traces, n))
    equal("the example for Node.js in docs/wasi.md", (code, got.strip()), (0, verdict))


def check_documents():
    """Compares the files that docs/install.md names with those of the release, and makes its notes."""
    text = read(os.path.join(ONE, "docs/install.md")).decode()
    named = set(re.findall(r"gctrail_\d[\w.]*?(?:\.(?:deb|rpm|apk|zip|wasm|vsix|tar\.gz))", text))
    check("docs/install.md names files of a release", len(named) >= 5 and named <= set(published()), sorted(named - set(published())))
    code, notes = run(sys.executable, os.path.join(ONE, ".ci/notes.py"), VERSION)
    check("notes of the release", code == 0 and "npx gctrail" in notes and "](docs/" not in notes, notes[:300])
    check("notes of the release are read in a few minutes", len(notes) <= MAX_NOTES and "blob/v" + VERSION + "/CHANGELOG.md" in notes, len(notes))
    shown = re.search(r"on a real trace:\n\n((?:    .*\n|\n)+)", notes)
    demo = run(binary("linux", "amd64"), "demo")[1] if os.uname().machine == "x86_64" else None
    if shown and demo:
        equal("what the notes show that gctrail demo does not", [l for l in shown[1].splitlines() if l.strip() not in demo], [])
    listed = re.findall(r"^    (?:npx|dnx|winget|brew) .*?(?=  |$)", notes, re.M)
    check("docs/install.md has the lines of the notes", len(listed) >= 2 and all(f"`{l.strip()}`" in text for l in listed), listed)


def check_vsix():
    """Checks the extension for VS Code, in the layout of vsce. editor/vscode and test/browser run it."""
    files = {n: content for n, (content, _) in members(place(VSIX)).items()}
    check(f"size of {VSIX}", os.path.getsize(place(VSIX)) <= MAX_VSIX, os.path.getsize(place(VSIX)))
    package = json.loads(files["extension/package.json"])
    for key, want in (("version", VERSION), ("license", "MIT"), ("main", package["browser"]), ("dependencies", None)):
        equal(f"{key} in package.json of {VSIX}", package.get(key), want)
    space = {"": "http://schemas.microsoft.com/developer/vsx-schema/2011"}
    manifest = ElementTree.fromstring(files["extension.vsixmanifest"])
    identity = manifest.find("Metadata/Identity", space).attrib
    equal(f"identity of {VSIX}", [identity.get(k) for k in ("Id", "Version", "Publisher")], [package[k] for k in ("name", "version", "publisher")])
    engine = [p.get("Value") for p in manifest.iterfind("Metadata/Properties/Property", space) if p.get("Id") == "Microsoft.VisualStudio.Code.Engine"]
    equal(f"VS Code of {VSIX}", engine, [package["engines"]["vscode"]])
    check(f"{VSIX} is for browsers, too", "__web_extension" in manifest.find("Metadata/Tags", space).text.split(","), "no tag says so")
    named = [a.get("Path") for a in manifest.iterfind("Assets/Asset", space)] + [manifest.find(f"Metadata/{n}", space).text for n in ("License", "Icon")]
    named += ["extension/" + os.path.normpath(package[k]) for k in ("main", "icon")]
    named += [f"extension/{path}" for w in package["contributes"]["walkthroughs"] for s in w["steps"] for k, path in s["media"].items() if k != "altText"]
    equal(f"files that {VSIX} names and lacks", [n for n in named if not files.get(n)], [])
    known = {d.get("Extension"): d.get("ContentType") for d in ElementTree.fromstring(files["[Content_Types].xml"])}
    equal(f"files of {VSIX} without a type", [n for n in files if n != "[Content_Types].xml" and not known.get(os.path.splitext(n)[1])], [])
    equal(f"module of {VSIX}", hashlib.sha256(files["extension/dist/gctrail.wasm.gz"]).digest(), hashlib.sha256(members(place(WEB))["gctrail/gctrail.wasm.gz"][0]).digest())


def check_script(work):
    """Installs from the archives of this release as deploy/install.sh does from GitHub's. Nobody signed them."""
    mirror, folder = os.path.join(work, "mirror"), os.path.join(work, "installed")
    os.mkdir(mirror)
    os.symlink(os.path.abspath(DIST), os.path.join(mirror, f"v{VERSION}"))
    command = ["env", f"GCTRAIL_RELEASES=file://{mirror}", "sh", os.path.join(ONE, "deploy/install.sh")]
    code, output = run(*command, VERSION, folder)
    check("deploy/install.sh refuses archives that nobody signed", code == 1 and re.search("nothing is installed|cannot download", output), output)
    code, output = run(*command, "--unverified", VERSION, folder)
    equal(f"deploy/install.sh: {output}", code, 0)
    check_version("installed by deploy/install.sh", run(os.path.join(folder, "gctrail"), "version")[1])


def runs(what, program, arch, work):
    """Runs a program that was unpacked."""
    path = os.path.join(work, "gctrail")
    with open(path, "wb") as f:
        f.write(program)
    os.chmod(path, 0o755)
    machine = {"amd64": "x86_64", "arm64": "aarch64"}[arch]
    emulator = [] if os.uname().machine == machine else [f"qemu-{machine}"]
    if emulator and not shutil.which(emulator[0]):
        skip(f"{what} is run", f"no {emulator[0]}")
        return
    code, text = run(*emulator, path, "version")
    equal(f"{what}: gctrail version", code, 0)
    check_version(what, text)
    check_demo(what, *emulator, path)


def check_demo(what, *command):
    code, text = run(*command, "demo")
    check(f"{what}: gctrail demo", code == 0 and "Total pause" in text and "Findings" in text, f"{code}: {text[:500]}")


UNIT = "usr/lib/systemd/system/gctrail-agent.service"


def installed(zsh, *more):
    """Returns the paths that a package installs."""
    return sorted(
        ["usr/bin/gctrail", "usr/share/bash-completion/completions/gctrail", f"usr/share/zsh/{zsh}/_gctrail",
         "usr/share/fish/vendor_completions.d/gctrail.fish", "usr/share/gctrail/completions/gctrail.ps1",
         "usr/share/doc/gctrail/copyright", "etc/gctrail/agent.yaml", *more]
        + [f"usr/share/man/man1/{p}.gz" for p in pages()])


def check_deb():
    for a in LINUX:
        n = name("linux", a, "deb")
        path = os.path.join(DIST, n)
        code, text = run("dpkg-deb", "-f", path, "Package", "Version", "Architecture", "Depends")
        equal(f"fields of {n}", text, f"Package: gctrail\nVersion: {VERSION}\nArchitecture: {a}\n")
        code, text = run("dpkg-deb", "-c", path)
        lines = [line.split(None, 5) for line in text.splitlines()]
        equal(f"files of {n}", sorted(l[5][2:] for l in lines if not l[0].startswith("d")), installed("vendor-completions", UNIT))
        equal(f"owners of {n}", {l[1] for l in lines}, {"root/root"})
    n = name("linux", "amd64", "deb")
    if os.geteuid() != 0 or os.uname().machine != "x86_64":
        return skip(f"{n} is installed", "this takes root on x86-64")
    if run("dpkg-query", "-W", "gctrail")[0] == 0:
        return skip(f"{n} is installed", "gctrail is installed already")
    code, text = run("dpkg", "-i", os.path.join(DIST, n))
    equal(f"{n} is installed: {text}", code, 0)
    code, text = run("/usr/bin/gctrail", "version")
    check_version(n, text)
    check_demo(n, "/usr/bin/gctrail")
    if shutil.which("man"):
        code, text = run("man", "-w", "gctrail-collect")
        check(f"{n}: man gctrail-collect", text.strip().endswith("/gctrail-collect.1.gz"), text)
    code, text = run("bash", "-c", "source /usr/share/bash-completion/completions/gctrail && complete -p gctrail")
    check(f"{n}: bash completes", code == 0 and "gctrail" in text, text)
    started = re.search(r"^ExecStart=(\S+) agent .*--config (\S+)$", read("/" + UNIT).decode(), re.M)
    equal(f"{n}: what the unit starts", started and started.groups(), ("/usr/bin/gctrail", "/etc/gctrail/agent.yaml"))
    equal(f"{n}: the agent reads its settings", run("/usr/bin/gctrail", "agent", "--config", "/etc/gctrail/agent.yaml", "--print-config")[0], 0)
    code, text = run("dpkg", "-P", "gctrail")
    equal(f"{n} is removed: {text}", code, 0)
    left = [p for p in installed("vendor-completions", UNIT) if os.path.exists("/" + p)]
    equal(f"{n} leaves nothing", left, [])


def check_rpm(work):
    if not shutil.which("rpm"):
        return skip("rpm", "no rpm")
    for a, machine in (("amd64", "x86_64"), ("arm64", "aarch64")):
        n = name("linux", a, "rpm")
        path = os.path.join(DIST, n)
        code, text = run("rpm", "-qp", "--qf", "%{NAME} %{VERSION} %{ARCH} %{LICENSE} %{BUILDHOST}", path)
        equal(f"fields of {n}", text, f"gctrail {VERSION} {machine} MIT gctrail")
        code, text = run("rpm", "-qpl", path)
        equal(f"files of {n}", sorted(p[1:] for p in text.split()), installed("site-functions", UNIT))
        equal(f"digests of {n}: {text}", run("rpm", "-K", "--nosignature", path)[0], 0)
    n = name("linux", "amd64", "rpm")
    if os.geteuid() != 0 or os.uname().machine != "x86_64":
        return skip(f"{n} is installed", "this takes root on x86-64")
    root = os.path.join(work, "rpm")
    os.makedirs(root)
    code, text = run("rpm", "--root", root, "-i", "--nodeps", os.path.join(DIST, n))
    equal(f"{n} is installed: {text}", code, 0)
    check_demo(n, os.path.join(root, "usr/bin/gctrail"))
    code, text = run("rpm", "--root", root, "-e", "gctrail")
    equal(f"{n} is removed: {text}", code, 0)
    check(f"{n} leaves no program", not os.path.exists(os.path.join(root, "usr/bin/gctrail")))


def check_apk(work):
    for a, machine in (("amd64", "x86_64"), ("arm64", "aarch64")):
        n = name("linux", a, "apk")
        files = members(os.path.join(DIST, n))
        info = files.pop(".PKGINFO")[0].decode()
        for line in ("pkgname = gctrail", f"arch = {machine}", f"pkgver = {VERSION}"):
            check(f"{n}: {line}", re.search(rf"^{re.escape(line)}(-r\d+)?$", info, re.M), info)
        equal(f"files of {n}", sorted(files), installed("site-functions"))
        if a == "amd64":
            runs(n, files["usr/bin/gctrail"][0], a, work)


def check_formula(work):
    """Installs what the formula installs."""
    if not shutil.which("ruby"):
        return skip("the formula is installed", "no ruby")
    for system, processor, arch in (("macos", "intel", "amd64"), ("macos", "arm", "arm64"), ("linux", "intel", "amd64"), ("linux", "arm", "arm64")):
        prefix = os.path.join(work, "brew", system, processor)
        os.makedirs(prefix)
        code, text = run("ruby", ".ci/formula.rb", os.path.join(DIST, "homebrew/Formula/gctrail.rb"), system, processor, DIST, prefix)
        equal(f"the formula is installed for {system} on {processor}: {text}", code, 0)
        got = sorted(os.path.relpath(os.path.join(f, n), prefix) for f, _, names in os.walk(prefix) for n in names)
        equal(f"files of the formula for {system} on {processor}", got, sorted(
            ["bin/gctrail", "etc/bash_completion.d/gctrail", "share/zsh/site-functions/_gctrail",
             "share/fish/vendor_completions.d/gctrail.fish", "share/gctrail/completions/gctrail.ps1"]
            + [f"share/man/man1/{p}" for p in pages()]))
        if system == "linux":
            runs(f"the formula for {processor}", read(os.path.join(prefix, "bin/gctrail")), arch, work)


def check_manifests(sums, work):
    """Compares the addresses and checksums that other package managers get."""
    where = f"https://github.com/gctrail/gctrail/releases/download/v{VERSION}/"

    def pairs(what, got, systems):
        equal(f"addresses and checksums of {what}", sorted(got), sorted((where + archive(o, a), sums[archive(o, a)]) for o, a in TARGETS if o in systems))

    formula = read(os.path.join(DIST, "homebrew/Formula/gctrail.rb")).decode()
    pairs("the formula", re.findall(r'url "([^"]+)"\s+sha256 "([0-9a-f]+)"', formula), ("linux", "darwin"))
    check("the formula is none of a cask", "class Gctrail < Formula" in formula and f'version "{VERSION}"' in formula, formula[:300])
    check_formula(work)
    scoop = json.loads(read(os.path.join(DIST, "scoop/bucket/gctrail.json")))
    equal("version for Scoop", scoop["version"], VERSION)
    pairs("Scoop", [(a["url"], a["hash"]) for a in scoop["architecture"].values()], ("windows",))
    equal("programs for Scoop", {b for a in scoop["architecture"].values() for b in a["bin"]}, {"gctrail.exe"})
    winget = {}
    for folder, _, names in os.walk(os.path.join(DIST, "winget")):
        winget.update((n, read(os.path.join(folder, n)).decode()) for n in names)
    equal("manifests for winget", sorted(winget), ["gctrail.gctrail.installer.yaml", "gctrail.gctrail.locale.en-US.yaml", "gctrail.gctrail.yaml"])
    pairs("winget", re.findall(r"InstallerUrl: (\S+)\n\s+InstallerSha256: ([0-9a-f]+)", winget["gctrail.gctrail.installer.yaml"]), ("windows",))
    for n, text in winget.items():
        check(f"{n}: version", f"PackageVersion: {VERSION}\n" in text, text)


def check_modules():
    """Holds the lists of modules against CycloneDX's schema, if the packages of test/exports are installed."""
    if not os.path.isdir("test/exports/node_modules/@cyclonedx"):
        return skip("schema of the lists of modules", "test/exports has no packages")
    code, text = run("node", "test/exports/sbom.mjs", *(os.path.join(DIST, name(o, a, "cdx.json")) for o, a in TARGETS))
    equal(f"lists of modules are valid: {text}", code, 0)


def check_image(work):
    image = os.path.join(DIST, "image")
    index = json.loads(read(os.path.join(image, "index.json")))
    equal("name of the image", index["manifests"][0]["annotations"]["org.opencontainers.image.ref.name"], VERSION)
    if not shutil.which("skopeo"):
        return skip("the image is copied and run", "no skopeo")
    code, text = run("skopeo", "copy", "--all", f"oci:{image}:{VERSION}", f"dir:{work}/copy")
    equal(f"skopeo copies the image: {text}", code, 0)
    for a in LINUX:
        code, text = run("skopeo", "--override-os", "linux", "--override-arch", a, "inspect", "--config", f"oci:{image}:{VERSION}")
        config = json.loads(text)
        equal(f"architecture of the image for {a}", config["architecture"], a)
        equal(f"entry point of the image for {a}", config["config"]["Entrypoint"], ["/gctrail"])
        equal(f"version of the image for {a}", config["config"]["Labels"]["org.opencontainers.image.version"], VERSION)
        one = f"{work}/one-{a}"
        code, text = run("skopeo", "--override-os", "linux", "--override-arch", a, "copy", f"oci:{image}:{VERSION}", f"oci:{one}:{VERSION}")
        equal(f"skopeo copies the image for {a}: {text}", code, 0)
        if not shutil.which("umoci"):
            skip(f"the image for {a} is run", "no umoci")
            continue
        bundle = f"{work}/bundle-{a}"
        code, text = run("umoci", "unpack", "--rootless", "--image", f"{one}:{VERSION}", bundle)
        equal(f"umoci unpacks the image for {a}: {text}", code, 0)
        path = f"{bundle}/rootfs/gctrail"
        runs(f"image for {a}", read(path), a, work)
        if a == "amd64" and os.geteuid() == 0 and os.uname().machine == "x86_64":
            check_demo("the image as root folder", "chroot", f"{bundle}/rootfs", "/gctrail")


NPM = {"linux": "linux", "darwin": "darwin", "windows": "win32", "amd64": "x64", "arm64": "arm64"}


def npm(registry, work, *arguments):
    """Runs a command with our registry for npm, and with no settings of the user."""
    with open(os.path.join(work, "npmrc"), "w") as f:
        f.write(f"{registry.url[len('http:'):]}:_authToken={npm_registry.TOKEN}\n")
    settings = {"registry": registry.url, "cache": os.path.join(work, "npm-cache"), "userconfig": os.path.join(work, "npmrc"),
                "audit": "false", "fund": "false", "update-notifier": "false"}
    return run("env", *(f"npm_config_{key.replace('-', '_')}={value}" for key, value in settings.items()), *arguments, cwd=work)


def check_npm(work):
    """Compares the packages for npm with the programs, and installs them from a registry of our own."""
    folder = os.path.join(DIST, "npm")
    packages = {f"{NPM[o]}-{NPM[a]}": (o, a) for o, a in TARGETS}
    equal("packages for npm", sorted(os.listdir(folder)), sorted(f"gctrail-{n}{VERSION}.tgz" for n in ["", *(p + "-" for p in packages)]))
    for n, (o, a) in packages.items():
        files = members(os.path.join(folder, f"gctrail-{n}-{VERSION}.tgz"))
        manifest = json.loads(files["package/package.json"][0])
        equal(f"npm's package of {n}", {k: manifest.get(k) for k in ("name", "version", "os", "cpu", "scripts")},
              {"name": f"@gctrail/{n}", "version": VERSION, "os": [NPM[o]], "cpu": [NPM[a]], "scripts": None})
        program = "package/bin/gctrail" + (".exe" if o == "windows" else "")
        equal(f"files of npm's package of {n}", sorted(files), sorted(["package/package.json", "package/README.md", "package/LICENSE", program]))
        equal(f"program of npm's package of {n}", (hashlib.sha256(files[program][0]).hexdigest(), files[program][1]), (sha256(binary(o, a)), 0o755))
    manifest = json.loads(members(os.path.join(folder, f"gctrail-{VERSION}.tgz"))["package/package.json"][0])
    equal("what npm's gctrail depends on", manifest["optionalDependencies"], {f"@gctrail/{p}": VERSION for p in packages})
    if not shutil.which("npm"):
        return skip("npm installs gctrail", "no npm")
    with npm_registry.serve() as registry:
        publish_npm(registry, folder, work)
        install_npm(registry, work)


def publish_npm(registry, folder, work):
    """Publishes the packages as the workflow does."""
    code, text = npm(registry, work, "bash", os.path.abspath(".ci/publish"), "npm", VERSION, os.path.abspath(DIST))
    equal(f"the packages are published: {text}", code, 0)
    shutil.rmtree(os.path.join(work, "npm-cache")) # which has what was sent: what installs it is to download it
    names = [n for n, _ in registry.published]
    equal("packages that are published before gctrail", sorted(names[:-1]), sorted(f"@gctrail/{NPM[o]}-{NPM[a]}" for o, a in TARGETS))
    equal("package that is published last", names[-1:], ["gctrail"])
    equal("tags of published packages", {t for _, t in registry.published}, {"next" if "-" in VERSION else "latest"})
    equal("files that are published", {n: hashlib.sha256(f).hexdigest() for n, f in registry.files.items()},
          {n: sha256(os.path.join(folder, n)) for n in os.listdir(folder)})


def install_npm(registry, work):
    code, target = run("node", "-p", "process.platform + '-' + process.arch")
    target, prefix = target.strip(), os.path.join(work, "npm")
    code, text = npm(registry, work, "npm", "install", "--global", f"--prefix={prefix}", "gctrail")
    equal(f"npm install --global gctrail: {text}", code, 0)
    equal("packages that npm downloads", sorted(registry.downloads), sorted([f"gctrail-{VERSION}.tgz", f"gctrail-{target}-{VERSION}.tgz"]))
    program = os.path.join(prefix, "bin/gctrail")
    check_version("installed by npm", run(program, "version")[1])
    check_demo("installed by npm", program)
    equal("exit code of gctrail installed by npm", run(program, "report", "no-such-file")[0], 3)
    code, text = npm(registry, work, "npx", "--yes", "gctrail", "demo")
    check("npx gctrail demo", code == 0 and "Total pause" in text and "Findings" in text, f"{code}: {text[:500]}")
    without = os.path.join(work, "npm-without")
    code, text = npm(registry, work, "npm", "install", "--omit=optional", f"--prefix={without}", "gctrail")
    equal(f"npm install --omit=optional gctrail: {text}", code, 0)
    code, text = run(os.path.join(without, "node_modules/.bin/gctrail"), "demo")
    check("gctrail without its program names the command that installs it", code == 3 and f"npm install @gctrail/{target}@{VERSION}" in text, f"{code}: {text}")


RIDS = {"linux": "linux", "darwin": "osx", "windows": "win", "amd64": "x64", "arm64": "arm64"}


def check_nuget():
    """Holds the packages for NuGet to the layout that the .NET SDK installs tools from, and compares their programs."""
    folder = os.path.join(DIST, "nuget")
    rids = {f"{RIDS[o]}-{RIDS[a]}": (o, a) for o, a in TARGETS}
    programs = {rid: "gctrail.exe" if o == "windows" else "gctrail" for rid, (o, _) in rids.items()}
    for what, got, want in nuget.checks(folder, VERSION, programs):
        equal(what, got, want)
    for rid, target in rids.items():
        content, _ = members(os.path.join(folder, f"gctrail.{rid}.{VERSION}.nupkg"))[f"tools/any/{rid}/{programs[rid]}"]
        equal(f"program of NuGet's package of {rid}", hashlib.sha256(content).hexdigest(), sha256(binary(*target)))


def sizes():
    for n in published():
        print(f"{os.path.getsize(place(n)):>11,}  {n}")
    image = sum(os.path.getsize(os.path.join(f, n)) for f, _, names in os.walk(os.path.join(DIST, "image")) for n in names)
    print(f"{image:>11,}  image, of two architectures")
    for folder in ("npm", "nuget"):
        for n in sorted(os.listdir(os.path.join(DIST, folder))):
            print(f"{os.path.getsize(os.path.join(DIST, folder, n)):>11,}  {folder}: {n}")


def main():
    work = tempfile.mkdtemp()
    try:
        sums = check_files()
        check_reproducible()
        check_binaries()
        check_archives(work)
        check_web(work)
        check_wasi(work)
        check_documents()
        check_vsix()
        check_script(work)
        check_deb()
        check_rpm(work)
        check_apk(work)
        check_manifests(sums, work)
        check_modules()
        check_image(work)
        check_npm(work)
        check_nuget()
        sizes()
    finally:
        shutil.rmtree(work, ignore_errors=True)
    text = f"{passed} passed, {failed} failed, {skipped} skipped"
    with open(COUNTS, "w") as f:
        f.write(text + "\n")
    print(text)
    return failed > 0


sys.exit(main())
