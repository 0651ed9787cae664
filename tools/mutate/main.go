// Mutate makes faults of one place in packages, one after the other, and reports the ones
// that no test of the package notices:
//
//	go -C tools run ./mutate -n 40 gc gc/stats
//
// The packages are folders of the repository. The same seed makes the same faults. A fault
// that does not compile is left out. The work tree is not changed.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"go/build"
	"hash/fnv"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"time"
)

func main() {
	n := flag.Int("n", 40, "faults of each package that compile")
	seed := flag.Uint64("seed", 1, "chooses the faults")
	limit := flag.Duration("timeout", 2*time.Minute, "a test that takes longer has noticed the fault")
	flag.Parse()
	if err := run(*n, *seed, *limit, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(n int, seed uint64, limit time.Duration, packages []string) error {
	root, err := filepath.Abs("..") // go -C tools
	if err != nil {
		return err
	}
	work, err := os.MkdirTemp("", "mutate")
	if err != nil {
		return err
	}
	defer os.RemoveAll(work)
	for _, name := range packages {
		t := &tested{folder: filepath.Join(root, name), work: work, limit: limit}
		if result, err := t.test(nil); err != nil || result != survived {
			return fmt.Errorf("%s: its tests fail without a fault: %v %w", name, result, err)
		}
		all, err := faults(t.folder)
		if err != nil {
			return err
		}
		h := fnv.New64()
		_, _ = h.Write([]byte(name))
		r := rand.New(rand.NewPCG(seed, h.Sum64()))
		r.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
		var count [3]int
		for i := range all {
			if count[killed]+count[survived] == n {
				break
			}
			result, err := t.test(&all[i])
			if err != nil {
				return err
			}
			if count[result]++; result == survived {
				fmt.Printf("survived: %s/%s\n", name, all[i])
			}
		}
		fmt.Printf("%s: %d of %d killed (%d do not compile; there are %d)\n",
			name, count[killed], count[killed]+count[survived], count[unbuilt], len(all))
	}
	return nil
}

type result int

const (
	killed result = iota
	survived
	unbuilt
)

// A tested is a package whose tests are run.
type tested struct {
	folder, work string
	limit        time.Duration
}

// test runs the tests with a fault, or without one if it is nil.
func (t *tested) test(f *fault) (result, error) {
	binary := filepath.Join(t.work, "test")
	args := []string{"test", "-c", "-vet=off", "-ldflags=-s -w", "-o", binary}
	if f != nil {
		changed, overlay := filepath.Join(t.work, "changed.go"), filepath.Join(t.work, "overlay.json")
		b, err := json.Marshal(map[string]map[string]string{"Replace": {f.path: changed}})
		if err != nil {
			return 0, err
		}
		if err := errors.Join(os.WriteFile(changed, f.apply(), 0o600), os.WriteFile(overlay, b, 0o600)); err != nil {
			return 0, err
		}
		args = append(args, "-overlay", overlay)
	}
	compile := exec.Command("go", append(args, ".")...)
	compile.Dir = t.folder
	if compile.Run() != nil {
		return unbuilt, nil
	}
	// A fault can make a test wait for ever, or take all memory.
	ctx, cancel := context.WithTimeout(context.Background(), t.limit)
	defer cancel()
	tests := exec.CommandContext(ctx, binary, "-test.failfast")
	tests.Dir = t.folder
	tests.Env = append(os.Environ(), "GOMEMLIMIT=1GiB")
	if err := tests.Run(); err != nil {
		if exit := (*exec.ExitError)(nil); !errors.As(err, &exit) {
			return 0, err
		}
		return killed, nil
	}
	return survived, nil
}

// faults returns the faults of a package, in the order of its files.
func faults(folder string) ([]fault, error) {
	p, err := build.ImportDir(folder, 0)
	if err != nil {
		return nil, err
	}
	var all []fault
	for _, name := range p.GoFiles {
		of, err := faultsOf(filepath.Join(folder, name))
		if err != nil {
			return nil, err
		}
		all = append(all, of...)
	}
	return all, nil
}
