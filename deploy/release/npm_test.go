package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// stub is the environment variable that makes this test's program stand in for gctrail.
const stub = "GCTRAIL_STUB"

func TestMain(m *testing.M) {
	if os.Getenv(stub) != "" {
		standIn(os.Args[1:])
	}
	os.Exit(m.Run())
}

// written returns the packages of programs for this system, written from its root.
func written(t *testing.T, programs ...string) string {
	t.Helper()
	out := t.TempDir()
	t.Chdir("../..")
	if err := writePackages(out, "1.2.3-rc.1", programs); err != nil {
		t.Fatal(err)
	}
	return out
}

// self returns this test's program. A package is for it only on systems of a release.
func self(t *testing.T) string {
	t.Helper()
	path, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := readProgram(path); err != nil {
		t.Skip(err)
	}
	return path
}

// unpack returns the files of a package for npm.
func unpack(t *testing.T, path string) (files []file) {
	t.Helper()
	packed, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer packed.Close()
	z, err := gzip.NewReader(packed)
	if err != nil {
		t.Fatal(err)
	}
	for r := tar.NewReader(z); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return files
		}
		if err != nil {
			t.Fatal(err)
		}
		data, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		name, ok := strings.CutPrefix(h.Name, "package/")
		if !ok {
			t.Errorf("%s is not in the folder that npm unpacks", h.Name)
		}
		files = append(files, file{name, data, h.Mode})
	}
}

// install unpacks the packages of a folder into node_modules, as npm does, and returns the
// path of the launcher.
func install(t *testing.T, folder string) string {
	t.Helper()
	root := t.TempDir()
	paths, err := filepath.Glob(filepath.Join(folder, "*.tgz"))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range paths {
		files := unpack(t, path)
		var m manifest
		if err := json.Unmarshal(files[0].data, &m); err != nil {
			t.Fatal(err)
		}
		for _, f := range files {
			to := filepath.Join(root, "node_modules", m.Name, f.name)
			if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(to, f.data, os.FileMode(f.mode)); err != nil {
				t.Fatal(err)
			}
		}
	}
	return filepath.Join(root, "node_modules/gctrail/bin/gctrail.js")
}

func TestNPM(t *testing.T) {
	program := self(t)
	folder := filepath.Join(written(t, program), "npm")
	p, err := readProgram(program)
	if err != nil {
		t.Fatal(err)
	}
	content, err := os.ReadFile(program)
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string][]file{
		"gctrail-1.2.3-rc.1.tgz":               {{"package.json", nil, 0o644}, {"bin/gctrail.js", launcher, 0o755}, {"README.md", npmReadme, 0o644}, {"LICENSE", nil, 0o644}},
		"gctrail-" + p.npm + "-1.2.3-rc.1.tgz": {{"package.json", nil, 0o644}, {"bin/" + p.file(), content, 0o755}, {"README.md", nil, 0o644}, {"LICENSE", nil, 0o644}},
	} {
		got := unpack(t, filepath.Join(folder, name))
		if len(got) != len(want) {
			t.Fatalf("%s has %d files, want %d", name, len(got), len(want))
		}
		for i, f := range got {
			if f.name != want[i].name || f.mode != want[i].mode || len(f.data) == 0 || want[i].data != nil && !bytes.Equal(f.data, want[i].data) {
				t.Errorf("%s: %s, mode %o, %d bytes; want %s, mode %o", name, f.name, f.mode, len(f.data), want[i].name, want[i].mode)
			}
		}
		if bytes.Contains(got[0].data, []byte(`"scripts"`)) {
			t.Errorf("%s runs something when it is installed:\n%s", name, got[0].data)
		}
	}
	var m manifest
	if err := json.Unmarshal(unpack(t, filepath.Join(folder, "gctrail-1.2.3-rc.1.tgz"))[0].data, &m); err != nil {
		t.Fatal(err)
	}
	if len(m.Dependencies) != 1 || m.Dependencies["@gctrail/"+p.npm] != "1.2.3-rc.1" {
		t.Errorf("gctrail depends on %v", m.Dependencies)
	}
}

// The same program gives the same packages.
func TestReproducible(t *testing.T) {
	program := self(t)
	one := written(t, program)
	again := t.TempDir()
	if err := writePackages(again, "1.2.3-rc.1", []string{program}); err != nil {
		t.Fatal(err)
	}
	count := 0
	err := filepath.WalkDir(one, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		count++
		rel, err := filepath.Rel(one, path)
		if err != nil {
			return err
		}
		first, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		second, err := os.ReadFile(filepath.Join(again, rel))
		if err == nil && !bytes.Equal(first, second) {
			t.Errorf("%s is another", rel)
		}
		return err
	})
	if err != nil || count < 2 {
		t.Error(count, err)
	}
}

// node returns the command that runs a file with Node.js: as it is, and without the function
// with which newer versions become another program.
func node(t *testing.T, each func(t *testing.T, command func(args ...string) *exec.Cmd)) {
	t.Helper()
	path, err := exec.LookPath("node")
	if err != nil {
		t.Skip("no node")
	}
	older := filepath.Join(t.TempDir(), "older.js")
	if err := os.WriteFile(older, []byte("process.execve = undefined;\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, options := range map[string][]string{"as it is": nil, "child": {"--require", older}} {
		t.Run(name, func(t *testing.T) {
			each(t, func(args ...string) *exec.Cmd {
				cmd := exec.CommandContext(t.Context(), path, append(slices.Clone(options), args...)...)
				cmd.Env = append(os.Environ(), stub+"=1")
				return cmd
			})
		})
	}
}

// The launcher passes arguments, standard input, both outputs and the exit code through.
func TestPassedThrough(t *testing.T) {
	launcher := install(t, filepath.Join(written(t, self(t)), "npm"))
	node(t, func(t *testing.T, command func(args ...string) *exec.Cmd) {
		cmd := command(launcher, "echo", "a b", "", "--c=\"d\"")
		var out, errs bytes.Buffer
		cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader("input\x00\n"), &out, &errs
		err := cmd.Run()
		var exit *exec.ExitError
		if !errors.As(err, &exit) || exit.ExitCode() != 7 {
			t.Errorf("%v, want exit code 7", err)
		}
		if want := "[a b||--c=\"d\"]\n"; out.String() != "input\x00\n" || errs.String() != want {
			t.Errorf("%q and %q, want the input and %q", out.String(), errs.String(), want)
		}
	})
}

// Without the package that has the program, the launcher names the command that installs it.
func TestNotInstalled(t *testing.T) {
	program := self(t)
	launcher := install(t, filepath.Join(written(t, program), "npm"))
	p, err := readProgram(program)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(filepath.Join(launcher, "../../../@gctrail")); err != nil {
		t.Fatal(err)
	}
	node(t, func(t *testing.T, command func(args ...string) *exec.Cmd) {
		for want, options := range map[string][]string{
			"npm install @gctrail/" + p.npm + "@1.2.3-rc.1": nil,
			"go install github.com/gctrail/gctrail/cmd/gctrail@v1.2.3-rc.1": {
				"--require", elsewhere(t),
			},
		} {
			out, err := command(append(options, launcher, "version")...).CombinedOutput()
			var exit *exec.ExitError
			if !errors.As(err, &exit) || exit.ExitCode() != 3 || !strings.HasPrefix(string(out), "gctrail: ") || !strings.Contains(string(out), want) {
				t.Errorf("%v: %s, want exit code 3 and %s", err, out, want)
			}
		}
	})
}

// elsewhere returns a script that gives Node.js another processor.
func elsewhere(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "elsewhere.js")
	if err := os.WriteFile(path, []byte("Object.defineProperty(process, 'arch', { value: 's390x' });\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// Programs without a version, for other systems or of two versions are refused.
func TestRefused(t *testing.T) {
	program := self(t)
	text := filepath.Join(t.TempDir(), "text")
	if err := os.WriteFile(text, []byte("text"), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Chdir("../..")
	for name, err := range map[string]error{
		"no program":  writePackages(t.TempDir(), "1.2.3", nil),
		"text":        writePackages(t.TempDir(), "1.2.3", []string{text}),
		"no version":  writePackages(t.TempDir(), "", []string{program}),
		"one of each": writePackages(t.TempDir(), "1.2.3", []string{program, program}),
	} {
		if err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	if runtime.GOOS == "windows" {
		return
	}
	if entries, err := os.ReadDir(filepath.Dir(text)); err != nil || len(entries) != 1 {
		t.Errorf("%v, %v", entries, err)
	}
}
