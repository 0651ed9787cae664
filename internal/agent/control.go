package agent

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"path/filepath"
	"strconv"
	"time"

	"github.com/gctrail/gctrail/internal/guard"
	"github.com/gctrail/gctrail/internal/text"
)

// minToken is the length from which a token is hard to guess, in bytes.
const minToken = 16

// token reads the token that requests need for anything but metrics.
func (c *Config) token() (string, error) {
	if c.TokenFile == "" {
		return "", nil
	}
	token, err := guard.ReadSecret(c.TokenFile)
	if err != nil {
		return "", fmt.Errorf("token file: %w", err)
	}
	if len(token) < minToken {
		return "", fmt.Errorf("token file: %s: the token must have at least %d bytes", c.TokenFile, minToken)
	}
	return token, nil
}

// control adds the paths for captures. Without a token it adds none.
func (a *Agent) control(mux *http.ServeMux) {
	if a.token == "" {
		return
	}
	mux.HandleFunc("POST /api/v1/captures", a.authorized(a.postCapture))
	mux.HandleFunc("GET /api/v1/captures", a.authorized(a.listCaptures))
	mux.HandleFunc("GET /api/v1/captures/{name}", a.authorized(a.getCapture))
}

func (a *Agent) authorized(next http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if !guard.Bears(r, a.token) {
			w.Header().Set("WWW-Authenticate", "Bearer")
			http.Error(w, "a token is needed", http.StatusUnauthorized)
			return
		}
		next(w, r)
	}
}

// postCapture makes a capture of ?pid=, for ?duration=, with ?profile=, and answers when
// it is complete.
func (a *Agent) postCapture(w http.ResponseWriter, r *http.Request) {
	request, err := a.captureAsked(r)
	if err != nil {
		status := http.StatusBadRequest
		if errors.Is(err, errNotFollowed) {
			status = http.StatusNotFound
		}
		http.Error(w, err.Error(), status)
		return
	}
	patience := time.Now().Add(request.duration + endPatience + answerTimeout)
	_ = http.NewResponseController(w).SetWriteDeadline(patience) // otherwise the answer is cut off, and the capture kept
	done, err := a.keep(a.ctx, request)
	switch {
	case errors.Is(err, errBusy):
		w.Header().Set("Retry-After", strconv.Itoa(int(request.duration.Seconds())+1))
		http.Error(w, err.Error(), http.StatusServiceUnavailable)
	case errors.Is(err, errNoCaptures):
		http.Error(w, err.Error(), http.StatusConflict)
	case done.Bytes == 0:
		http.Error(w, err.Error(), http.StatusBadGateway)
	default:
		answer(w, http.StatusCreated, done)
	}
}

func (a *Agent) captureAsked(r *http.Request) (*captureRequest, error) {
	query := r.URL.Query()
	pid, err := strconv.Atoi(query.Get("pid"))
	if err != nil {
		return nil, errors.New("pid: give the id of a process")
	}
	duration := defaultCapture
	if s := query.Get("duration"); s != "" {
		if duration, err = time.ParseDuration(s); err != nil {
			return nil, fmt.Errorf("duration: %q is not a duration such as 30s", s)
		}
	}
	profile := cmp.Or(query.Get("profile"), defaultProfile)
	if err := checkCapture(profile, duration); err != nil {
		return nil, err
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, p := range a.processes {
		if cmp.Or(p.PID, p.InnerPID) == pid {
			return &captureRequest{process: p, profile: profile, duration: duration}, nil
		}
	}
	return nil, errNotFollowed
}

func (a *Agent) listCaptures(w http.ResponseWriter, _ *http.Request) {
	answer(w, http.StatusOK, text.Each(a.captures.list(), func(f *fs.FileInfo) captured {
		return captured{filepath.Join(a.config.Captures.Folder, (*f).Name()), (*f).Size()}
	}))
}

func (a *Agent) getCapture(w http.ResponseWriter, r *http.Request) {
	for _, f := range a.captures.list() {
		if f.Name() == r.PathValue("name") {
			w.Header().Set("Content-Type", "application/octet-stream")
			http.ServeFile(w, r, filepath.Join(a.config.Captures.Folder, f.Name()))
			return
		}
	}
	http.NotFound(w, r)
}

func answer(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v) // who asked has gone
}
