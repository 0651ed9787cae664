package supply

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

const (
	released = "1.2.3"
	identity = "https://github.com/gctrail/gctrail/.github/workflows/release.yml@refs/tags/v" + released
	issuer   = "https://token.actions.githubusercontent.com"
	earlier  = "the earlier program"
)

// A release holds the files of one by name.
type release map[string][]byte

func archiveName() string {
	return fmt.Sprintf("gctrail_%s_%s_%s.tar.gz", released, runtime.GOOS, runtime.GOARCH)
}

// archive returns an archive with a program that prints a text.
func archive(t *testing.T, prints string) []byte {
	t.Helper()
	var b bytes.Buffer
	compressed := gzip.NewWriter(&b)
	w := tar.NewWriter(compressed)
	for name, content := range map[string]string{"gctrail": "#!/bin/sh\necho " + prints + "\n", "LICENSE": "MIT"} {
		if err := w.WriteHeader(&tar.Header{Name: name, Mode: 0o755, Size: int64(len(content))}); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write([]byte(content)); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := compressed.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func checksums(archive []byte) []byte {
	return fmt.Appendf(nil, "%x  gctrail_%s_plan9_amd64.tar.gz\n%x  %s\n", sha256.Sum256(nil), released, sha256.Sum256(archive), archiveName())
}

// A signer returns the signature of checksums by an identity, as a verifier reads it.
type signer func(checksums []byte, identity, issuer string) []byte

func newRelease(t *testing.T, sign signer) release {
	t.Helper()
	a := archive(t, "released")
	sums := checksums(a)
	return release{archiveName(): a, "checksums.txt": sums, "checksums.txt.sigstore.json": sign(sums, identity, issuer)}
}

// A damage is a fault of a release, and the reason to install nothing of it.
type damage struct {
	name   string
	change func(t *testing.T, r release, sign signer)
	why    string // empty if it is installed
}

var damages = []damage{
	{"as released", func(*testing.T, release, signer) {}, ""},
	{"another archive", func(t *testing.T, r release, _ signer) {
		r[archiveName()] = archive(t, "forged")
	}, "does not have the checksum"},
	{"another archive with its checksum", func(t *testing.T, r release, _ signer) {
		r[archiveName()] = archive(t, "forged")
		r["checksums.txt"] = checksums(r[archiveName()])
	}, "could not verify"},
	{"signed by another workflow", func(t *testing.T, r release, sign signer) {
		r[archiveName()] = archive(t, "forged")
		r["checksums.txt"] = checksums(r[archiveName()])
		r["checksums.txt.sigstore.json"] = sign(r["checksums.txt"], strings.Replace(identity, "release.yml", "test.yml", 1), issuer)
	}, "could not verify"},
	{"signed in another repository", func(t *testing.T, r release, sign signer) {
		r[archiveName()] = archive(t, "forged")
		r["checksums.txt"] = checksums(r[archiveName()])
		r["checksums.txt.sigstore.json"] = sign(r["checksums.txt"], strings.Replace(identity, "gctrail/gctrail", "gctrail/gctrail2", 1), issuer)
	}, "could not verify"},
	{"signed for another version", func(_ *testing.T, r release, sign signer) {
		r["checksums.txt.sigstore.json"] = sign(r["checksums.txt"], strings.Replace(identity, released, "1.2.2", 1), issuer)
	}, "could not verify"},
	{"signed with the token of another issuer", func(_ *testing.T, r release, sign signer) {
		r["checksums.txt.sigstore.json"] = sign(r["checksums.txt"], identity, "https://accounts.example.com")
	}, "could not verify"},
	{"without a signature", func(_ *testing.T, r release, _ signer) {
		delete(r, "checksums.txt.sigstore.json")
	}, "cannot download"},
	{"with a damaged signature", func(_ *testing.T, r release, _ signer) {
		r["checksums.txt.sigstore.json"] = []byte("{}")
	}, "could not verify"},
	{"without the archive", func(_ *testing.T, r release, _ signer) {
		delete(r, archiveName())
	}, "cannot download"},
}

// A machine is a machine to install on: its programs, besides the ones of every system.
type machine struct {
	bin, folder string
	environment []string // besides that of all
}

// tools are the programs of every system that the script runs.
var tools = []string{"awk", "bash", "chmod", "cp", "curl", "cut", "gzip", "mkdir", "mktemp", "mv", "rm", "sha256sum", "sh", "tar", "uname"}

// newMachine returns a machine on which an earlier version is installed.
func newMachine(t *testing.T) machine {
	t.Helper()
	m := machine{bin: t.TempDir(), folder: t.TempDir()}
	for _, tool := range tools {
		path, err := exec.LookPath(tool)
		if err != nil {
			t.Skip(err)
		}
		if err := os.Symlink(path, filepath.Join(m.bin, tool)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(m.folder, "gctrail"), []byte(earlier), 0o600); err != nil {
		t.Fatal(err)
	}
	return m
}

// program adds a program to the machine.
func (m *machine) program(t *testing.T, name, script string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(m.bin, name), []byte("#!/bin/sh\n"+script), 0o700); err != nil {
		t.Fatal(err)
	}
}

// install runs the script.
func (m *machine) install(t *testing.T, r release, arguments ...string) (output string, err error) {
	t.Helper()
	return m.run(t, r, "sh", append([]string{repository + "/deploy/install.sh"}, arguments...)...)
}

// run runs a program of the machine, for which a server has the release.
func (m *machine) run(t *testing.T, r release, program string, arguments ...string) (output string, err error) {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		content, ok := r[strings.TrimPrefix(req.URL.Path, "/v"+released+"/")]
		if !ok {
			http.NotFound(w, req)
			return
		}
		_, _ = w.Write(content)
	}))
	defer server.Close()
	cmd := exec.Command(filepath.Join(m.bin, program), arguments...)
	temporary := t.TempDir()
	cmd.Env = append([]string{"PATH=" + m.bin, "GCTRAIL_RELEASES=" + server.URL, "TMPDIR=" + temporary, "HOME=" + t.TempDir()}, m.environment...)
	out, err := cmd.CombinedOutput()
	if left, _ := os.ReadDir(temporary); len(left) != 0 {
		t.Errorf("%v is left behind", left)
	}
	return string(out), err
}

// installs expects the script to install the release, or to leave the earlier program
// alone and give the reason.
func (m *machine) installs(t *testing.T, r release, why string, arguments ...string) {
	t.Helper()
	out, err := m.install(t, r, append(arguments, released, m.folder)...)
	installed := filepath.Join(m.folder, "gctrail")
	content, readErr := os.ReadFile(installed)
	if readErr != nil {
		t.Fatal(readErr)
	}
	if why != "" {
		if err == nil || !strings.Contains(out, why) || string(content) != earlier {
			t.Errorf("%v, %q installed; want: %s\n%s", err, content, why, out)
		}
	} else if prints, runErr := exec.Command(installed).Output(); err != nil || runErr != nil || string(prints) != "released\n" {
		t.Errorf("%v, %v, installed program prints %q\n%s", err, runErr, prints, out)
	}
	if files, _ := os.ReadDir(m.folder); len(files) != 1 {
		t.Errorf("files in the folder: %v", files)
	}
}

func TestInstall(t *testing.T) {
	trusted, foreign := newAuthority(t), newAuthority(t)
	forged := damage{"signed with a certificate of another authority", func(_ *testing.T, r release, _ signer) {
		r["checksums.txt.sigstore.json"] = foreign.sign(r["checksums.txt"], identity, issuer)
	}, "could not verify"}
	for _, d := range append(damages, forged) {
		t.Run(d.name, func(t *testing.T) {
			m, r := newMachine(t), newRelease(t, trusted.sign)
			m.hasCosign(t, trusted)
			d.change(t, r, trusted.sign)
			m.installs(t, r, d.why)
		})
	}
}

// unsigned is the signer of a release whose signature nothing reads.
func unsigned([]byte, string, string) []byte { return nil }

// attested stands in for gh on a machine that is logged in: %s has the digests of the
// archives that the workflow built.
const attested = `case "$1 $2" in
"auth token") exit 0 ;;
"attestation verify") [ "$3" != --help ] || exit 0 ;;
*) exit 9 ;;
esac
[ "$4 $5 $6 $8 ${10} ${11} ${12}" = "--repo gctrail/gctrail --cert-identity --cert-oidc-issuer --deny-self-hosted-runners --format json" ] || exit 9
[ "$7 $9" = "` + identity + ` ` + issuer + `" ] || exit 9
case " %s " in *" $(sha256sum "$3" | cut -d ' ' -f 1) "*) echo '[{}]' ;; *) exit 1 ;; esac
`

// Where only gh is installed, it verifies the archive itself.
func TestInstallWithGitHub(t *testing.T) {
	r := newRelease(t, unsigned)
	m := newMachine(t)
	m.program(t, "gh", fmt.Sprintf(attested, fmt.Sprintf("%x", sha256.Sum256(r[archiveName()]))))
	forged := release{archiveName(): archive(t, "forged")}
	forged["checksums.txt"] = checksums(forged[archiveName()])
	m.installs(t, forged, "could not verify")
	m.installs(t, r, "")
}

// gh before 2.67 exits with 0 and prints nothing if there are attestations of another kind.
func TestInstallWithoutResult(t *testing.T) {
	m := newMachine(t)
	m.program(t, "gh", "exit 0\n")
	m.installs(t, newRelease(t, unsigned), "could not verify")
}

// Without a verifier nothing is installed, and the reason is clear.
func TestNoVerifier(t *testing.T) {
	for why, gh := range map[string]string{
		"neither cosign nor gh is installed": "",
		"this gh is too old":                 "exit 1\n",
		"gh has no access to GitHub":         `[ "$1" = attestation ]`,
	} {
		m := newMachine(t)
		if gh != "" {
			m.program(t, "gh", gh)
		}
		m.installs(t, newRelease(t, unsigned), why)
		m.installs(t, newRelease(t, unsigned), "nothing here can verify who built "+archiveName())
		m.installs(t, newRelease(t, unsigned), "", "--unverified")
	}
}

func TestUnverified(t *testing.T) {
	m := newMachine(t)
	r := newRelease(t, unsigned)
	sums := r["checksums.txt"]
	for why, content := range map[string][]byte{
		"does not have the checksum":                slices.Concat(sums, checksums(nil)), // two lines for the archive
		"checksums.txt does not have " + "gctrail_": sums[:bytes.IndexByte(sums, '\n')+1],
	} {
		r["checksums.txt"] = content
		m.installs(t, r, why, "--unverified")
	}
	r["checksums.txt"] = sums
	out, err := m.install(t, r, "--unverified", released, m.folder)
	if err != nil || !strings.Contains(out, "nobody verified who built "+archiveName()) {
		t.Errorf("%v\n%s", err, out)
	}
}

// A folder that is relative is one below the working folder, also for users with CDPATH.
func TestRelativeFolder(t *testing.T) {
	script, err := filepath.Abs(repository + "/deploy/install.sh")
	if err != nil {
		t.Fatal(err)
	}
	elsewhere := t.TempDir()
	if err := os.Mkdir(filepath.Join(elsewhere, "bin"), 0o700); err != nil {
		t.Fatal(err)
	}
	m, r := newMachine(t), newRelease(t, unsigned)
	m.environment = []string{"CDPATH=" + elsewhere}
	t.Chdir(t.TempDir())
	out, err := m.run(t, r, "sh", script, "--unverified", released, "bin")
	if _, missing := os.Stat(filepath.Join("bin", "gctrail")); err != nil || missing != nil {
		t.Errorf("%v, %v\n%s", err, missing, out)
	}
}

func TestArguments(t *testing.T) {
	m := newMachine(t)
	for _, arguments := range [][]string{{}, {"v1.2.3"}, {"1.2"}, {"latest"}, {"1.2.3/../../evil"}, {"1.2.3 4"}, {"1.2.3", "a", "b"}, {"--unverified"}} {
		out, err := m.install(t, release{}, arguments...)
		if exit, ok := errors.AsType[*exec.ExitError](err); !ok || exit.ExitCode() != 2 || !strings.Contains(out, "usage:") {
			t.Errorf("%q: %v\n%s", arguments, err, out)
		}
	}
}

// TestAction runs the step of the GitHub action that installs gctrail, as a runner does.
func TestAction(t *testing.T) {
	text, err := os.ReadFile(repository + "/action.yml")
	if err != nil {
		t.Fatal(err)
	}
	var action struct {
		Runs struct {
			Steps []struct {
				Run string
				Env map[string]string
			}
		}
	}
	if err := yaml.Unmarshal(text, &action); err != nil || len(action.Runs.Steps) == 0 {
		t.Fatal(err)
	}
	step := action.Runs.Steps[0]
	if step.Env["VERSION"] != "${{ inputs.version }}" || step.Env["GH_TOKEN"] != "${{ github.token }}" {
		t.Errorf("environment %v", step.Env)
	}
	here, err := filepath.Abs(repository)
	if err != nil {
		t.Fatal(err)
	}
	trusted := newAuthority(t)
	forged := newRelease(t, trusted.sign)
	forged[archiveName()] = archive(t, "forged")
	forged["checksums.txt"] = checksums(forged[archiveName()])
	for _, tt := range []struct {
		release release
		why     string
	}{{newRelease(t, trusted.sign), ""}, {forged, "could not verify"}} {
		m := newMachine(t)
		m.hasCosign(t, trusted)
		temporary, paths := t.TempDir(), filepath.Join(t.TempDir(), "paths")
		m.environment = []string{"GITHUB_ACTION_PATH=" + here, "RUNNER_TEMP=" + temporary, "GITHUB_PATH=" + paths, "VERSION=" + released}
		out, err := m.run(t, tt.release, "bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step.Run)
		path, _ := os.ReadFile(paths)
		prints, _ := exec.Command(filepath.Join(strings.TrimSpace(string(path)), "gctrail")).Output()
		if tt.why != "" {
			if err == nil || len(path) != 0 || !strings.Contains(out, tt.why) {
				t.Errorf("%v, path %q\n%s", err, path, out)
			}
		} else if err != nil || string(prints) != "released\n" {
			t.Errorf("%v, path %q, the program prints %q\n%s", err, path, prints, out)
		}
	}
}
