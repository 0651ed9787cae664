// Package pass hands the events of a trace to models, any number of them in one reading.
//
// A model names the kinds of events that it reads, and is given each of them with its time,
// its process and its decoded payload:
//
//	type pauses struct{ longest time.Duration }
//
//	func (*pauses) Kinds() []clr.Kind { return []clr.Kind{clr.KindGCPause} }
//
//	func (m *pauses) Event(e *pass.Event) {
//		if v, ok := pass.Decode[clr.GCPause](e); ok {
//			m.longest = max(m.longest, time.Duration(v.DurationMicroseconds)*time.Microsecond)
//		}
//	}
//
// Run reads a trace to its end for models, and gc.Model.Collections does so while it yields
// collections, of a file and of a trace that is still being written. The filter of the
// reader is Wants:
//
//	want := pass.Wants(&model, &pauses)
//
// Of some kinds, such as handles, a trace can have tens of millions of events. A model of them
// also has the methods Runs and Events (see Model), and the reader's option Runs is that of
// the models:
//
//	open.Options{Want: pass.Wants(models...), Runs: pass.Runs(models...)}
//
// Then events in a row cost one call together. Without the option, all is the same but slower.
//
// A Pass does once what each model would have to do otherwise. It finds the kind of an
// event and the models that read it, leaves out late events, whose order is wrong,
// distinguishes processes and runtimes, within one bound for all models, and decodes each
// payload at most once, when the first model asks for it. All that is kept per kind of event
// is an array by clr.Kind and a pointer for each Descriptor: dispatch costs an event a
// comparison of pointers, and allocates nothing.
package pass
