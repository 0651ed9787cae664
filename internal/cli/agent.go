package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/gctrail/gctrail/diag"
	"github.com/gctrail/gctrail/internal/agent"
	"github.com/gctrail/gctrail/internal/collect"
	"github.com/gctrail/gctrail/internal/ledger"
	"github.com/gctrail/gctrail/internal/selection"
	"github.com/gctrail/gctrail/internal/text"
	"github.com/gctrail/gctrail/internal/watch"
)

type agentOptions struct {
	configFile  string
	printConfig bool
	quiet       bool

	flags  agent.Config // the settings that have flags
	labels choices
	dumpOn *selection.Condition
	given  givenFlags
}

func newAgentCmd(std *stdio) *cobra.Command {
	o := &agentOptions{labels: choices{kind: "LABEL", of: agent.LabelNames()}}
	take := func(cmd *cobra.Command, args []string) error {
		err := cmp.Or(noArgs(cmd, args), setFromEnvironment(cmd.Flags(), o.overrides(), os.Getenv))
		o.given = newGivenFlags(cmd.Flags())
		return err
	}
	cmd := newCmd(std, o, "agent", "Serve metrics of all .NET processes to Prometheus and OTLP", take)
	cmd.SuggestFor = []string{"exporter", "serve", "daemon", "prometheus", "otlp"}
	flags := cmd.Flags()
	flags.StringVar(&o.configFile, "config", "", "read settings from this YAML `FILE`")
	flags.BoolVar(&o.printConfig, "print-config", false, "print the settings as YAML, and exit")
	flags.BoolVar(&o.quiet, "quiet", false, "report only problems on standard error")
	flags.StringVar(&o.flags.Listen, "listen", "", "serve metrics at this `ADDRESS`, empty for none (default 127.0.0.1:9464)")
	flags.VarP((*wordList)(&o.flags.Names), "name", "n", "follow only processes with matching names, as in 'web*'")
	flags.Var((*wordList)(&o.flags.Exclude), "exclude", "do not follow processes with matching names")
	flags.Var((*portList)(&o.flags.Ports), "diagnostic-port", "also follow the processes that connect to these ports: sockets, or HOST:PORT over TCP; with ,connect, the ones that listen there")
	flags.Var(&o.labels, "labels", "labels that identify processes (default all but service)")
	flags.IntVar(&o.flags.Processes, "max-processes", 0, "follow at most `N` processes at a time (default 1000)")
	flags.StringVar(&o.flags.OTLP.Endpoint, "otlp-endpoint", "", "send metrics and log records to this `URL`")
	flags.Var(spanFlag(&o.flags.OTLP.Interval), "otlp-interval", "send metrics this often (default 60s)")
	flags.StringVar(&o.flags.Ledger.Folder, "ledger", "", "keep the memory of the last minutes in this `FOLDER`, empty for nowhere")
	flags.StringVar(&o.flags.Captures.Folder, "captures", "", "keep the traces and snapshots that are asked for in this `FOLDER`")
	flags.Var(conditionFlag(&o.dumpOn), "dump-on", "keep a heap snapshot of a process with a collection that meets this condition, one an hour")
	flags.StringVar(&o.flags.TokenFile, "token-file", "", "answer requests for traces that carry the token in this `FILE`")
	flags.BoolVar(&o.flags.Requests, "requests", false, "name a request that a pause stopped, by its trace id, in exemplars and log records")
	flags.StringVar(&o.flags.Profiles.URL, "profiles", "", "sample allocations all the time, and send profiles to the Pyroscope at this `URL`, or by OTLP with otlp+ before it")
	flags.Var(spanFlag(&o.flags.Profiles.Interval), "profile-interval", "send profiles this often (default 15s)")
	std.completeList(cmd, "name", func() []string { return processNames(runningProcesses()) })
	std.completeCondition(cmd, "dump-on")
	return cmd
}

// overrides set the field of a configuration that each flag stands for.
func (o *agentOptions) overrides() map[string]func(*agent.Config) {
	return map[string]func(*agent.Config){
		"listen":          func(c *agent.Config) { c.Listen = o.flags.Listen },
		"name":            func(c *agent.Config) { c.Names = o.flags.Names },
		"exclude":         func(c *agent.Config) { c.Exclude = o.flags.Exclude },
		"diagnostic-port": func(c *agent.Config) { c.Ports = o.flags.Ports },
		"labels":          func(c *agent.Config) { c.Labels = o.labels.values },
		"max-processes":   func(c *agent.Config) { c.Processes = o.flags.Processes },
		"otlp-endpoint":   func(c *agent.Config) { c.OTLP.Endpoint = o.flags.OTLP.Endpoint },
		"ledger":          func(c *agent.Config) { c.Ledger.Folder = o.flags.Ledger.Folder },
		"captures":        func(c *agent.Config) { c.Captures.Folder = o.flags.Captures.Folder },
		"dump-on": func(c *agent.Config) {
			c.Rules = append(c.Rules, agent.Rule{Name: "dump-on", When: o.dumpOn.String(), Dump: true})
		},
		"requests":         func(c *agent.Config) { c.Requests = o.flags.Requests },
		"token-file":       func(c *agent.Config) { c.TokenFile = o.flags.TokenFile },
		"profiles":         func(c *agent.Config) { c.Profiles.URL = o.flags.Profiles.URL },
		"profile-interval": func(c *agent.Config) { c.Profiles.Interval = o.flags.Profiles.Interval },
		"otlp-interval":    func(c *agent.Config) { c.OTLP.Interval = o.flags.OTLP.Interval },
	}
}

// variable is the environment variable that stands for a flag.
func variable(flag string) string {
	return "GCTRAIL_AGENT_" + strings.ToUpper(strings.ReplaceAll(flag, "-", "_"))
}

// setFromEnvironment sets the flags that are not given from their environment variables.
func setFromEnvironment(flags *pflag.FlagSet, settings map[string]func(*agent.Config), get func(string) string) error {
	var errs []error
	for name := range settings {
		if value := get(variable(name)); value != "" && !flags.Changed(name) {
			if err := flags.Set(name, value); err != nil {
				errs = append(errs, &usageError{whole: true, err: fmt.Errorf("%s=%s: %w", variable(name), value, err)})
			}
		}
	}
	return errors.Join(errs...)
}

func (o *agentOptions) conflict() error { return nil }

// config merges the configuration file, the environment and the flags.
func (o *agentOptions) config(get func(string) string) (*agent.Config, error) {
	c := agent.DefaultConfig()
	if path := cmp.Or(o.configFile, get(variable("config"))); path != "" {
		if err := c.Read(path); err != nil {
			fault := &fileError{path, err, "see the settings with: gctrail agent --print-config"}
			if _, unread := errors.AsType[*fs.PathError](err); unread {
				return nil, fault
			}
			return nil, &usageError{whole: true, err: fault}
		}
	}
	if err := c.FromEnvironment(get); err != nil {
		return nil, &usageError{whole: true, err: err}
	}
	for name, set := range o.overrides() {
		if o.given[name] {
			set(c)
		}
	}
	if err := c.Check(); err != nil {
		return nil, misusef("%s", strings.ReplaceAll(err.Error(), "\n", "; "))
	}
	return c, nil
}

func (o *agentOptions) run(ctx context.Context, std *stdio) error {
	config, err := o.config(os.Getenv)
	if err != nil {
		return err
	}
	if o.printConfig {
		return config.Print(std.out)
	}
	ctx, stop := signal.NotifyContext(ctx, syscall.SIGHUP)
	defer stop()
	growth := followGrowth
	if config.Profiles.URL != "" {
		growth = profileGrowth
	}
	limitGrowth(growth)
	a, err := agent.New(agent.Options{
		Config: config,
		Notify: func(n *watch.News) {
			if o.quiet && n.Err == nil && n.Lost == 0 && n.Dropped == 0 || ctx.Err() != nil {
				return
			}
			std.warn("gctrail", collect.Title(n.Process)+": "+newsOf(n, "this machine is too busy"))
		},
		Ended: func(p *diag.Process, v *ledger.Verdict) { std.warn("gctrail", collect.Title(p)+": "+v.Sentence) },
		Captured: func(c *agent.Captured) {
			what := "trace"
			if c.Dump {
				what = "heap snapshot"
			}
			switch {
			case c.Path != "":
				std.warn("gctrail", collect.Title(c.Process)+": "+what+" kept in "+text.Quoted(c.Path))
			case c.Err != nil:
				std.warn("gctrail", collect.Title(c.Process)+": no "+what+" was kept: "+c.Err.Error())
			}
		},
		Problem: func(err error) { std.warn("gctrail", err.Error()) },
		Serving: func(address string) { std.warn("gctrail", "serving metrics at http://"+address+"/metrics") },
	})
	if err != nil {
		return err
	}
	for _, notice := range portNotices(config.Ports) {
		std.warn("gctrail", notice)
	}
	if config.OTLP.Endpoint != "" {
		std.warn("gctrail", "sending to "+text.Quoted(config.OTLP.Endpoint))
	}
	if config.Profiles.URL != "" {
		std.warn("gctrail", "sending profiles to "+text.Quoted(config.Profiles.URL))
	}
	return a.Run(ctx)
}

// portNotices returns the notices about the diagnostic ports at which the agent listens.
func portNotices(ports []string) (notices []string) {
	for _, s := range ports {
		p, err := diag.ParsePort(s)
		switch {
		case err != nil || p.Connect:
		case p.Exposed():
			notices = append(notices, fmt.Sprintf("waiting at %s for .NET programs of any machine that can reach it, without authentication", p.Path))
		default:
			notices = append(notices, fmt.Sprintf("waiting for .NET programs started with DOTNET_DiagnosticPorts=%s,nosuspend,connect", p.Path))
		}
	}
	return notices
}
