package program_test

import (
	"strings"
	"testing"

	"github.com/gctrail/gctrail/internal/program"
)

func TestName(t *testing.T) {
	for _, test := range []struct{ line, name, file string }{
		{"", "", ""},
		{"/app/web --x", "web", "web"},
		{"/app/web /app/web.dll --x", "web", "web"},
		{"/my apps/web /my apps/web.dll --x y", "web", "web"},
		{`"C:\Program Files\App\Web.exe" -v`, "Web", "Web"},
		{`"C:\Program Files\dotnet\dotnet.exe" "C:\My App\Shop.dll" 5`, "Shop", "dotnet"},
		{`C:\dotnet\dotnet.EXE exec shop.dll`, "shop", "dotnet"},
		{"dotnet", "dotnet", "dotnet"},
		{"dotnet /app/shop.dll", "shop", "dotnet"},
		{"/usr/share/dotnet/dotnet /srv/my shop/shop.v2.DLL a.dll", "shop.v2", "dotnet"},
		{"/srv/my dotnet/dotnet /srv/shop.dll", "shop", "dotnet"},
		{"dotnet exec --depsfile a.dll --roll-forward Major --verbose shop.dll x.dll", "shop", "dotnet"},
		{"dotnet build shop.dll", "dotnet", "dotnet"},
		{"/usr/bin/dotnet /srv/no assembly", "dotnet", "dotnet"},
		{"/usr/bin/dotnet --depsfile", "dotnet", "dotnet"},
		{"dotnet .dll", "dotnet", "dotnet"},
		{"notdotnet shop.dll", "notdotnet", "notdotnet"},
		{"/app/" + strings.Repeat("x", 15_000), strings.Repeat("x", 255), strings.Repeat("x", 255)},
		{"dotnet " + strings.Repeat("é", 15_000) + ".dll", strings.Repeat("é", 127), "dotnet"},
	} {
		if got := program.Name(test.line); got != test.name {
			t.Errorf("Name(%.80q): %q, want %q", test.line, got, test.name)
		}
		if got := program.File(test.line); got != test.file {
			t.Errorf("File(%.80q): %q, want %q", test.line, got, test.file)
		}
	}
}

func TestCommand(t *testing.T) {
	for line, want := range map[string]string{
		"":                                       "",
		"/app/web":                               "/app/web",
		"/app/web --x":                           "/app/web|--x",
		"/app/web /app/web.dll":                  "/app/web",
		"/app/web-10 /app/web.dll --x y":         "/app/web-10|--x|y",
		"/my apps/web /my apps/web.dll --x":      "/my apps/web|--x",
		"/app/web /data/other.dll":               "/app/web|/data/other.dll",
		"/usr/bin/dotnet /srv/shop.dll 5 6":      "/usr/bin/dotnet|/srv/shop.dll|5|6",
		"/usr/bin/dotnet /my srv/shop.dll a.dll": "/usr/bin/dotnet|/my srv/shop.dll|a.dll",
		"/usr/bin/dotnet exec /srv/shop.dll":     "/usr/bin/dotnet|exec|/srv/shop.dll",
		`"C:\My App\Web.exe" -v "a b"`:           `C:\My App\Web.exe|-v|a b`,
		`C:\app\Web.exe  -v`:                     `C:\app\Web.exe|-v`,
		"/app/web \x1b[2J":                       "",
		"/app/" + strings.Repeat("x", 5000):      "",
	} {
		if got := strings.Join(program.Command(line), "|"); got != want {
			t.Errorf("Command(%.80q): %q, want %q", line, got, want)
		}
	}
}

func TestBase(t *testing.T) {
	for path, want := range map[string]string{
		"": "", ".exe": ".exe", "web.exe": "web", `\Device\Disk1\app\Web.EXE`: "Web", "/bin/a.b": "a.b",
	} {
		if got := program.Base(path); got != want {
			t.Errorf("Base(%q): %q, want %q", path, got, want)
		}
	}
}
