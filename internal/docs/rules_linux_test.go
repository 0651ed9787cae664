package docs

import "testing"

// A rule is how commands of a kind are run: to their end, or until they are ready.
type rule struct {
	match        string   // a regular expression, at the beginning of the command
	placeholders []string // pairs of a word in the command and its replacement
	env          []string // more variables
	begin        func(*testing.T, *world) error
	setup        string // runs before the command, in the same shell
	stdin        string
	terminal     bool   // runs it on a terminal
	network      bool   // runs it in a network of its own, because it listens at a port
	clone        bool   // runs it in a clone of the repository
	alone        string // the name of what only one command may use at a time
	needs        string // a program

	ready    string   // a regular expression for its output: it is interrupted when it has printed that
	mayEnd   bool     // it may also end without that
	receives []string // paths at which something must have been received from it by then
	then     string   // must succeed before it is interrupted; FOUND is what ready matched
	after    string   // must succeed when the command has ended
	codes    []int    // exit codes besides 0
}

const (
	watching = `: now watching`
	serving  = `https?://\S+/\?t=\S+`
	budget   = `echo 'version: 1
limits: {pause_max_ms: 60000}' >gc-budget.yaml
`
	certificate  = "cp /mnt/scratch/cert.pem cert.pem; cp /mnt/scratch/cert.pem c.pem; cp /mnt/scratch/key.pem key.pem; cp /mnt/scratch/key.pem k.pem; (umask 077; echo 0123456789abcdef0123 | tee token >t)\n"
	records      = "/mnt/scratch/records.pb"
	post         = `curl -fsS -H 'Content-Type: application/x-protobuf' --data-binary @` + records
	metrics      = `for i in {1..600}; do curl -fsS http://127.0.0.1:9464/metrics | grep '^dotnet_gc_collections_total{.*process="web"' >/dev/null && exit; sleep 0.1; done; false`
	ofClickHouse = "GCTRAIL_STORE=http://clickhouse:8123/gctrail"
	agentOf      = "mkdir captures; (umask 077; echo 0123456789abcdef0123 >token); export TOKEN=0123456789abcdef0123\n" +
		"echo '{token-file: token, captures: {folder: captures}}' >agent.yaml\n" +
		"gctrail agent --config agent.yaml 2>agent.log & until curl -fs http://127.0.0.1:9464/metrics | grep 'process_attached.*\"web\".* 1$' >/dev/null; do sleep 0.1; done\n"
)

// rules are tried in order. Commands without one run to their end.
var rules = []rule{
	{match: `gctrail$|gctrail top$`, terminal: true, ready: `\bweb\b`},
	{match: `go run ./cmd/gctrail top$`, clone: true, terminal: true, ready: `\bweb\b`},
	{match: `gctrail top `, ready: watching},

	{match: `gctrail agent --config \S+ --print-config`, setup: "gctrail agent --print-config >/etc/gctrail/agent.yaml\n"},
	{match: `gctrail agent .*--diagnostic-port 127\.0\.0\.1:9000,connect`, network: true, begin: relay, ready: watching},
	{match: `gctrail agent .*--diagnostic-port /run`, network: true, ready: `waiting for .NET programs started with`, after: "true"},
	{match: `gctrail agent --profiles otlp`, network: true, receives: []string{"/v1development/profiles"}, ready: watching, then: metrics},
	{match: `gctrail agent --profiles`, network: true, receives: []string{"/push.v1.PusherService/Push"}, ready: watching, then: metrics},
	{match: `gctrail agent .*--otlp|OTEL_\S+ gctrail agent`, network: true, receives: []string{"/v1/logs"}, ready: watching, then: metrics},
	{match: `gctrail agent`, network: true, ready: watching, then: metrics},
	{match: `curl -X POST .*captures`, network: true, setup: agentOf},
	{
		match: `curl .*/captures/NAME`, network: true, placeholders: []string{"NAME", "$(ls captures)"},
		setup: agentOf + `curl -fsS -X POST -H "Authorization: Bearer $TOKEN" 'http://127.0.0.1:9464/api/v1/captures?pid=1234&duration=1s'` + "\n", after: "gctrail *.nettrace",
	},
	{match: `curl .*/captures`, network: true, setup: agentOf},

	{match: `gctrail serve --listen :8443`, setup: certificate, network: true, ready: serving, then: `curl -fsSk "$FOUND" | grep -i '<title>'`},
	{match: `gctrail serve`, network: true, ready: serving, then: `curl -fsS "${FOUND%%#*}" | grep -i '<title>'`},
	{
		match: `gctrail mcp`, env: []string{"HOME=."}, after: "true",
		stdin: `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"test","version":"1"}}}` + "\n",
	},

	{
		match: `gctrail fleet receive .*--token-file`, alone: "clickhouse", begin: clickHouse, env: []string{ofClickHouse}, setup: certificate, ready: `Receiving at`,
		then: post + ` -k -H "Authorization: Bearer $(cat token)" https://127.0.0.1:4318/v1/logs`,
	},
	{match: `gctrail fleet receive .*clickhouse`, alone: "clickhouse", begin: clickHouse, ready: `Receiving at`, then: post + ` http://127.0.0.1:4318/v1/logs`},
	{match: `gctrail fleet receive`, network: true, ready: `Receiving at`, then: post + ` http://127.0.0.1:4318/v1/logs`, after: "gctrail fleet gcs --store ./history | grep shop"},
	{match: `gctrail fleet schema (--apply|\|)`, alone: "clickhouse", begin: clickHouse},
	{match: `gctrail fleet query`, alone: "clickhouse", begin: clickHouse, env: []string{ofClickHouse}, setup: "gctrail fleet schema --apply\n"},
	{match: `gctrail fleet compare .*--at`, env: []string{history}, placeholders: []string{"2026-03-01T12:00:00Z", "$(cat /mnt/scratch/deployed)"}},
	{match: `gctrail fleet .*--store ./history`, setup: "cp -r /mnt/scratch/history history\n"},
	{match: `gctrail fleet`, env: []string{history}},

	{match: `gctrail ledger|gctrail report .*--ledger`, env: []string{"STATE_DIRECTORY=/mnt/scratch/state"}},
	{match: `gctrail ps`},
	{match: `gctrail dump .*--repeat`, alone: "heap", ready: `snapshot 1 of|GC \d+: `, codes: []int{130}},
	{match: `gctrail dump`, alone: "heap", after: "gctrail objects *.nettrace"},

	{match: `gctrail collect --lttng-live`, alone: "lttng", needs: "lttng", setup: lttngSession, ready: "recording LTTng events", after: "lttng destroy web", codes: []int{4}},
	{match: `gctrail collect --lttng`, alone: "lttng", needs: "lttng", ready: "recording LTTng events", codes: []int{4}},
	{match: `lttng create`, alone: "lttng", needs: "lttng", setup: "lttng-relayd -d >/dev/null 2>&1; lttng-sessiond -d --no-kernel >/dev/null 2>&1\n", after: "lttng destroy web"},
	{match: `gctrail collect --diagnostic-port`, network: true, ready: `waiting at`, codes: []int{130}},
	{match: `gctrail collect -n emit`, alone: "emit", clone: true, setup: "go run ./examples/emit -serve 60s >/dev/null 2>&1 & until gctrail ps | grep '\\bemit\\b' >/dev/null; do sleep 0.1; done\n"},
	{match: `gctrail collect -p \d+ .*\| gctrail`},
	{match: `gctrail collect (-p|-n) .*-- `},
	{match: `gctrail collect (-p|-n)`, ready: `collecting from`},

	{match: `gctrail run .*\$more`, env: []string{"more=5"}},
	{match: `gctrail run .*--check`, setup: budget, placeholders: []string{"$(Build.ArtifactStagingDirectory)", "."}, codes: []int{1}},
	{match: `gctrail check .*--baseline`, setup: "echo 'version: 1\nbaseline: {allocated_bytes: 3}' >gc-budget.yaml\n", codes: []int{1}},
	{match: `gctrail check --budget`, setup: budget, codes: []int{1}},
	{match: `gctrail try`, ready: `round 1`, mayEnd: true, codes: []int{130}},
	{match: `gctrail requests .*TRACE_ID`, placeholders: []string{"TRACE_ID", "$(gctrail requests --format jsonl web.nettrace | head -1 | jq -r .trace_id)"}},

	{match: `go run ./examples/emit -serve`, clone: true, alone: "emit", placeholders: []string{"30s", "2s"}},
	{match: `go run`, clone: true},
}

const history = "GCTRAIL_STORE=/mnt/scratch/history"

const lttngSession = "lttng-relayd -d >/dev/null 2>&1; lttng-sessiond -d --no-kernel >/dev/null 2>&1; lttng create web --live --set-url=net://relay; lttng enable-event -u -a; lttng start\n"

// programsOfWorld are scripts that stand in for programs which commands name: the SDK of .NET with
// the programs of its users, and what cannot be had.
var programsOfWorld = map[string]string{
	"dotnet": `case $1 in
run) exec /mnt/runtime/dotnet /mnt/app/app.dll ;; # the SDK starts the program
lab.dll) shift; exec /mnt/runtime/dotnet /mnt/dotnet/lab.dll "$@" ;;
bin/web.dll) shift; exec /mnt/runtime/dotnet /mnt/app/app.dll serve ;;
*) shift; exec /mnt/runtime/dotnet /mnt/app/app.dll "$@" ;;
esac`,
	"app":               `exec /mnt/runtime/dotnet /mnt/app/app.dll "$@"`,
	"npx":               `exec "$@"`,
	"dnx":               `[[ $2 != -- ]] || set -- "$1" "${@:3}"; exec "$@"`,
	"clickhouse-client": `curl -fsS --data-binary @- http://clickhouse:8123/`,
	"flamegraph.pl":     `grep -c ';'`,
	"hey":               `sleep 0.3; echo '  [200]	240 responses'`,
}
