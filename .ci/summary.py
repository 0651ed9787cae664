#!/usr/bin/env python3
"""Counts tests.

    go test -json ./... | summary.py OUT     prints packages and failures, and writes "N passed, N failed, N skipped" to OUT
    … | summary.py --packages OUT            also prints the counts of each package, and why tests were skipped
    summary.py --total STEPS_FAILED FILE...  adds the last such line of each FILE
"""
import collections
import json
import re
import sys

LAST = 60  # lines shown of what a failed test printed
COUNTS = re.compile(r"(\d+) passed, (\d+) failed(?:, (\d+) skipped)?")


def run(out, packages=False):
    output = collections.defaultdict(list)
    count = collections.Counter()
    failed_in = collections.Counter()
    counts_in = collections.defaultdict(collections.Counter)
    skipped = collections.defaultdict(list)
    for line in sys.stdin:
        try:
            ev = json.loads(line)
        except ValueError:
            print(line, end="")
            continue
        action, key = ev["Action"], (ev.get("Package"), ev.get("Test"))
        if action == "build-output":
            print(ev["Output"], end="")
        elif action == "output":
            output[key].append(ev["Output"])
        elif action in ("pass", "fail", "skip"):
            text = "".join(output.pop(key, []))
            if key[1]:
                count[action] += 1
                failed_in[key[0]] += action == "fail"
                counts_in[key[0]][action] += 1
                if action == "skip":
                    skipped[key[0]].append(f"{key[1]}: {reason(text)}")
            elif action == "fail" and not failed_in[key[0]]:
                count["fail"] += 1  # it does not build, or ended before a test could say so
            if action == "fail":
                print("".join(text.splitlines(True)[-LAST:]), end="")
            elif not key[1]:
                print("".join(l for l in text.splitlines(True) if l.startswith("ok" if packages else ("ok", "?"))), end="")
            if packages and not key[1] and counts_in[key[0]]:
                c = counts_in[key[0]]
                print(f"{key[0]}: {c['pass']} passed, {c['fail']} failed, {c['skip']} skipped")
                for line in skipped[key[0]]:
                    print("    skipped", line)
    with open(out, "w") as f:
        f.write(f"{count['pass']} passed, {count['fail']} failed, {count['skip']} skipped\n")


def reason(text):
    """Returns why a test was skipped."""
    found = re.findall(r"_test\.go:\d+: (.*)", text)
    return found[-1] if found else "no reason"


def total(steps_failed, paths):
    passed, failed, skipped = 0, 0, 0
    for path in paths:
        try:
            found = COUNTS.findall(open(path).read())
        except OSError:
            continue
        if found:
            p, f, s = found[-1]
            passed, failed, skipped = passed + int(p), failed + int(f), skipped + int(s or 0)
    failed = max(failed, steps_failed)
    print(f"{passed} passed, {failed} failed, {skipped} skipped")


if sys.argv[1] == "--total":
    total(int(sys.argv[2]), sys.argv[3:])
elif sys.argv[1] == "--packages":
    run(sys.argv[2], packages=True)
else:
    run(sys.argv[1])
