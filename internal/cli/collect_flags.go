package cli

import (
	"errors"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/gctrail/gctrail/diag"
	"github.com/gctrail/gctrail/internal/collect"
	"github.com/gctrail/gctrail/internal/selection"
	"github.com/gctrail/gctrail/internal/text"
)

// processNumbers is a flag that takes ids of processes, with commas between them
// or given several times.
type processNumbers []int

func (n *processNumbers) Type() string { return "PID,..." }

func (n *processNumbers) String() string { return "" }

func (n *processNumbers) Set(s string) error {
	for part := range strings.SplitSeq(s, ",") {
		v, err := strconv.ParseInt(strings.TrimSpace(part), 10, 32)
		if err != nil || v <= 0 {
			return errors.New("must be a process id, a positive number; list the .NET processes with: gctrail ps")
		}
		if !slices.Contains(*n, int(v)) {
			*n = append(*n, int(v))
		}
	}
	return nil
}

// globList is a flag that takes patterns for names, with commas between them or
// given several times.
type globList []selection.Glob

func (l *globList) Type() string { return "GLOB,..." }

func (l *globList) String() string { return "" }

func (l *globList) Set(s string) error {
	for part := range strings.SplitSeq(s, ",") {
		var g selection.Glob
		if part = strings.TrimSpace(part); part == "" {
			return errors.New("the name is empty: give a name, or a pattern such as 'web*'")
		}
		if err := g.Set(part); err != nil {
			return err
		}
		*l = append(*l, g)
	}
	return nil
}

// addTargetFlags adds the flags that pick running processes by their ids and names, which the
// shell completes.
func (std *stdio) addTargetFlags(cmd *cobra.Command, t *collect.Target, ids, names string) {
	cmd.Flags().VarP((*processNumbers)(&t.PIDs), "process-id", "p", ids)
	cmd.Flags().VarP((*globList)(&t.Names), "name", "n", names)
	std.completeList(cmd, "process-id", func() []string { return processIDs(runningProcesses()) })
	std.completeList(cmd, "name", func() []string { return processNames(runningProcesses()) })
}

// portFlag returns a flag that takes a diagnostic port, whose path is empty if none is given.
func portFlag(to *diag.Port) pflag.Value {
	return parsed[diag.Port]{to, "ADDRESS[,listen|connect]", diag.ParsePort}
}

// connectHelp describes the flag of commands that only connect to a port.
const connectHelp = "the process listening on this port: a socket, a router, or HOST:PORT over TCP; end it with ,connect"

// A portList is a flag that takes diagnostic ports, given several times or, as in
// DOTNET_DiagnosticPorts, with semicolons between them.
type portList []string

func (l *portList) Type() string { return "ADDRESS,connect" }

func (l *portList) String() string { return "" }

func (l *portList) Set(s string) error {
	for part := range strings.SplitSeq(s, ";") {
		if _, err := diag.ParsePort(part); err != nil {
			return err
		}
		*l = append(*l, part)
	}
	return nil
}

// connectConflict returns why a command that only connects to ports cannot use the port of a
// target, or not together with processes that are given.
func connectConflict(t *collect.Target) error {
	switch {
	case t.Port.Path == "":
	case len(t.PIDs) > 0 || len(t.Names) > 0:
		return errors.New("-p and -n cannot be used with --diagnostic-port: it names the process")
	case !t.Port.Connect:
		return fmt.Errorf("--diagnostic-port needs a port that a process listens on: end it with ,connect, as in %s,connect", text.Quoted(t.Port.Path))
	}
	return nil
}

// A bufferSize is a flag that takes a size, at least 1, because a runtime may die of a buffer
// without any.
type bufferSize uint32

func (m *bufferSize) Type() string { return "MB" }

func (m *bufferSize) String() string { return strconv.Itoa(int(*m)) }

func (m *bufferSize) Set(s string) error {
	v, err := strconv.ParseUint(s, 10, 32)
	if err != nil || v == 0 || v > math.MaxInt32 {
		return errors.New("must be a number of megabytes, 1 or more")
	}
	*m = bufferSize(v)
	return nil
}

// spanFlag returns a flag that takes a time to last.
func spanFlag(to *time.Duration) pflag.Value { return parsed[time.Duration]{to, "TIME", parseSpan} }

var daysHours = regexp.MustCompile(`^(\d{1,7}):(\d\d?):(\d\d?):(\d\d?)$`)

// parseSpan reads a time to last, as dotnet-trace writes it or as Go does; 0 is without end.
func parseSpan(s string) (time.Duration, error) {
	wrong := errors.New("must be dd:hh:mm:ss, or a duration such as 90s or 1h30m")
	v, err := time.ParseDuration(s)
	if err == nil && v >= 0 {
		return v, nil
	}
	parts := daysHours.FindStringSubmatch(s)
	if parts == nil {
		return 0, wrong
	}
	units := [...]struct {
		below int
		is    time.Duration
	}{{100_000, 24 * time.Hour}, {24, time.Hour}, {60, time.Minute}, {60, time.Second}}
	v = 0
	for i, unit := range units {
		n, err := strconv.Atoi(parts[i+1])
		if err != nil || n >= unit.below {
			return 0, wrong
		}
		v += time.Duration(n) * unit.is
	}
	return v, nil
}
