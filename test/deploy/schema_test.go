package deploy

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"
)

// schemaModule has the OpenAPI documents that the API servers of Kubernetes serve. Its
// code is not needed.
const schemaModule = "sigs.k8s.io/kubectl-validate@v0.0.4"

// versions are the oldest and the newest of Kubernetes in it that the chart is for.
var versions = []string{"1.23", "1.30"}

// builtins is the folder of the schemas.
var builtins = sync.OnceValues(func() (string, error) {
	cmd := exec.Command("go", "mod", "download", "-json", schemaModule)
	cmd.Dir = os.TempDir()
	out, err := cmd.Output()
	if err != nil {
		return "", err
	}
	var module struct{ Dir string }
	err = json.Unmarshal(out, &module)
	return filepath.Join(module.Dir, "pkg", "openapiclient", "builtins"), err
})

// schema returns the schema of a kind of object, which refuses unknown fields.
func schema(t *testing.T, version, apiVersion, kind string) *jsonschema.Resolved {
	t.Helper()
	folder, err := builtins()
	if err != nil {
		t.Skipf("%s cannot be had: %v", schemaModule, err)
	}
	group := "api"
	if strings.Contains(apiVersion, "/") {
		group = "apis"
	}
	text, err := os.ReadFile(filepath.Join(folder, version, group, filepath.FromSlash(apiVersion)+".json"))
	if err != nil {
		t.Fatal(err)
	}
	var document struct {
		Components struct{ Schemas map[string]map[string]any }
	}
	// References are to definitions in JSON Schema.
	if err := json.Unmarshal([]byte(strings.ReplaceAll(string(text), `"#/components/schemas/`, `"#/$defs/`)), &document); err != nil {
		t.Fatal(err)
	}
	root := ""
	for name, s := range document.Components.Schemas {
		if s["properties"] != nil {
			s["additionalProperties"] = false
		}
		if kinds, _ := s["x-kubernetes-group-version-kind"].([]any); len(kinds) == 1 && kinds[0].(map[string]any)["kind"] == kind {
			root = name
		}
	}
	if root == "" {
		t.Fatalf("%s has no %s", apiVersion, kind)
	}
	text, err = json.Marshal(map[string]any{"$ref": "#/$defs/" + root, "$defs": document.Components.Schemas})
	if err != nil {
		t.Fatal(err)
	}
	var s jsonschema.Schema
	if err := json.Unmarshal(text, &s); err != nil {
		t.Fatal(err)
	}
	resolved, err := s.Resolve(nil)
	if err != nil {
		t.Fatal(err)
	}
	return resolved
}

// validate holds an object against the schema of its kind.
func validate(t *testing.T, version string, o object) error {
	t.Helper()
	return schema(t, version, o["apiVersion"].(string), o["kind"].(string)).Validate(map[string]any(o))
}
