package supply

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

const repository = "../.."

// A tag can be moved to other code at any time, a digest cannot. The comment has the
// version for people, and for tools that update both.
var (
	pinnedAction = regexp.MustCompile(`^[\w.-]+/[\w./-]+@[0-9a-f]{40}$`)
	pinnedImage  = regexp.MustCompile(`^docker://[^@]+@sha256:[0-9a-f]{64}$`)
	version      = regexp.MustCompile(`^# v\d+\.\d+\.\d+$`)
)

// uses returns the values of all keys "uses" in a file of GitHub, with their comments.
func uses(node *yaml.Node) []*yaml.Node {
	var found []*yaml.Node
	for i, child := range node.Content {
		if node.Kind == yaml.MappingNode && i%2 == 1 && node.Content[i-1].Value == "uses" {
			found = append(found, child)
		}
		found = append(found, uses(child)...)
	}
	return found
}

// unpinned returns the faults of the actions that a file uses, and how many it uses.
func unpinned(content []byte) (wrong []string, count int, err error) {
	var file yaml.Node
	if err := yaml.Unmarshal(content, &file); err != nil {
		return nil, 0, err
	}
	all := uses(&file)
	for _, action := range all {
		switch {
		case action.Kind != yaml.ScalarNode:
			wrong = append(wrong, fmt.Sprintf("line %d: not a text", action.Line))
		case strings.HasPrefix(action.Value, "./"), pinnedImage.MatchString(action.Value):
		case !pinnedAction.MatchString(action.Value):
			wrong = append(wrong, fmt.Sprintf("line %d: %s is not pinned by digest", action.Line, action.Value))
		case !version.MatchString(action.LineComment):
			wrong = append(wrong, fmt.Sprintf("line %d: %s has no comment with its version", action.Line, action.Value))
		}
	}
	return wrong, len(all), nil
}

func TestActionsArePinned(t *testing.T) {
	var paths []string
	for _, pattern := range []string{".github/workflows/*.yml", ".github/workflows/*.yaml", ".github/actions/*/action.y*ml", "action.yml"} {
		found, err := filepath.Glob(filepath.Join(repository, pattern))
		if err != nil {
			t.Fatal(err)
		}
		paths = append(paths, found...)
	}
	total := 0
	for _, path := range paths {
		content, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		wrong, count, err := unpinned(content)
		if err != nil {
			t.Error(path, err)
		}
		for _, w := range wrong {
			t.Errorf("%s: %s", path, w)
		}
		total += count
	}
	if len(paths) < 3 || total < 5 {
		t.Errorf("%d actions in %q", total, paths)
	}
}

func TestUnpinnedActions(t *testing.T) {
	const digest = "0123456789abcdef0123456789abcdef01234567"
	for line, want := range map[string]string{
		"uses: actions/checkout@" + digest + " # v4.4.0":        "",
		"uses: a/b/nested/workflow.yml@" + digest + " # v1.0.0": "",
		"uses: ./local": "",
		"uses: docker://alpine@sha256:" + digest + digest[:24]:     "",
		"uses: docker://alpine:3.22":                               "is not pinned",
		"uses: actions/checkout@v4":                                "is not pinned",
		"uses: actions/checkout@main # v4.4.0":                     "is not pinned",
		"uses: actions/checkout@" + digest[:12] + " # v4.4.0":      "is not pinned",
		"uses: actions/checkout # " + digest:                       "is not pinned",
		"uses: actions/checkout@" + digest:                         "no comment",
		"uses: actions/checkout@" + digest + " # newest":           "no comment",
		`"uses": "actions/checkout@v4"`:                            "is not pinned",
		"uses: [actions/checkout@" + digest + "]":                  "not a text",
		"uses: actions/checkout@" + strings.ToUpper(digest) + " #": "is not pinned",
	} {
		wrong, count, err := unpinned([]byte("jobs:\n  test:\n    steps:\n      - " + line + "\n"))
		switch {
		case err != nil || count != 1:
			t.Errorf("%s: %d, %v", line, count, err)
		case want == "" && len(wrong) != 0, want != "" && (len(wrong) != 1 || !strings.Contains(wrong[0], want)):
			t.Errorf("%s: %q", line, wrong)
		}
	}
}
