package agent

import (
	"testing"

	"github.com/gctrail/gctrail/gc"
)

func TestHeapLimit(t *testing.T) {
	const mb = 1 << 20
	container := gc.Some(int64(400 * mb))
	for _, tt := range []struct {
		name        string
		environment map[string]string
		config      string
		container   gc.Opt[int64]
		want        gc.Opt[int64]
	}{
		{"nothing", nil, "", gc.Opt[int64]{}, gc.Opt[int64]{}},
		{"a container", nil, "", container, gc.Some(int64(300 * mb))},
		{"a small container", nil, "", gc.Some(int64(10 * mb)), gc.Some(int64(20 * mb))},
		{"the environment", map[string]string{"DOTNET_GCHeapHardLimit": "0xC800000"}, "", container, gc.Some(int64(200 * mb))},
		{"the old prefix", map[string]string{"COMPlus_GCHeapHardLimit": "C800000"}, "", container, gc.Some(int64(200 * mb))},
		{"a percentage, in hexadecimal", map[string]string{"DOTNET_GCHeapHardLimitPercent": "32"}, "", container, gc.Some(int64(200 * mb))},
		{"the file", nil, `{"runtimeOptions":{"configProperties":{"System.GC.Server":true,"System.GC.HeapHardLimit":209715200}}}`, container, gc.Some(int64(200 * mb))},
		{"the file, as text", nil, "\ufeff" + `{"runtimeOptions":{"configProperties":{"System.GC.HeapHardLimit":"0xC800000"}}}`, container, gc.Some(int64(200 * mb))},
		{"a percentage of the file", nil, `{"runtimeOptions":{"configProperties":{"System.GC.HeapHardLimitPercent":50}}}`, container, gc.Some(int64(200 * mb))},
		{"the environment wins", map[string]string{"DOTNET_GCHeapHardLimit": "C800000"}, `{"runtimeOptions":{"configProperties":{"System.GC.HeapHardLimit":1}}}`, container, gc.Some(int64(200 * mb))},
		{"bytes win", map[string]string{"DOTNET_GCHeapHardLimitPercent": "10"}, `{"runtimeOptions":{"configProperties":{"System.GC.HeapHardLimit":209715200}}}`, container, gc.Some(int64(200 * mb))},
		{"no percentage", map[string]string{"DOTNET_GCHeapHardLimitPercent": "64"}, "", container, gc.Some(int64(300 * mb))},
		{"nonsense", map[string]string{"DOTNET_GCHeapHardLimit": "lots"}, `{"runtimeOptions":[]}`, container, gc.Some(int64(300 * mb))},
		{"negative", nil, `{"runtimeOptions":{"configProperties":{"System.GC.HeapHardLimit":-5}}}`, container, gc.Some(int64(300 * mb))},
	} {
		l := heapLimitOf(&outside{environment: tt.environment, properties: propertiesOf([]byte(tt.config))})
		if got := l.in(tt.container); got != tt.want {
			t.Errorf("%s: %v, want %v", tt.name, got, tt.want)
		}
	}
	l := heapLimit{percent: 50, machine: gc.Some(int64(1000))}
	if got := l.in(gc.Opt[int64]{}).Or(0); got != 500 {
		t.Errorf("half of a machine of 1000 bytes: %d", got)
	}
}

func TestConfigOf(t *testing.T) {
	for _, tt := range []struct {
		program   string
		arguments []string
		want      string
	}{
		{"/app/web", []string{"/app/web", "x.dll"}, "/app/web.runtimeconfig.json"},
		{"/usr/share/dotnet/dotnet", []string{"dotnet", "/app/web.dll", "y.dll"}, "/app/web.runtimeconfig.json"},
		{"/usr/share/dotnet/dotnet", []string{"dotnet", "exec", "--runtimeconfig", "my.json", "web.dll"}, "my.json"},
		{"/usr/share/dotnet/dotnet", []string{"dotnet", "run"}, ""},
		{"", nil, ""},
	} {
		if got := configOf(tt.program, tt.arguments); got != tt.want {
			t.Errorf("%s %q: %q, want %q", tt.program, tt.arguments, got, tt.want)
		}
	}
}
