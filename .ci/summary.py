#!/usr/bin/env python3
"""Counts tests.

    go test -json ./... | summary.py OUT     prints packages and failures, and writes "N passed, N failed, N skipped" to OUT
    summary.py --total STEPS_FAILED FILE...  adds the last such line of each FILE
"""
import collections
import json
import re
import sys

LAST = 60  # lines shown of what a failed test printed
COUNTS = re.compile(r"(\d+) passed, (\d+) failed(?:, (\d+) skipped)?")


def run(out):
    output = collections.defaultdict(list)
    count = collections.Counter()
    failed_in = collections.Counter()
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
            elif action == "fail" and not failed_in[key[0]]:
                count["fail"] += 1  # it does not build, or ended before a test could say so
            if action == "fail":
                print("".join(text.splitlines(True)[-LAST:]), end="")
            elif not key[1]:
                print("".join(l for l in text.splitlines(True) if l.startswith(("ok", "?"))), end="")
    with open(out, "w") as f:
        f.write(f"{count['pass']} passed, {count['fail']} failed, {count['skip']} skipped\n")


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
else:
    run(sys.argv[1])
