#!/usr/bin/env python3
"""Runs gctrail as npm installs it for Windows, with Node.js for Windows under Wine.

    windows_npm.py WINE FOLDER PACKAGES NODE    PACKAGES has what deploy/release wrote, NODE is node.exe

npm itself runs on this system, because Wine 8 lets Node.js connect to nothing. Each check
prints a line. The exit code is 1 if one fails.
"""
import os
import subprocess
import sys

sys.dont_write_bytecode = True # nothing is written beside the sources
import npm_registry

wine, folder, packages, node = sys.argv[1:]
failed = 0


def check(name, ok, detail=""):
    global failed
    failed += not ok
    print(("ok    " if ok else "FAIL  ") + name + (f": {detail}" if not ok else ""), flush=True)


def gctrail(*args):
    """Returns the exit code and both outputs. Node.js knows no pipes of Wine."""
    launcher = os.path.join(folder, "npm/node_modules/gctrail/bin/gctrail.js")
    paths = [os.path.join(folder, name) for name in ("npm.out", "npm.err")]
    with open(paths[0], "wb") as out, open(paths[1], "wb") as errors:
        environment = dict(os.environ, NODE_SKIP_PLATFORM_CHECK="1")
        code = subprocess.run([wine, node, launcher, *args], env=environment, stdin=subprocess.DEVNULL, stdout=out, stderr=errors, timeout=120).returncode
    texts = []
    for path in paths:
        with open(path, encoding="utf-8") as f:
            texts.append(f.read())
    return code, *texts


with npm_registry.serve(packages) as registry:
    settings = dict(os.environ, npm_config_registry=registry.url, npm_config_cache=os.path.join(folder, "npm-cache"))
    done = subprocess.run(["npm", "install", "--os=win32", "--cpu=x64", "--no-audit", "--no-fund", "--prefix", os.path.join(folder, "npm"), "gctrail"],
                          env=settings, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    check("npm installs gctrail for Windows", done.returncode == 0 and any("win32-x64" in name for name in registry.downloads), (registry.downloads, done.stderr))
code, out, errors = gctrail("demo")
check("gctrail demo", code == 0 and "Total pause" in out, (code, out[:500], errors))
code, out, errors = gctrail("report", "no such file")
check("the exit code and an argument with spaces", code == 3 and "no such file" in errors, (code, out, errors))
sys.exit(failed > 0)
