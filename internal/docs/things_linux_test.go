package docs

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"math/big"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	logspb "go.opentelemetry.io/proto/otlp/logs/v1"
	"google.golang.org/protobuf/proto"

	"github.com/gctrail/gctrail/diag"
	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/internal/dotnettest"
	"github.com/gctrail/gctrail/internal/fleet"
	"github.com/gctrail/gctrail/internal/otlp"
)

const scratch = mounted + "/scratch/"

// The processes that documents name by their ids: the one that they follow, and the one that was
// killed.
const webPID, killedPID = 1234, 4378

// newWorld starts the processes that commands follow, and makes the files that several read.
func newWorld(t *testing.T) *world {
	t.Helper()
	if err := os.Unsetenv("TMPDIR"); err != nil {
		t.Fatal(err)
	}
	makeCertificate(t)
	makeHistory(t)
	startAs(t, webPID, "web")
	killed := startAs(t, killedPID, "gcload-net10")
	for _, name := range []string{"api", "leaks", "gcload-net8"} {
		startAs(t, 0, name)
	}
	makeLedgers(t, killed)
	return &world{locks: map[string]*sync.Mutex{}}
}

// startAs starts the program of the documents under a name, and with a process id unless that is 0.
func startAs(t *testing.T, pid int, name string) *exec.Cmd {
	t.Helper()
	assembly := mounted + "/app/" + name + ".dll" // after which the process is named
	for suffix, link := range map[string]string{".dll": assembly, ".runtimeconfig.json": strings.TrimSuffix(assembly, ".dll") + ".runtimeconfig.json"} {
		if err := os.Link(mounted+"/app/app"+suffix, link); err != nil {
			t.Fatal(err)
		}
	}
	for range 100 {
		cmd := exec.Command(mounted+"/runtime/dotnet", assembly, "serve")
		cmd.Env = append(os.Environ(), "DOTNET_GCgen0size=0x400000", "OTEL_SERVICE_NAME=shop")
		if pid != 0 { // the id of the next process, unless a thread gets it
			if err := os.WriteFile("/proc/sys/kernel/ns_last_pid", []byte(strconv.Itoa(pid-1)), 0o666); err != nil {
				t.Fatal(err)
			}
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		if pid == 0 || cmd.Process.Pid == pid {
			return cmd // it ends with the world
		}
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	}
	t.Fatalf("no process gets the id %d", pid)
	return nil
}

// makeLedgers has an agent keep the ledgers of the processes, one of which is killed.
func makeLedgers(t *testing.T, killed *exec.Cmd) {
	t.Helper()
	script := `export STATE_DIRECTORY=` + scratch + `state PATH=` + mounted + `/bin:$PATH
gctrail agent --quiet & agent=$!
until gctrail ledger 1234 >/dev/null 2>&1 && gctrail ledger 4378; do kill -0 $agent || exit; sleep 0.1; done
kill -9 4378
until gctrail ledger 4378 | grep SIGKILL; do sleep 0.1; done
kill $agent`
	if out, err := exec.Command("timeout", "100", "bash", "-c", script).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	_ = killed.Wait() // the signal ended it
}

// makeCertificate writes the certificate of a server, and its key.
func makeCertificate(t *testing.T) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), DNSNames: []string{"localhost"}, NotAfter: time.Now().Add(time.Hour)}
	certificate, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	for name, block := range map[string]*pem.Block{"cert.pem": {Type: "CERTIFICATE", Bytes: certificate}, "key.pem": {Type: "PRIVATE KEY", Bytes: private}} {
		if err := os.WriteFile(scratch+name, pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// makeHistory writes the records of a fleet as an agent sends them, and a store with them: pods of
// two versions on two machines, with the latest collections a moment ago.
func makeHistory(t *testing.T) {
	t.Helper()
	const seconds = 100
	began := time.Now().Add(-seconds * time.Second)
	var logs logspb.LogsData
	for i := range 8 {
		scope := &logspb.ScopeLogs{}
		for n := 1; n <= seconds; n++ {
			at := time.Duration(n) * time.Second
			c := &gc.Collection{
				Process: &gc.Process{}, Number: uint32(n), Generation: gc.Some(n % 3), Kind: gc.Blocking, Start: gc.Some(at), AllPauses: true,
				Pauses:    []gc.Pause{{Kind: gc.PauseBlocking, Start: at, Duration: time.Duration(1+i%2) * time.Duration(20+n%7) * time.Millisecond}},
				HeapAfter: gc.Some(int64(50 << 20)), Allocated: gc.Some(int64(6 << 20)), AllocatedQuality: gc.Exact, Complete: true,
			}
			scope.LogRecords = append(scope.LogRecords, otlp.OfCollection(c, began.Add(at)))
		}
		end := &otlp.End{Cause: "oom_killed", Memory: "native", RSS: gc.Some(int64(512e6)), Heap: gc.Some(int64(210e6)), Native: gc.Some(int64(230e6))}
		scope.LogRecords = append(scope.LogRecords, otlp.OfEnd(end, began.Add(seconds*time.Second)))
		logs.ResourceLogs = append(logs.ResourceLogs, &logspb.ResourceLogs{
			Resource: otlp.NewResource(map[string]any{
				otlp.UID: fmt.Sprintf("%032x", i), "service.name": "shop", "service.version": fmt.Sprintf("1.%d", 4+i%2), "k8s.pod.name": fmt.Sprintf("shop-%d", i),
				"host.name": fmt.Sprintf("node-%d", 1+i%2), "process.executable.name": "shop", "process.pid": int64(20000 + i),
			}),
			ScopeLogs: []*logspb.ScopeLogs{scope},
		})
	}
	body, err := proto.Marshal(&logs)
	if err != nil {
		t.Fatal(err)
	}
	deployed := began.Add(seconds / 2 * time.Second).UTC().Format(time.RFC3339)
	for name, content := range map[string][]byte{"records.pb": body, "deployed": []byte(deployed)} {
		if err := os.WriteFile(scratch+name, content, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	receiver := fleet.NewReceiver(&fleet.Folder{Path: scratch + "history"}, "", time.Millisecond)
	if status := store(receiver.Handler(), body); status != http.StatusOK {
		t.Fatalf("status %d", status)
	}
}

// clickHouse starts ClickHouse's engine in the network of the world, unless it runs.
func clickHouse(t *testing.T, w *world) error {
	t.Helper()
	const program = mounted + "/repo/test/e2e/views/serve.mjs"
	if _, err := os.Stat(filepath.Join(filepath.Dir(program), "node_modules", "chdb")); err != nil {
		fmt.Println("not run, because chdb is not installed (npm ci --ignore-scripts in test/e2e/views):", t.Name())
		t.SkipNow()
	}
	if w.clickHouse {
		return nil
	}
	data := scratch + "clickhouse"
	script := "mkdir -p " + data + "; node " + program + " " + data + " 8123 >>" + data + ".log 2>&1 & until curl -fs http://clickhouse:8123/ >/dev/null; do sleep 0.1; done"
	if out, err := exec.Command("timeout", "100", "bash", "-c", script).CombinedOutput(); err != nil {
		return fmt.Errorf("ClickHouse does not answer: %w %s", err, out)
	}
	w.clickHouse = true
	return nil
}

// relay has the runtime of process 1234 answer at an address, as a phone or a router does.
func relay(t *testing.T, _ *world) error {
	t.Helper()
	p, err := diag.Find(t.Context(), webPID)
	if err == nil {
		dotnettest.Relay(t, "tcp", "127.0.0.1:9000", "unix", p.Address)
	}
	return err
}
