#!/usr/bin/env python3
"""Runs tests and counts them.

    summary.py OUT go test …         prints packages, failures and the longest tests, and writes the results to OUT
    summary.py --packages OUT go …   also prints the counts of each package, and why tests were skipped
    summary.py --failed OUT…         prints the packages that failed
    summary.py --total STEPS_FAILED FILE…
                                     adds up files of results, and files whose last line is "N passed, N failed"

The exit status is that of go test. GCTRAIL_FAILED=later makes it 0 where OUT has the
failures. Results of packages that OUT has take the place of earlier ones, which were of
a loaded machine: what failed then and passes now is printed.
"""
import collections
import json
import os
import re
import subprocess
import sys

LAST = 60  # lines shown of what a failed test printed
LONGEST, LONG = 10, 5.0  # how many of the longest tests are shown, and from how many seconds on
COUNTS = re.compile(r"(\d+) passed, (\d+) failed(?:, (\d+) skipped)?")


def run(out, command, packages=False):
    output = collections.defaultdict(list)
    skipped = collections.defaultdict(list)
    results = {}  # of a package: the numbers of tests that passed and were skipped, the names of the failed
    took = {}  # seconds, by package and test
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, errors="replace")
    for line in process.stdout:
        try:
            ev = json.loads(line)
        except ValueError:
            print(line, end="")
            continue
        action, package, test = ev["Action"], ev.get("Package"), ev.get("Test")
        if action == "build-output":
            print(ev["Output"], end="")
        elif action == "output":
            output[package, test].append(ev["Output"])
        elif action in ("pass", "fail", "skip"):
            text = "".join(output.pop((package, test), []))
            result = results.setdefault(package, {"pass": 0, "skip": 0, "fail": []})
            if action == "fail" and (test or not result["fail"]):
                result["fail"].append(test or "")  # without a name it does not build, or ended before a test could say so
            elif test:
                result[action] += 1
            if test:
                took[package, test] = ev.get("Elapsed", 0)
            if test and action == "skip":
                skipped[package].append(f"{test}: {reason(text)}")
            if action == "fail":
                print("".join(text.splitlines(True)[-LAST:]), end="")
            elif not test:
                print("".join(l for l in text.splitlines(True) if l.startswith("ok" if packages else ("ok", "?"))), end="")
            if packages and not test and any(result.values()):
                print(f"{package}: {result['pass']} passed, {len(result['fail'])} failed, {result['skip']} skipped")
                for line in skipped[package]:
                    print("    skipped", line)
    status = process.wait()
    longest(took)
    failed = any(r["fail"] for r in results.values())
    earlier = load(out)
    for package in results.keys() & earlier.keys():
        for test in leaves(set(earlier[package]["fail"]) - set(results[package]["fail"])):
            print("passed only when run again:", package, test)
    with open(out, "w") as f:
        json.dump(earlier | results, f)
    if failed and os.environ.get("GCTRAIL_FAILED") == "later":
        print("the packages that failed are run again at the end")
        return 0
    return status


def longest(took):
    """Prints the longest tests, which have no parts. Beside other work they take longer."""
    whole = {(package, test[:i]) for package, test in took for i, c in enumerate(test) if c == "/"}
    rows = sorted(((s, *key) for key, s in took.items() if s >= LONG and key not in whole), reverse=True)
    for seconds, package, test in rows[:LONGEST]:
        print(f"{seconds:8.1f} s  {package.removeprefix('github.com/gctrail/gctrail/')} {test}")


def leaves(tests):
    """Leaves out tests that failed because a part of theirs did."""
    return sorted(t for t in tests if not any(other.startswith(t + "/") for other in tests))


def reason(text):
    """Returns why a test was skipped."""
    found = re.findall(r"_test\.go:\d+: (.*)", text)
    return found[-1] if found else "no reason"


def load(path):
    """Returns the results in a file; none if there is no such file, or it is of another kind."""
    try:
        with open(path) as f:
            return json.load(f)
    except (OSError, ValueError):
        return {}


def counts(path):
    results = load(path).values()
    if results:
        return [sum(r["pass"] for r in results), sum(len(r["fail"]) for r in results), sum(r["skip"] for r in results)]
    try:
        with open(path) as f:
            return [int(n or 0) for n in COUNTS.findall(f.read())[-1]]
    except (OSError, IndexError):
        return [0, 0, 0]


def total(steps_failed, paths):
    passed, failed, skipped = map(sum, zip(*map(counts, paths)))
    print(f"{passed} passed, {max(failed, steps_failed)} failed, {skipped} skipped")


if sys.argv[1] == "--total":
    total(int(sys.argv[2]), sys.argv[3:])
elif sys.argv[1] == "--failed":
    print("\n".join(sorted({package for path in sys.argv[2:] for package, r in load(path).items() if r["fail"]})))
elif sys.argv[1] == "--packages":
    sys.exit(run(sys.argv[2], sys.argv[3:], packages=True))
else:
    sys.exit(run(sys.argv[1], sys.argv[2:]))
