package browser

import (
	"cmp"
	"encoding/json"
	"slices"
	"sync"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/tracing"
	"github.com/chromedp/chromedp"
)

// A task is a task of the page's main thread, from the browser's own trace.
type task struct {
	Name  string  `json:"name"`
	Start float64 `json:"ts"`   // microseconds
	Wall  float64 `json:"dur"`  // microseconds
	CPU   float64 `json:"tdur"` // microseconds in which the thread ran
	TID   int     `json:"tid"`
	PID   int     `json:"pid"`
	Args  struct {
		Name string `json:"name"`
	} `json:"args"`
}

// trace records the browser's trace until the function that it returns is called,
// which returns the tasks of the page's main thread, the longest first.
func (b *tab) trace() func() []task {
	b.Helper()
	var mu sync.Mutex
	var events []task
	done := make(chan struct{})
	b.must(chromedp.ListenBrowser(b.ctx, func(ev any) {
		mu.Lock()
		defer mu.Unlock()
		switch ev := ev.(type) {
		case *tracing.EventDataCollected:
			for _, v := range ev.Value {
				var e task
				if json.Unmarshal(v, &e) == nil {
					events = append(events, e)
				}
			}
		case *tracing.EventTracingComplete:
			close(done)
		}
	}))
	b.must2(chromedp.CallBrowser(b.ctx, tracing.Start, tracing.StartParams{TraceConfig: &tracing.TraceConfig{
		IncludedCategories: []string{"toplevel", "__metadata"},
	}}))
	return func() []task {
		b.Helper()
		b.must2(chromedp.CallBrowser(b.ctx, tracing.End, cdp.Empty{}))
		<-done
		mu.Lock()
		defer mu.Unlock()
		return tasksOf(events)
	}
}

func tasksOf(events []task) []task {
	main := map[[2]int]bool{}
	for _, e := range events {
		if e.Name == "thread_name" && e.Args.Name == "CrRendererMain" {
			main[[2]int{e.PID, e.TID}] = true
		}
	}
	var tasks []task
	cpu := map[int]float64{} // by process: other pages of the browser do next to nothing
	for _, e := range events {
		if main[[2]int{e.PID, e.TID}] && e.Name == "ThreadControllerImpl::RunTask" {
			cpu[e.PID] += e.CPU
		}
	}
	page := 0
	for pid := range cpu {
		if page == 0 || cpu[pid] > cpu[page] {
			page = pid
		}
	}
	for _, e := range events {
		if e.PID == page && main[[2]int{e.PID, e.TID}] && e.Name == "ThreadControllerImpl::RunTask" {
			tasks = append(tasks, e)
		}
	}
	slices.SortFunc(tasks, func(a, b task) int { return cmp.Compare(b.CPU, a.CPU) })
	return tasks
}
