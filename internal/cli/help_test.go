package cli

import (
	"bytes"
	"io"
	"io/fs"
	"path"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/gctrail/gctrail/internal/text"
)

// TestHelpFits checks that the help of every command fits a terminal of 80 columns,
// and describes every flag.
func TestHelpFits(t *testing.T) {
	var fits func(cmd *cobra.Command)
	fits = func(cmd *cobra.Command) {
		cmd.InitDefaultHelpFlag()
		var out bytes.Buffer
		cmd.SetOut(&out)
		if err := cmd.Help(); err != nil {
			t.Fatal(err)
		}
		for line := range strings.SplitSeq(out.String(), "\n") {
			if text.Width(line) > helpWidth {
				t.Errorf("%s: %d columns: %s", cmd.CommandPath(), text.Width(line), line)
			}
		}
		words := strings.Join(strings.Fields(out.String()), " ")
		cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
			_, usage := pflag.UnquoteUsage(f)
			if !f.Hidden && (usage == "" || !strings.Contains(words, strings.Join(strings.Fields(usage), " "))) {
				t.Errorf("%s: --%s is not described by %q", cmd.CommandPath(), f.Name, usage)
			}
		})
		for _, sub := range cmd.Commands() {
			fits(sub)
		}
	}
	fits(newRootCmd(&stdio{out: &bytes.Buffer{}, err: text.NewPrinter(&bytes.Buffer{})}))
}

// TestHelpGroups: help lists every command once, under a title that says what for.
func TestHelpGroups(t *testing.T) {
	var out bytes.Buffer
	root := newRootCmd(&stdio{out: &out, err: text.NewPrinter(&out)})
	root.SetOut(&out)
	if err := usage(root); err != nil {
		t.Fatal(err)
	}
	titles := map[string]string{}
	title := ""
	for line := range strings.Lines(out.String()) {
		if !strings.HasPrefix(line, " ") {
			title = strings.TrimSpace(line)
		} else if words := strings.Fields(line); !strings.HasPrefix(words[0], "-") {
			titles[words[0]] += title
		}
	}
	for _, cmd := range root.Commands() {
		want := ""
		switch cmd.Name() {
		case "completion", "demo", "help", "version":
			want = "Other Commands:"
		case "gcs", "report":
			want = "Look at a trace:"
		case "collect":
			want = "Record and watch processes:"
		case "man": // hidden
		default:
			want = titles[cmd.Name()]
			if want == "" || want == "Other Commands:" || strings.Count(want, ":") != 1 {
				t.Errorf("%s is listed under %q", cmd.Name(), want)
			}
		}
		if got := titles[cmd.Name()]; got != want {
			t.Errorf("%s is listed under %q, want %q", cmd.Name(), got, want)
		}
	}
}

// TestHelpTexts: each command that help lists has a text, and each text a command.
func TestHelpTexts(t *testing.T) {
	files, err := fs.Glob(helpTexts, "help/*.txt")
	if err != nil {
		t.Fatal(err)
	}
	texts := make(map[string]bool)
	for _, file := range files {
		texts[strings.TrimSuffix(path.Base(file), ".txt")] = true
	}
	var check func(cmd *cobra.Command)
	check = func(cmd *cobra.Command) {
		name := helpName(cmd)
		if cmd.Name() != "help" && !cmd.Hidden && !texts[name] {
			t.Errorf("%s has no text in help", cmd.CommandPath())
		}
		delete(texts, name)
		if long, _ := helpOf(cmd); strings.Contains(long, "Examples:\n") || strings.Contains(long, "}\n") {
			t.Errorf("%s: %s", cmd.CommandPath(), long)
		}
		for _, sub := range cmd.Commands() {
			check(sub)
		}
	}
	check(newRootCmd(&stdio{out: io.Discard, err: text.NewPrinter(io.Discard)}))
	if len(texts) > 0 {
		t.Errorf("no command has the texts %v", texts)
	}
}
