package selection_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/gctrail/gctrail/clr"
	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/gc/figure"
	"github.com/gctrail/gctrail/gc/request"
	"github.com/gctrail/gctrail/internal/selection"
)

// collection returns one with all figures known.
func collection() *gc.Collection {
	return &gc.Collection{
		Number: 1000, Generation: gc.Some(2), Kind: gc.Blocking, Reason: gc.Some(clr.GCReasonInduced),
		Start: gc.Some(time.Second), End: gc.Some(time.Second + 240*time.Millisecond),
		Pauses:    []gc.Pause{{Duration: 250 * time.Millisecond, Suspend: gc.Some(10 * time.Millisecond)}},
		AllPauses: true, SinceLast: gc.Some(2 * time.Second),
		HeapBefore: gc.Some[int64](3e9), HeapAfter: gc.Some[int64](1 << 30), Freed: gc.Some[int64](19e8),
		Promoted: gc.Some[int64](1e9), CommittedAfter: gc.Some[int64](4e9), Allocated: gc.Some[int64](200e6),
		MemoryLoad: gc.Some(90), PinnedObjects: gc.Some[int64](5),
	}
}

func TestHolds(t *testing.T) {
	for text, want := range map[string]bool{
		"pause>200ms":                       true,
		"pause > 0.25s":                     false,
		"pause >= 0.25 s":                   true,
		"pause=250000us":                    true,
		"pause != 250000µs":                 false,
		"pause<1m":                          true,
		"suspend<=10ms":                     true,
		"suspend<0":                         false,
		"duration = 240ms":                  true,
		"gen=2":                             true,
		"gen == 2":                          true,
		"GEN!=2":                            false,
		"kind=blocking":                     true,
		"kind!=background":                  true,
		"reason=induced":                    true,
		"reason != AllocSmall":              true,
		"number>=1000":                      true,
		"heap=1GiB":                         true,
		"heap>1.1GB":                        false,
		"before>2GB":                        true,
		"freed>1.8gb":                       true,
		"promoted>100MB":                    true,
		"committed<4TB":                     true,
		"allocated>199MB":                   true,
		"rate=100MB/s":                      true,
		"rate>100 MB/s":                     false,
		"load>=90%":                         true,
		"load > 90 %":                       false,
		"load>89":                           true,
		"pinned>4":                          true,
		"gen=2 and pause>1ms":               true,
		"gen=1 or pause>1ms":                true,
		"gen=1 and pause>1ms":               false,
		"gen=1 and gen=2 or gen=2":          true,
		"gen=2 or gen=2 and gen=1":          true,
		"(gen=2 or gen=2) and gen=1":        false,
		"((gen=2))and(pause>1ms)":           true,
		"gen=1 or gen=0 or reason=Empty":    false,
		"gen=2 and kind=blocking and gen=2": true,
	} {
		c, err := selection.ParseCondition(text)
		if err != nil {
			t.Error(err)
			continue
		}
		if c.Holds(collection()) != want || c.String() != text {
			t.Errorf("%s: %t", c, !want)
		}
	}
}

// TestUnknown checks that an unknown figure meets no condition.
func TestUnknown(t *testing.T) {
	for _, f := range figure.Conditions() {
		if f.Always {
			continue
		}
		value := "0"
		if f.Until.Words != nil {
			value = f.Until.Words()[0]
		}
		for _, op := range []string{"=", "!="} {
			c, err := selection.ParseCondition(f.Until.Word + op + value)
			if err != nil {
				t.Fatal(err)
			}
			if c.Holds(&gc.Collection{}) {
				t.Errorf("%s holds", c)
			}
		}
	}
	c, err := selection.ParseCondition("rate>=0")
	if err != nil || c.Holds(&gc.Collection{Allocated: gc.Some[int64](1), SinceLast: gc.Some[time.Duration](0)}) {
		t.Error("a rate without time holds", err)
	}
}

func TestErrors(t *testing.T) {
	var words []string
	for _, f := range selection.ConditionWords() {
		words = append(words, f.Until.Word)
	}
	figures := strings.Join(words, ", ")
	for text, want := range map[string]string{
		"":                           "the end where a figure is expected: one of " + figures + ", at character 1",
		"pauses>1ms":                 `unknown figure "pauses"; valid figures: ` + figures + ", at character 1",
		"gen=2 and":                  "the end where a figure is expected: one of " + figures + ", at character 10",
		"gen=2 and or":               `unknown figure "or"; valid figures: ` + figures + ", at character 11",
		"pause":                      "the end where one of > >= < <= = != is expected, at character 6",
		"pause~1ms":                  `"~" where one of > >= < <= = != is expected, at character 6`,
		"pause>200":                  `pause is a time, as in 200ms or 1.5s, and not "200", at character 7`,
		"pause>200MB":                `pause is a time, as in 200ms or 1.5s, and not "200MB", at character 7`,
		"pause>-1ms":                 `pause is a time, as in 200ms or 1.5s, and not "-1ms", at character 7`,
		"pause>1e3ms":                `pause is a time, as in 200ms or 1.5s, and not "1e3ms", at character 7`,
		"pause>":                     "pause is a time, as in 200ms or 1.5s, and not the end, at character 7",
		"heap>(1GB)":                 `heap is a size, as in 10MB or 1.5GiB, and not "(", at character 6`,
		"rate>5MB":                   `rate is a size per second, as in 100MB/s, and not "5MB", at character 6`,
		"load>9MB":                   `load is a percentage, as in 90%, and not "9MB", at character 6`,
		"gen=3":                      `gen is a generation, as in 0, 1 or 2, and not "3", at character 5`,
		"number=many":                `number is a number, as in 2, and not "many", at character 8`,
		"kind>blocking":              "kind is a word: compare it with = or !=, at character 5",
		"kind=bgc":                   `unknown kind "bgc"; valid values: blocking, background, foreground, at character 6`,
		"gen=2 pause>1ms":            `"pause" where and, or or the end of the condition is expected, at character 7`,
		"gen=2)":                     `")" where and, or or the end of the condition is expected, at character 6`,
		"(gen=2":                     `the end where and, or or ")" is expected, at character 7`,
		"gen=2 && gen=1":             `"&" where and, or or the end of the condition is expected, at character 7`,
		"gen=2 and ä":                `"ä" where a figure is expected: one of ` + figures + ", at character 11",
		"pause>1µs ä":                `"ä" where and, or or the end of the condition is expected, at character 11`,
		strings.Repeat("(", 101):     "more than 100 nested parentheses, at character 101",
		"gen=2 and request>1s":       "request is of requests, and gen of collections: a condition is of one of both, at character 11",
		"paused>50% or (pause>1ms)":  "paused is of requests, and pause of collections: a condition is of one of both, at character 16",
		"request>1":                  `request is a time, as in 200ms or 1.5s, and not "1", at character 9`,
		"paused>1ms":                 `paused is a percentage, as in 90%, and not "1ms", at character 8`,
		"pause>1ms200ms":             `pause is a time, as in 200ms or 1.5s, and not "1ms200ms", at character 7`,
		"reason = 1 or reason=Other": `unknown reason "1"; valid values: AllocSmall, `,
	} {
		_, err := selection.ParseCondition(text)
		if err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s: %v\nwant %s", text, err, want)
		}
	}
}

func TestHoldsFor(t *testing.T) {
	s := &request.Span{Duration: gc.Some(600 * time.Millisecond), Paused: 300 * time.Millisecond}
	for text, want := range map[string]bool{
		"request>500ms and paused>=50%": true,
		"request>500ms and paused>50%":  false,
		"request>0.6s or paused=50":     true,
		"(REQUEST<=600ms)":              true,
		"request!=600ms":                false,
	} {
		c, err := selection.ParseCondition(text)
		if err != nil {
			t.Error(err)
			continue
		}
		if c.HoldsFor(s) != want || !c.OfRequests() || c.Holds(collection()) {
			t.Errorf("%s: %t", c, !want)
		}
		if c.HoldsFor(&request.Span{}) {
			t.Errorf("%s holds for a request that has not ended", c)
		}
	}
	c, err := selection.ParseCondition("pause>1ms")
	if err != nil || c.OfRequests() || c.HoldsFor(s) {
		t.Errorf("%v holds for a request, %v", c, err)
	}
}

func ExampleParseCondition() {
	c, err := selection.ParseCondition("gen=2 and (pause>200ms or suspend>50ms)")
	if err != nil {
		fmt.Println(err)
		return
	}
	long := &gc.Collection{
		Generation: gc.Some(2), AllPauses: true,
		Pauses: []gc.Pause{{Duration: 300 * time.Millisecond, Suspend: gc.Some(time.Millisecond)}},
	}
	fmt.Println(c.Holds(long))

	_, err = selection.ParseCondition("pause>200")
	fmt.Println(err)
	// Output:
	// true
	// pause is a time, as in 200ms or 1.5s, and not "200", at character 7
}

// FuzzParseCondition: an accepted condition is accepted again in parentheses and gives the same; a
// mistake is at a place with text.
func FuzzParseCondition(f *testing.F) {
	for _, text := range []string{"gen=2 and (pause>200ms or suspend>50ms)", "reason != Induced", "rate >= 5 MB/s or load<9 %", "((", "heap>1µs"} {
		f.Add(text)
	}
	collections := []*gc.Collection{collection(), {}}
	f.Fuzz(func(t *testing.T, text string) {
		c, err := selection.ParseCondition(text)
		if err != nil {
			wrong, ok := errors.AsType[*selection.ConditionError](err)
			if !ok || wrong.Off < 0 || wrong.Off > len(text) || wrong.Error() == "" {
				t.Fatalf("%v", err)
			}
			return
		}
		again, err := selection.ParseCondition("(" + text + ") and number!=999999")
		if err != nil {
			if !strings.Contains(err.Error(), "parentheses inside") {
				t.Fatal(err)
			}
			return
		}
		for _, col := range collections {
			if c.Holds(col) != again.Holds(col) {
				t.Errorf("%s in parentheses is something else", text)
			}
		}
	})
}
