package agent

import "github.com/gctrail/gctrail/internal/otlp"

// observeSelf updates the agent's metrics of itself.
func (a *Agent) observeSelf() {
	counts := a.watcher.Counts()
	own := make(gauges)
	own.set(selfProcesses, float64(counts.Watched), "attached")
	own.set(selfProcesses, float64(counts.Failed), "unreachable")
	own.set(selfProcesses, float64(counts.Waiting), "waiting")
	if a.sender != nil {
		s := a.sender.Stats()
		own.set(selfQueue, float64(s.QueuedBytes))
		a.self.setCounter(selfRequests, s.Requests)
		a.self.setCounter(selfFailures, s.Failures)
		for _, signal := range otlp.Signals() {
			c := s.Signals[signal]
			if signal == otlp.Logs {
				c.Dropped += a.records.dropped
			}
			a.self.setCounter(selfItems, c.Sent, signal.String(), "sent")
			a.self.setCounter(selfItems, c.Rejected, signal.String(), "rejected")
			a.self.setCounter(selfItems, c.Dropped, signal.String(), "dropped")
		}
	}
	if a.profiler != nil {
		a.observeProfiles(own)
	}
	a.self.processes[0] = &process{gauges: own}
}

// observeProfiles updates the metrics of profiles.
func (a *Agent) observeProfiles(own gauges) {
	s := a.profiler.Stats()
	own.set(profilesQueue, float64(s.QueuedBytes))
	own.set(profilesProcesses, float64(s.Sampling))
	a.self.setCounter(profilesSent, s.Sent, "sent")
	a.self.setCounter(profilesSent, s.Rejected, "rejected")
	a.self.setCounter(profilesSent, s.Dropped, "dropped")
	a.self.setCounter(profilesFailures, s.Failures)
	a.self.setCounter(profilesLists, s.Lists)
	a.self.setCounter(profilesSessions, s.Sessions)
	a.self.setCounter(profilesRests, s.Rests)
	a.self.setCounter(profilesLost, s.Lost)
}

// setCounter sets a counter that is kept elsewhere.
func (g *group) setCounter(m *metric, n uint64, values ...string) {
	g.counters[keyOf(m, values)] = float64(n)
}
