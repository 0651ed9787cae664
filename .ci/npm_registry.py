"""A registry of npm that has the packages of a folder, and what is published to it, and no others."""
import base64
import contextlib
import hashlib
import http.server
import json
import os
import tarfile
import threading
import urllib.parse


TOKEN = "secret" # of those who publish


class Registry(http.server.ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, folder):
        super().__init__(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server_port}/"
        self.downloads = []  # names of files
        self.published = []  # (name, tag)
        self.files = {}
        self.packages = {}
        for name in sorted(os.listdir(folder)) if folder else []:
            path = os.path.join(folder, name)
            with open(path, "rb") as f:
                self.files[name] = f.read()
            with tarfile.open(path) as t:
                self.add(json.load(t.extractfile("package/package.json")), name, "latest")

    def add(self, manifest, name, tag):
        """Adds a package whose file of that name is there."""
        integrity = "sha512-" + base64.b64encode(hashlib.sha512(self.files[name]).digest()).decode()
        manifest["dist"] = {"tarball": self.url + "-/" + name, "integrity": integrity}
        self.packages[manifest["name"]] = {
            "name": manifest["name"], "dist-tags": {tag: manifest["version"]}, "versions": {manifest["version"]: manifest}}

    def publish(self, document):
        """Adds the one version of what npm publish sends, with its file."""
        (tag, version), = document["dist-tags"].items()
        (attached, data), = document["_attachments"].items()
        name = attached.rpartition("/")[2] if not attached.startswith("@") else attached[1:].replace("/", "-")
        self.files[name] = base64.b64decode(data["data"])
        self.add(document["versions"][version], name, tag)
        self.published.append((document["name"], tag))


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

    def do_PUT(self):
        if self.headers["Authorization"] != "Bearer " + TOKEN:
            return self.answer(401, "application/json", b'{"error": "unauthorized"}')
        self.server.publish(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
        return self.answer(201, "application/json", b"{}")

    def answer(self, code, kind, body):
        self.send_response(code)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


@contextlib.contextmanager
def serve(folder=None):
    """Serves the packages of a folder, and what is published, to this machine."""
    registry = Registry(folder)
    threading.Thread(target=registry.serve_forever, daemon=True).start()
    try:
        yield registry
    finally:
        registry.shutdown()
        registry.server_close()
