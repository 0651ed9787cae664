package e2e

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"connectrpc.com/connect"
	pprof "github.com/grafana/pyroscope/api/gen/proto/go/google/v1"
	pushv1 "github.com/grafana/pyroscope/api/gen/proto/go/push/v1"
	"github.com/grafana/pyroscope/api/gen/proto/go/push/v1/pushv1connect"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/gctrail/gctrail/internal/dotnettest"
)

// A pusher is the service of Pyroscope's API that takes profiles. It says of the first
// requests that it is away, and of the next that they are wrong.
type pusher struct {
	away, wrong int // requests

	mu     sync.Mutex
	taken  int
	labels map[string]string // of the latest profile
	bytes  map[string]int64  // by frames, innermost first
	faults []error
}

// refusal is how the pusher calls wrong requests.
const refusal = "ingestion of the tenant is disabled"

// Push implements pushv1connect.PusherServiceHandler.
func (p *pusher) Push(_ context.Context, r *connect.Request[pushv1.PushRequest]) (*connect.Response[pushv1.PushResponse], error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case p.away > 0:
		p.away--
		return nil, connect.NewError(connect.CodeUnavailable, errors.New("starting"))
	case p.wrong > 0:
		p.wrong--
		return nil, connect.NewError(connect.CodeInvalidArgument, errors.New(refusal))
	}
	if err := p.take(r.Msg); err != nil {
		p.faults = append(p.faults, err)
		return nil, connect.NewError(connect.CodeInvalidArgument, err)
	}
	return connect.NewResponse(&pushv1.PushResponse{}), nil
}

// take adds up the profiles of a request, every field of which must be one that Pyroscope
// knows.
func (p *pusher) take(m *pushv1.PushRequest) error {
	if err := known(m.ProtoReflect()); err != nil {
		return err
	}
	for _, series := range m.Series {
		p.labels = make(map[string]string)
		for _, l := range series.Labels {
			p.labels[l.Name] = l.Value
		}
		for _, sample := range series.Samples {
			profile, err := unpacked(sample.RawProfile)
			if err != nil {
				return err
			}
			if err := p.add(profile); err != nil {
				return err
			}
			p.taken++
		}
	}
	return nil
}

// unpacked returns a profile of pprof as Pyroscope's types read it. Like Pyroscope (openBytes of
// pkg/pprof/pprof.go), it takes profiles that are gzipped and ones that are not.
func unpacked(raw []byte) (*pprof.Profile, error) {
	if r, err := gzip.NewReader(bytes.NewReader(raw)); err == nil {
		if raw, err = io.ReadAll(r); err != nil {
			return nil, err
		}
	}
	profile := new(pprof.Profile)
	if err := proto.Unmarshal(raw, profile); err != nil {
		return nil, err
	}
	return profile, known(profile.ProtoReflect())
}

// known reports fields that a message's type does not have, in it or in its parts.
func known(m protoreflect.Message) error {
	if n := len(m.GetUnknown()); n > 0 {
		return fmt.Errorf("%v has %d bytes of unknown fields", m.Descriptor().FullName(), n)
	}
	var err error
	m.Range(func(f protoreflect.FieldDescriptor, v protoreflect.Value) bool {
		switch {
		case f.Message() == nil:
		case f.IsList():
			for i := range v.List().Len() {
				err = errors.Join(err, known(v.List().Get(i).Message()))
			}
		default:
			err = known(v.Message())
		}
		return err == nil
	})
	return err
}

// add adds the samples of a profile by the names of their frames.
func (p *pusher) add(profile *pprof.Profile) error {
	text := func(i int64) string { return profile.StringTable[i] }
	var types []string
	for _, t := range profile.SampleType {
		types = append(types, text(t.Type)+":"+text(t.Unit))
	}
	types = append(types, text(profile.PeriodType.Type)+":"+text(profile.PeriodType.Unit))
	if want := []string{"alloc_objects:count", "alloc_space:bytes", "space:bytes"}; !slices.Equal(types, want) {
		return fmt.Errorf("types %q, want %q", types, want)
	}
	if profile.TimeNanos == 0 || profile.DurationNanos == 0 {
		return errors.New("the profile has no time")
	}
	methods, functions := make(map[uint64]string), make(map[uint64]string)
	for _, f := range profile.Function {
		functions[f.Id] = text(f.Name)
	}
	for _, l := range profile.Location {
		methods[l.Id] = functions[l.Line[0].FunctionId]
	}
	for _, s := range profile.Sample {
		if len(s.Label) > 0 || len(s.Value) != len(profile.SampleType) {
			return fmt.Errorf("a sample has %d labels and %d values", len(s.Label), len(s.Value))
		}
		var frames []string
		for _, l := range s.LocationId {
			frames = append(frames, methods[l])
		}
		p.bytes[strings.Join(frames, "\n")] += s.Value[1]
	}
	return nil
}

// namedShare returns the bytes of all samples, and of the ones of known types and methods.
func (p *pusher) namedShare() (all, named int64) {
	for frames, n := range p.bytes {
		all += n
		if strings.HasPrefix(frames, "Type ") && strings.Contains(frames, "\nGcLoad") {
			named += n
		}
	}
	return all, named
}

// serve serves Pyroscope's API at an address, until the function that it returns is called.
func (p *pusher) serve(t *testing.T, address string) func() {
	t.Helper()
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	routes := http.NewServeMux()
	routes.Handle(pushv1connect.NewPusherServiceHandler(p))
	s := httptest.NewUnstartedServer(routes)
	s.Listener.Close()
	s.Listener = l
	s.Start()
	return sync.OnceFunc(func() {
		s.CloseClientConnections()
		s.Close()
	})
}

// TestPyroscope has the agent send profiles to the service of Pyroscope's own API, as its
// published module implements it. The service is away at first, then refuses, then stops, and
// is there again.
func TestPyroscope(t *testing.T) {
	address, metrics := fmt.Sprintf("127.0.0.1:%d", port(t)), fmt.Sprintf("127.0.0.1:%d", port(t))
	p := &pusher{away: 1, wrong: 1, bytes: make(map[string]int64)}
	stop := p.serve(t, address)
	file := dotnettest.Install(t, 10)
	name := filepath.Base(file)
	agent := &program{
		name: "agent", ready: func() bool { return true },
		command: []string{
			binary(t), "agent", "--listen", metrics, "--name", name, "--ledger", "",
			"--profiles", "http://" + address, "--profile-interval", "1s",
		},
	}
	agent.run(t)
	program := dotnettest.StartFile(t, file, "web", 300)
	eventually(t, "no profile with names has come", func() bool {
		p.mu.Lock()
		defer p.mu.Unlock()
		all, named := p.namedShare()
		return all > 0 && named > all/2 || len(p.faults) > 0
	})
	stop()
	failures := failed(t, metrics)
	eventually(t, "no request failed without a server", func() bool { return failed(t, metrics) > failures })
	p.mu.Lock()
	before := p.taken
	p.mu.Unlock()
	defer p.serve(t, address)()
	eventually(t, "no profile came after the server was back", func() bool {
		p.mu.Lock()
		defer p.mu.Unlock()
		return p.taken > before
	})
	p.check(t, map[string]string{
		"__name__": "memory", "service_name": "unknown_service:" + name,
		"pid": strconv.Itoa(program.PID), "process": name,
	})
	log, err := os.ReadFile(filepath.Join(agent.folder, "agent.log"))
	if err != nil || strings.Count(string(log), refusal) != 1 {
		t.Errorf("%v; the agent says: %s", err, log)
	}
}

// check compares labels of the latest profile, and reports the requests that are not what
// Pyroscope's types describe.
func (p *pusher) check(t *testing.T, labels map[string]string) {
	t.Helper()
	p.mu.Lock()
	defer p.mu.Unlock()
	for label, want := range labels {
		if got := p.labels[label]; got != want {
			t.Errorf("label %s is %q, want %q", label, got, want)
		}
	}
	for _, err := range p.faults {
		t.Error(err)
	}
}

// failed returns how many requests with profiles the agent has to send again.
func failed(t *testing.T, metrics string) (n float64) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+metrics+"/metrics", nil)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		if value, found := strings.CutPrefix(line, "gctrail_profiles_failures_total "); found {
			if n, err = strconv.ParseFloat(strings.TrimSpace(value), 64); err != nil {
				t.Fatal(err)
			}
		}
	}
	return n
}
