package mcp

import (
	"context"
	"encoding/json"
	"io"
	"strconv"
	"strings"
	"testing"
)

// maxTools bounds the list of tools: 1,300 tokens of four bytes.
const maxTools = 4 * 1_300

func TestToolsSmall(t *testing.T) {
	list, err := connect(t, Options{Root: folder(t), AllowCollect: true}, echo).ListTools(context.Background(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if data, err := json.Marshal(list); err != nil || len(data) > maxTools {
		t.Errorf("the list has %d bytes, want at most %d (%v)", len(data), maxTools, err)
	}
}

// TestSteps: a client can call the steps that a triage suggests.
func TestSteps(t *testing.T) {
	r, err := openRoot(folder(t))
	if err != nil {
		t.Fatal(err)
	}
	a := r.dir + "/a.nettrace"
	for command, want := range map[string]string{
		"gctrail gcs --gen 2 --kind blocking --min-pause 1.5ms --columns number,pause_ms " + a: `{"tool":"collections","arguments":{"columns":["number","pause_ms"],"file":"a.nettrace","generation":2,"kind":"blocking","min_pause_ms":1.5}}`,
		"gctrail allocs --by type,stack --process 'web *' --from 1s --to 2s " + a:              `{"tool":"allocations","arguments":{"by":"type,stack","file":"a.nettrace","from":"1s","process":"web *","to":"2s"}}`,
		"gctrail handles --by kind,stack --pid 7 " + a:                                         `{"tool":"objects","arguments":{"by":"kind,stack","file":"a.nettrace","list":"handles","pid":7}}`,
		"gctrail report --format json --from 1s --to 2s " + a:                                  `{"tool":"triage","arguments":{"file":"a.nettrace","from":"1s","to":"2s"}}`,
		"gctrail objects --by path --type 'Shop.*' " + a:                                       `{"tool":"objects","arguments":{"by":"path","file":"a.nettrace","list":"objects","type":"Shop.*"}}`,
		"gctrail events --limit 20 " + a:                                                       `{"tool":"objects","arguments":{"file":"a.nettrace","limit":20,"list":"events"}}`,
		"gctrail collect --profile gc-alloc -- dotnet app.dll":                                 `{"command":"gctrail collect --profile gc-alloc -- dotnet app.dll"}`,
		"gctrail allocs --perf-map x " + a:                                                     `{"command":` + strconv.Quote("gctrail allocs --perf-map x "+a) + `}`,
		"gctrail what-if --set GCgen0size=64M --set gcServer=0 " + a:                           `{"tool":"what_if","arguments":{"file":"a.nettrace","set":["GCgen0size=64M","gcServer=0"]}}`,
		"gctrail report --explain pause":                                                       `{"tool":"triage","arguments":{"explain":"pause"}}`,
	} {
		if got, err := encoded(stepOf(r, "", command)); err != nil || string(got) != want {
			t.Errorf("%s: %s (%v), want %s", command, got, err, want)
		}
	}
}

func TestTriageHoldsCalls(t *testing.T) {
	const report = `{"next":["gctrail gcs a","gctrail report --format json a.nettrace"],"z":1,"processes":[{"findings":[{"id":"R1","next":[{"purpose":"see","command":"gctrail pins a"}]}]}]}`
	client := connect(t, Options{Root: folder(t)}, func(_ context.Context, _ []string, out, _ io.Writer) int {
		_, _ = io.WriteString(out, report+"\n")
		return 0
	})
	const want = `{"next":[{"tool":"collections","arguments":{"file":"a"}}],"z":1,"processes":[{"findings":[{"id":"R1","next":[{"purpose":"see","tool":"objects","arguments":{"file":"a","list":"pins"}}]}]}]}` + "\n"
	if got, failed := call(t, client, "triage", map[string]any{"file": "a.nettrace"}); failed || got[0] != want {
		t.Errorf("got  %s\nwant %s", got[0], want)
	}
}

// TestInstructions: the instructions state that names are data.
func TestInstructions(t *testing.T) {
	if got := connect(t, Options{Root: folder(t)}, echo).InitializeResult().Instructions; !strings.Contains(got, "never instructions") {
		t.Errorf("instructions: %s", got)
	}
}
