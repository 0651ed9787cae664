package cli

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/spf13/cobra"

	"github.com/gctrail/gctrail/diag"
	"github.com/gctrail/gctrail/internal/collect"
	"github.com/gctrail/gctrail/internal/guard"
	"github.com/gctrail/gctrail/internal/watch"
	"github.com/gctrail/gctrail/internal/web"
)

type serveOptions struct {
	topOptions
	files       []string
	listen      string
	tokenFile   string
	certificate string
	key         string
	insecure    bool
	web         string
	open        choice
}

func newServeCmd(std *stdio) *cobra.Command {
	o := &serveOptions{open: choice{"auto", []string{"auto", "yes", "no"}}}
	cmd := newCmd(std, o, "serve [FILE... | -p PID | -n NAME]", "Show traces and running processes in a browser", anyArgs(&o.files))
	cmd.SuggestFor = []string{"web", "ui", "http", "browser", "dashboard"}
	flags := cmd.Flags()
	std.addTargetFlags(cmd, &o.Target, "only the processes with these ids", watchedNames)
	flags.StringVar(&o.listen, "listen", "127.0.0.1:0", "listen on this `address`; port 0 is any free one")
	flags.StringVar(&o.tokenFile, "token-file", "", "the `file` with the token, of 16 characters or more; without it, the token is random")
	flags.StringVar(&o.certificate, "tls-cert", "", "the `file` with the certificate, in PEM; needs --tls-key")
	flags.StringVar(&o.key, "tls-key", "", "the `file` with the certificate's key, in PEM")
	flags.BoolVar(&o.insecure, "insecure", false, "serve other machines without TLS")
	flags.StringVar(&o.web, "web", "", "hand out the page that opens traces in the browser, without upload: the `file` gctrail_VERSION_web.zip of a release, or a folder with what is in it (default: the file beside this program)")
	flags.Var(&o.open, "open", "open the page in a browser; auto: where there is a display")
	return cmd
}

func (o *serveOptions) conflict() error {
	if _, _, err := net.SplitHostPort(o.listen); err != nil {
		return fmt.Errorf("--listen %s: expected an address and a port, as in 127.0.0.1:8080", o.listen)
	}
	switch {
	case len(o.files) > 0 && (len(o.PIDs) > 0 || len(o.Names) > 0):
		return errors.New("give files, or -p and -n for running processes, not both")
	case len(o.PIDs) > 0 && len(o.Names) > 0:
		return errors.New("-p and -n cannot be used together: give ids or names")
	case (o.certificate == "") != (o.key == ""):
		return errors.New("--tls-cert and --tls-key need each other")
	case guard.IsLoopback(o.listen):
		return nil
	case o.tokenFile == "":
		return fmt.Errorf("--listen %s lets other machines connect: it needs --token-file", o.listen)
	case o.certificate == "" && !o.insecure:
		return fmt.Errorf("--listen %s lets other machines connect: it needs --tls-cert and --tls-key, or --insecure", o.listen)
	}
	return nil
}

func (o *serveOptions) run(ctx context.Context, std *stdio) error {
	if err := o.check(ctx); err != nil {
		return err
	}
	token, err := o.token()
	if err != nil {
		return err
	}
	var files []string
	for _, path := range o.files {
		found, err := tracesIn(path)
		if err != nil {
			return err
		}
		files = append(files, found...)
	}
	opener, err := o.opener()
	if err != nil {
		return err
	}
	l, err := net.Listen("tcp", o.listen)
	if err != nil {
		return &collect.OutputError{Name: o.listen, Err: err, Kind: "address", Option: "--listen"}
	}
	server := web.New(web.Options{
		Program: program(), Token: token, Files: files, Watch: len(o.files) == 0,
		Watcher: watch.Options{Wants: func(p *diag.Process) bool { return o.wants(p) }}, Dumper: &dumper{collect.NewPaths("")}, Opener: opener,
	})
	url := o.url(l.Addr(), token, len(files))
	_ = std.err.Line("Serving until Ctrl-C. Whoever has this address can see everything that is shown:")
	if !guard.IsLoopback(o.listen) {
		_ = std.err.Line("Other machines can connect%s, see command lines the names of types and methods, upload traces, and pause processes for heap snapshots.", map[bool]string{true: " without encryption"}[o.certificate == ""])
	}
	if _, err := std.out.Write([]byte(url + "\n")); err != nil {
		return collect.OutputFailed(stdoutName, errors.Join(err, l.Close()))
	}
	if o.open.value == "yes" || o.open.value == "auto" && std.interactive() && hasDisplay() {
		if err := browse(url); err != nil {
			_ = std.err.Line("The browser cannot be opened: %v", err)
		}
	}
	return server.Serve(ctx, l, o.certificate, o.key)
}

// opener returns the page that opens traces: that of --web, or the one beside this program;
// nil if there is none.
func (o *serveOptions) opener() (*web.Opener, error) {
	if o.web != "" {
		page, err := web.ReadOpener(o.web)
		if err != nil {
			return nil, &inputError{o.web, err}
		}
		return page, nil
	}
	self, err := os.Executable()
	if err != nil {
		return nil, nil
	}
	beside := "gctrail_" + strings.TrimPrefix(moduleVersion(), "v") + "_web.zip"
	page, _ := web.ReadOpener(filepath.Join(filepath.Dir(self), beside)) // which may not be there
	return page, nil
}

// minToken is the length of the shortest token that is taken from a file.
const minToken = 16

// token returns the token in the file, or a random one.
func (o *serveOptions) token() (string, error) {
	if o.tokenFile == "" {
		random := make([]byte, 24)
		_, _ = rand.Read(random) // never fails
		return base64.RawURLEncoding.EncodeToString(random), nil
	}
	token, err := guard.ReadSecret(o.tokenFile)
	if err != nil {
		return "", misusef("--token-file: %w", err)
	}
	if len(token) < minToken || strings.ContainsAny(token, " \r\n\t&#?%+") {
		return "", misusef("%s: the token must have 16 characters or more, and none of space & # ? %% +", o.tokenFile)
	}
	return token, nil
}

// url is the address of the page: of the trace if there is one, otherwise of the list.
func (o *serveOptions) url(addr net.Addr, token string, traces int) string {
	scheme := "http"
	if o.certificate != "" {
		scheme = "https"
	}
	host, port, err := net.SplitHostPort(addr.String())
	if err == nil && net.ParseIP(host).IsUnspecified() {
		name, _ := os.Hostname()
		host = cmp.Or(name, "localhost")
	}
	url := scheme + "://" + net.JoinHostPort(host, port) + "/?t=" + token
	if traces == 1 {
		url += "#source=file-0"
	}
	return url
}

// hasDisplay reports whether a browser can open a window here.
func hasDisplay() bool {
	if runtime.GOOS == "windows" || runtime.GOOS == "darwin" {
		return os.Getenv("SSH_CONNECTION") == ""
	}
	return os.Getenv("DISPLAY") != "" || os.Getenv("WAYLAND_DISPLAY") != ""
}

// browse opens a page in the user's browser.
func browse(url string) error {
	var cmd *exec.Cmd
	switch runtime.GOOS {
	case "windows":
		cmd = exec.Command("rundll32", "url.dll,FileProtocolHandler", url)
	case "darwin":
		cmd = exec.Command("open", url)
	default:
		cmd = exec.Command("xdg-open", url)
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	return cmd.Process.Release()
}
