"""A registry of npm that has the packages of a folder, and no others."""
import base64
import contextlib
import hashlib
import http.server
import json
import os
import tarfile
import threading
import urllib.parse


class Registry(http.server.ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, folder):
        super().__init__(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server_port}/"
        self.downloads = []  # names of files
        self.files = {}
        self.packages = {}
        for name in sorted(os.listdir(folder)):
            path = os.path.join(folder, name)
            with open(path, "rb") as f:
                data = self.files[name] = f.read()
            with tarfile.open(path) as t:
                manifest = json.load(t.extractfile("package/package.json"))
            integrity = "sha512-" + base64.b64encode(hashlib.sha512(data).digest()).decode()
            manifest["dist"] = {"tarball": self.url + "-/" + name, "integrity": integrity}
            self.packages[manifest["name"]] = {
                "name": manifest["name"], "dist-tags": {"latest": manifest["version"]}, "versions": {manifest["version"]: manifest}}


class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        path = urllib.parse.unquote(self.path.split("?")[0]).lstrip("/")
        if path.startswith("-/") and path[2:] in self.server.files:
            self.server.downloads.append(path[2:])
            self.answer(200, "application/octet-stream", self.server.files[path[2:]])
        elif path in self.server.packages:
            self.answer(200, "application/json", json.dumps(self.server.packages[path]).encode())
        else:
            self.answer(404, "application/json", b'{"error": "not found"}')

    def answer(self, code, kind, body):
        self.send_response(code)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


@contextlib.contextmanager
def serve(folder):
    """Serves the packages of a folder, to this machine."""
    registry = Registry(folder)
    threading.Thread(target=registry.serve_forever, daemon=True).start()
    try:
        yield registry
    finally:
        registry.shutdown()
        registry.server_close()
