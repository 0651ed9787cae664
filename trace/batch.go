package trace

// A Batch holds copies of events, which stay valid when their source goes on. Its memory
// is used again after Reset. The zero Batch is empty.
type Batch struct {
	Events []Event
	bytes  []byte // of payloads and stacks
}

// Add appends a copy of an event.
func (b *Batch) Add(ev *Event) {
	c := *ev
	c.Run = nil
	start := len(b.bytes)
	b.bytes = append(append(b.bytes, ev.Payload...), ev.stack...)
	stack := start + len(ev.Payload)
	c.Payload, c.stack = b.bytes[start:stack:stack], b.bytes[stack:len(b.bytes):len(b.bytes)]
	if ev.Labels != nil {
		l := *ev.Labels
		c.Labels = &l
	}
	b.Events = append(b.Events, c)
}

// Size returns the bytes of all payloads and stacks.
func (b *Batch) Size() int { return len(b.bytes) }

// Reset empties the batch. Its events are no longer valid.
func (b *Batch) Reset() { b.Events, b.bytes = b.Events[:0], b.bytes[:0] }
