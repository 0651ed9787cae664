package live

import (
	"testing"

	"github.com/gctrail/gctrail/gc"
)

// TestQueue: if the caller is slow, the oldest collections are dropped first, and are
// counted.
func TestQueue(t *testing.T) {
	q := newQueue(4)
	q.push(&Update{Kind: Attached})
	for n := range uint32(10) {
		q.push(&Update{Kind: Collected, Collection: &gc.Collection{Number: n}})
	}
	q.push(&Update{Kind: Ended})
	q.close()
	type got struct {
		kind    Kind
		number  uint32
		dropped int
	}
	want := []got{{Attached, 0, 8}, {Collected, 8, 0}, {Collected, 9, 0}, {Ended, 0, 0}}
	for _, w := range want {
		u := q.next()
		if u == nil {
			t.Fatal("an update is missing")
		}
		g := got{kind: u.Kind, dropped: u.Dropped}
		if u.Collection != nil {
			g.number = u.Collection.Number
		}
		if g != w {
			t.Errorf("got %+v, want %+v", g, w)
		}
	}
	if u := q.next(); u != nil {
		t.Errorf("one more: %+v", u)
	}
}

// TestQueueOfNews: a caller that takes nothing does not make the news of a
// process that restarts again and again pile up.
func TestQueueOfNews(t *testing.T) {
	q := newQueue(4)
	for range 100 {
		q.push(&Update{Kind: Attached})
		q.push(&Update{Kind: Ended})
	}
	if len(q.updates) != 4 || q.dropped != 0 {
		t.Errorf("%d updates, %d dropped", len(q.updates), q.dropped)
	}
}
