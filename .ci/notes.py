#!/usr/bin/env python3
"""Prints the changes of a version, as the notes of its release.

    notes.py VERSION    without the v

They are what the version's section of CHANGELOG.md says before its lists, with a link to these, or the section if it
has lists alone. Its links are relative to the repository, which links of a release are not. The exit code is 1 if there
is no such section, or GitHub would refuse it.
"""
import os
import re
import sys

MOST = 125_000 # characters that GitHub takes


def notes(text, version):
    section = re.search(rf"^## {re.escape(version)}(?: [^\n]*)?\n(.*?)(?=^## |\Z)", text, re.M | re.S)
    if not section:
        raise SystemExit(f"CHANGELOG.md has no version {version}")
    for link in re.findall(r"\]\((?!https?:)([^)#]+)", section[1]):
        if not os.path.exists(link):
            raise SystemExit(f"CHANGELOG.md links to {link}, which is not there")
    text, lists = section[1].strip(), re.search(r"^### ", section[1], re.M)
    if lists and section[1][:lists.start()].strip():
        text = section[1][:lists.start()].strip() + "\n\nEverything that is new: [CHANGELOG.md](CHANGELOG.md)."
    found = re.sub(r"\]\((?!https?:)", f"](https://github.com/gctrail/gctrail/blob/v{version}/", text) + "\n"
    if len(found) > MOST:
        raise SystemExit(f"the notes have {len(found)} characters; GitHub takes {MOST}")
    return found


os.chdir(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
with open("CHANGELOG.md", encoding="utf-8") as f:
    sys.stdout.write(notes(f.read(), sys.argv[1]))
