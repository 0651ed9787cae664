package agent

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/gctrail/gctrail/diag"
	"github.com/gctrail/gctrail/internal/otlp"
	"github.com/gctrail/gctrail/internal/profiler"
	"github.com/gctrail/gctrail/internal/selection"
)

// A Config configures an agent.
type Config struct {
	Listen    string   `yaml:"listen"`        // address of the HTTP server; empty for none
	Names     []string `yaml:"names"`         // patterns of the processes to follow; none means all
	Exclude   []string `yaml:"exclude"`       // patterns of processes not to follow
	Processes int      `yaml:"max-processes"` // followed at the same time, at most
	// Ports are diagnostic ports that runtimes connect to: paths of sockets, or HOST:PORT over
	// TCP; or, with ",connect" behind it, that something listens on.
	Ports  []string `yaml:"diagnostic-ports,omitempty"`
	Labels []string `yaml:"labels"` // see LabelNames
	// Generation is the attribute of the generation: the semantic convention's name, or
	// gc.heap.generation, because .NET itself uses that.
	Generation string            `yaml:"generation-attribute"`
	Attributes map[string]string `yaml:"attributes,omitempty"` // added to all resources
	OTLP       OTLP              `yaml:"otlp"`
	Profiles   Profiles          `yaml:"profiles"`
	Ledger     Ledger            `yaml:"ledger"`
	Captures   Captures          `yaml:"captures"`
	Rules      []Rule            `yaml:"rules,omitempty"`
	// TokenFile holds the token that requests for captures must carry. Without one, the
	// agent answers none.
	TokenFile string `yaml:"token-file"`
	// Requests makes processes raise events of their requests, for exemplars.
	Requests bool `yaml:"requests"`
}

// Ledger configures the folder with the last minutes of processes.
type Ledger struct {
	Folder string `yaml:"folder"` // empty for none
	Keep   int    `yaml:"keep"`   // ledgers of ended processes, at most
	Exited bool   `yaml:"exited"` // also of processes whose runtime shut down
}

// OTLP configures the data for an endpoint.
type OTLP struct {
	Endpoint   string            `yaml:"endpoint"`                   // base URL; empty for none
	LogsURL    string            `yaml:"logs-endpoint,omitempty"`    // whole URL, in place of the endpoint's
	MetricsURL string            `yaml:"metrics-endpoint,omitempty"` // the same for metrics
	Headers    map[string]string `yaml:"headers,omitempty"`
	Interval   time.Duration     `yaml:"interval"` // of metrics
	Timeout    time.Duration     `yaml:"timeout"`  // of a request
	Queue      int               `yaml:"queue-bytes"`
	Metrics    bool              `yaml:"metrics"`
	Logs       bool              `yaml:"logs"`
}

// Profiles configure the continuous profiles of allocations.
type Profiles struct {
	// URL is the address of Pyroscope, or of an endpoint of OTLP with otlp+ before it; empty
	// for no profiles.
	URL      string            `yaml:"url"`
	Interval time.Duration     `yaml:"interval"`
	Headers  map[string]string `yaml:"headers,omitempty"`
	Queue    int               `yaml:"queue-bytes"`
}

// DefaultConfig returns the configuration of an agent without settings.
func DefaultConfig() *Config {
	return &Config{
		Listen:     "127.0.0.1:9464",
		Processes:  1000,
		Labels:     []string{"pid", "process", "runtime", "container", "namespace", "pod", "container_name", "diagnostic_port"},
		Generation: generationKey,
		OTLP:       OTLP{Interval: time.Minute, Timeout: 10 * time.Second, Queue: 8 << 20, Metrics: true, Logs: true},
		Profiles:   Profiles{Interval: 15 * time.Second, Queue: 4 << 20},
		Ledger:     Ledger{Folder: DefaultLedgers(os.Getenv), Keep: 200},
		Captures:   Captures{Quota: 1 << 30},
	}
}

// DefaultLedgers returns the folder of ledgers where none is configured: in systemd's
// state directory, below /var/lib for root, below the user's state otherwise.
func DefaultLedgers(get func(string) string) string {
	state := get("STATE_DIRECTORY")
	if state == "" && os.Geteuid() == 0 {
		state = "/var/lib/gctrail"
	}
	if state == "" && get("XDG_STATE_HOME") != "" {
		state = filepath.Join(get("XDG_STATE_HOME"), "gctrail")
	}
	if home, err := os.UserHomeDir(); state == "" && err == nil {
		state = filepath.Join(home, ".local", "state", "gctrail")
	}
	if state == "" {
		return ""
	}
	return filepath.Join(state, "ledger")
}

// maxConfig bounds a configuration file, in bytes.
const maxConfig = 1 << 20

// Read applies a YAML file. Unknown keys are errors.
func (c *Config) Read(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxConfig))
	if err != nil {
		return err
	}
	d := yaml.NewDecoder(bytes.NewReader(text))
	d.KnownFields(true)
	if err := d.Decode(c); err != nil && !errors.Is(err, io.EOF) {
		return plain(err)
	}
	return nil
}

var unknownField = regexp.MustCompile(`field (\S+) not found in type \S+`)

// plain rewrites an error of the YAML reader in the terms of the file.
func plain(err error) error {
	if wrong, ok := errors.AsType[*yaml.TypeError](err); ok {
		err = errors.New(strings.Join(wrong.Errors, "; "))
	}
	return errors.New(unknownField.ReplaceAllString(strings.TrimPrefix(err.Error(), "yaml: "), `unknown setting "$1"`))
}

// FromEnvironment applies OpenTelemetry's variables. get returns the value of a variable.
func (c *Config) FromEnvironment(get func(string) string) error {
	o, err := otlp.FromEnvironment(get)
	if err != nil {
		return err
	}
	c.OTLP.Endpoint = cmp.Or(o.Endpoint, c.OTLP.Endpoint)
	c.OTLP.LogsURL = cmp.Or(o.LogsEndpoint, c.OTLP.LogsURL)
	c.OTLP.MetricsURL = cmp.Or(o.MetricsEndpoint, c.OTLP.MetricsURL)
	c.OTLP.Timeout = cmp.Or(o.Timeout, c.OTLP.Timeout)
	if len(o.Headers) > 0 {
		c.OTLP.Headers = o.Headers
	}
	if interval := get("OTEL_METRIC_EXPORT_INTERVAL"); interval != "" {
		d, err := time.ParseDuration(interval + "ms")
		if err != nil || d <= 0 {
			return fmt.Errorf("OTEL_METRIC_EXPORT_INTERVAL=%s: give milliseconds", interval)
		}
		c.OTLP.Interval = d
	}
	return nil
}

// Print writes the configuration as YAML. It leaves out the values of headers, because
// they may be secrets.
func (c *Config) Print(w io.Writer) error {
	shown := *c
	shown.OTLP.Headers, shown.Profiles.Headers = hidden(c.OTLP.Headers), hidden(c.Profiles.Headers)
	e := yaml.NewEncoder(w)
	e.SetIndent(2)
	return errors.Join(e.Encode(&shown), e.Close())
}

func hidden(headers map[string]string) map[string]string {
	shown := make(map[string]string)
	for name := range headers {
		shown[name] = "(hidden)"
	}
	return shown
}

// Check returns the faults of the configuration.
func (c *Config) Check() error {
	var errs []error
	fail := func(format string, args ...any) { errs = append(errs, fmt.Errorf(format, args...)) }
	if c.Listen != "" {
		_, port, err := net.SplitHostPort(c.Listen)
		if err == nil {
			_, err = net.LookupPort("tcp", port)
		}
		if err != nil {
			fail("listen: %q is not an address such as 127.0.0.1:9464", c.Listen)
		}
	}
	if c.Listen == "" && !c.pushes() && c.Profiles.URL == "" {
		fail("neither an address to listen at nor an OTLP endpoint is given")
	}
	_, badPatterns := c.patterns()
	_, badPorts := c.ports()
	errs = append(errs, badPatterns, badPorts)
	if c.Processes < 1 || c.Processes > maxProcesses {
		fail("max-processes: %d is not between 1 and %d", c.Processes, maxProcesses)
	}
	if _, err := chosenLabels(c.Labels); err != nil {
		fail("labels: %w", err)
	}
	if c.Generation != generationKey && c.Generation != dotnetGenerationKey {
		fail("generation-attribute: %q is neither %s nor %s", c.Generation, generationKey, dotnetGenerationKey)
	}
	if c.pushes() {
		if _, err := otlp.NewSender(c.sender()); err != nil {
			fail("otlp endpoint: %w", err)
		}
	}
	if c.Profiles.URL != "" {
		if _, err := profiler.New(c.profiler()); err != nil {
			fail("--profiles (profiles.url): %w", err)
		}
	}
	if c.Profiles.Interval < time.Second || c.Profiles.Queue < 1<<16 {
		fail("profiles: the interval must be at least 1s, and the queue at least 65536 bytes")
	}
	_, badRules := c.rules()
	errs = append(errs, badRules)
	if len(c.Rules) > 0 && c.Captures.Folder == "" {
		fail("rules: give captures a folder")
	}
	if c.Captures.Quota < 1<<20 {
		fail("captures: the quota must be at least 1048576 bytes")
	}
	if c.Ledger.Keep < 0 {
		fail("ledger: keep is negative")
	}
	if c.OTLP.Interval < time.Second || c.OTLP.Timeout <= 0 || c.OTLP.Queue < 1<<16 {
		fail("otlp: the interval must be at least 1s, the timeout positive, and the queue at least 65536 bytes")
	}
	return errors.Join(errs...)
}

// ports returns Ports, parsed.
func (c *Config) ports() (ports []diag.Port, err error) {
	if len(c.Ports) > maxPorts {
		return nil, fmt.Errorf("diagnostic-ports: %d are more than %d", len(c.Ports), maxPorts)
	}
	for _, s := range c.Ports {
		p, bad := diag.ParsePort(s)
		err = errors.Join(err, bad)
		ports = append(ports, p)
	}
	return ports, err
}

const (
	maxPorts            = 1000
	dotnetGenerationKey = "gc.heap.generation"
	maxProcesses        = 10_000
)

// pushes reports whether there is an OTLP endpoint.
func (c *Config) pushes() bool {
	return c.OTLP.Endpoint != "" || c.OTLP.LogsURL != "" || c.OTLP.MetricsURL != ""
}

func (c *Config) sender() otlp.Options {
	return otlp.Options{
		Endpoint: c.OTLP.Endpoint, LogsEndpoint: c.OTLP.LogsURL, MetricsEndpoint: c.OTLP.MetricsURL,
		Headers: c.OTLP.Headers, Timeout: c.OTLP.Timeout, QueueBytes: c.OTLP.Queue,
	}
}

func (c *Config) profiler() profiler.Options {
	p := &c.Profiles
	return profiler.Options{URL: p.URL, Interval: p.Interval, Headers: p.Headers, Timeout: c.OTLP.Timeout, Queue: p.Queue}
}

// patterns are Names and Exclude, compiled.
type patterns struct {
	names, exclude []selection.Glob
}

func (c *Config) patterns() (p patterns, err error) {
	var badNames, badExclude error
	p.names, badNames = globs("names", c.Names)
	p.exclude, badExclude = globs("exclude", c.Exclude)
	return p, errors.Join(badNames, badExclude)
}

// globs compiles the patterns of a setting.
func globs(setting string, patterns []string) (all []selection.Glob, err error) {
	for _, s := range patterns {
		var g selection.Glob
		if bad := g.Set(s); bad != nil {
			err = errors.Join(err, fmt.Errorf("%s: %w", setting, bad))
		}
		all = append(all, g)
	}
	return all, err
}

// match reports whether to follow a process of this name.
func (p *patterns) match(name string) bool {
	matches := func(g selection.Glob) bool { return g.Matches(name) }
	return !slices.ContainsFunc(p.exclude, matches) && (len(p.names) == 0 || slices.ContainsFunc(p.names, matches))
}
