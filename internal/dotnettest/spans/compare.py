"""Compares the spans of a trace with those that this script pairs itself.

    compare.py GCTRAIL TRACE [IDS]

The starts and stops of spans, and the suspensions, are taken from gctrail events; each span's
time in suspensions is the sum of their overlaps with it. IDS has a traceparent in each line:
of a program's own spans, or of its clients' requests.
"""
import json
import subprocess
import sys

EVENTS = "GCSuspendEEBegin,GCRestartEEBegin,ActivityStart,ActivityStop,Activity1Start,Activity1Stop"


def lines(*args):
    out = subprocess.run([sys.argv[1], *args, "--format", "jsonl", sys.argv[2]], stdout=subprocess.PIPE, text=True).stdout
    return [json.loads(line) for line in out.splitlines()]


def pair():
    """Returns (start, end) of each span by its ids, and (begin, end, is_gc) of each suspension."""
    spans, suspensions, began, since = {}, [], {}, None
    for e in lines("events", "--name", EVENTS):
        name, at, fields = e["name"], e["time_ms"], e["fields"]
        if name == "GCSuspendEEBegin":
            since = at, fields["Reason"] in (1, 6)  # SuspendForGC, SuspendForGCPrep
        elif name == "GCRestartEEBegin":
            if since:
                suspensions.append((since[0], at, since[1]))
            since = None
        else:
            args = {a["Key"]: a["Value"] for a in fields.get("Arguments", [])}
            ids = args.get("TraceId"), args.get("SpanId")
            if "Start" in name:
                began.setdefault(ids, at)
            elif ids in began:
                spans[ids] = began.pop(ids), at
    return spans, suspensions


def times(span, suspensions):
    """Returns the duration of a span, how long the GC paused it, and other suspensions did."""
    start, end = span
    overlaps = {True: 0.0, False: 0.0}
    for begin, until, gc in suspensions:
        overlaps[gc] += max(0.0, min(until, end) - max(begin, start))
    return end - start, overlaps[True], overlaps[False]


spans, suspensions = pair()
want = {ids: times(span, suspensions) for ids, span in spans.items()}
got, parents = {}, set()
for r in lines("requests"):
    if r["duration_ms"] is not None:
        parents.add((r["trace_id"], r.get("parent_span_id")))
        got[r["trace_id"], r["span_id"]] = r["duration_ms"], r["gc_paused_ms"], r["other_suspended_ms"]
differ = [ids for ids in want.keys() | got.keys()
          if ids not in want or ids not in got or any(abs(a - b) > 2e-4 for a, b in zip(want[ids], got[ids]))]
print(f"{len(got)} spans, {len(want)} by this script, {sum(t[1] > 0 for t in got.values())} paused, {len(differ)} differ")
for ids in differ[:5]:
    print(ids, want.get(ids), got.get(ids))
if len(sys.argv) > 3:
    sent = [line.split("-") for line in open(sys.argv[3]).read().split()]
    spans, clients = (sum((trace, span) in of for _, trace, span, _ in sent) for of in (got, parents))
    print(f"{len(sent)} ids: {spans} are spans, {clients} are parents of spans")
sys.exit(bool(differ))
