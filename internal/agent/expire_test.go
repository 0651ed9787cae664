package agent

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/internal/watch"
)

// A shortLived is a process that has as many labels as a process can have, each as long as
// it can be.
func shortLived(a *Agent, id int, name string) *process {
	p := program(id, name)
	p.PID = 1<<30 + id
	long := func(of string) string { return fmt.Sprintf("%s-%d-%s", of, id, strings.Repeat(`"`, 500)) }
	o := outside{container: fmt.Sprintf("%064x", id), namespace: long("namespace"), environment: map[string]string{
		"KUBERNETES_SERVICE_HOST": "10.0.0.1", "POD_NAME": long("pod"), "CONTAINER_NAME": long("container"), "OTEL_SERVICE_NAME": long("service"),
	}}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.attach(id, p, identify(p, &o, a.host, nil), newMemory(p, &o, time.Now()), time.Now())
	return a.processes[id]
}

// TestFlood checks that a scrape stays below 1 MB while 10,000 processes start and end,
// with names of their own and labels as long as can be.
func TestFlood(t *testing.T) {
	const limit, processes = 1 << 20, 10_000
	a := newAgent(t, nil)
	for id := range processes {
		shortLived(a, id, strings.Repeat("n", 500)+fmt.Sprint(id))
		for n := range 3 {
			c := collectionOf(uint32(n+1), n, time.Duration(n+1)*time.Millisecond)
			c.Kind = gc.Kind(1 + n)
			happen(a, id, c)
		}
		a.news(&watch.News{ID: id, Ended: true})
		if id%1000 != 999 {
			continue
		}
		for _, accept := range []string{"text/plain", "application/openmetrics-text; version=1.0.0"} {
			size := scrapeSize(a, accept)
			ended := 0
			for _, g := range a.groups {
				ended += g.size()
			}
			for _, g := range a.ends {
				ended += g.size()
			}
			if size > limit || len(a.groups) == 0 || len(a.ends) == 0 {
				t.Errorf("%d processes, %s: %d bytes, %d groups, %d groups of ends", id+1, accept, size, len(a.groups), len(a.ends))
			}
			const own = 16 << 10 // the agent's own metrics, and the common part
			if size > ended+own {
				t.Errorf("%s: %d bytes, of which %d were expected", accept, size, ended)
			} else if ended > size+size/3 {
				t.Errorf("%s: %d bytes, of which %d were expected: processes are dropped without need", accept, size, ended)
			}
		}
	}
}

func scrapeSize(a *Agent, accept string) int {
	w, r := httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, "/metrics", nil)
	r.Header.Set("Accept", accept)
	a.handler().ServeHTTP(w, r)
	return w.Body.Len()
}

// TestEndedStay checks that ended processes are not dropped early in usual conditions.
func TestEndedStay(t *testing.T) {
	a := newAgent(t, nil)
	for id := range 10 {
		p := program(id, "web")
		p.PID = 1<<30 + id
		attach(a, id, p)
		for n := range 9 {
			c := collectionOf(uint32(n+1), n%3, time.Millisecond)
			c.Kind = gc.Kind(1 + n/3)
			happen(a, id, c)
		}
		a.news(&watch.News{ID: id, Ended: true})
	}
	a.expire(time.Now().Add(retention / 2))
	if len(a.groups) != 10 {
		t.Errorf("%d of 10 groups", len(a.groups))
	}
}
