"""mock_registry.py DIR LAYOUT: a registry on loopback that misbehaves as it is told.

DIR/port gets its port. Each request is a line of DIR/log: "METHOD PATH HOST AUTHORIZATION RANGE".
LAYOUT is an OCI layout, served as the repository lab/image, tag v1. DIR/mode is read at each
request: words, each a way to behave, see MODES. What is pushed lands in memory.
"""
import base64
import hashlib
import http.server
import json
import os
import socket
import sys
import threading
import time
import urllib.parse

DIR, LAYOUT = sys.argv[1:]
MANIFEST = "application/vnd.oci.image.manifest.v1+json"
MODES = {
    "token": "asks for a bearer token",
    "once": "gives tokens that work for two requests",
    "html": "answers 200 with a web page",
    "busy": "429 with Retry-After: 1 to every other request",
    "dead": "503 to everything but /v2/",
    "later": "429 with Retry-After: 86400",
    "break": "breaks the connection in the middle of each blob that is asked for from its start",
    "norange": "ignores Range",
    "badrange": "resumes at another place",
    "endless": "sends blobs chunked, without an end",
    "short": "sends blobs without their last byte",
    "flip": "changes a byte of each blob",
    "headers": "sends megabytes of headers",
    "loop": "redirects to itself",
    "away": "redirects blobs to localhost instead of 127.0.0.1, at /away/",
    "bigjson": "sends 100 MB as a manifest",
    "liar": "names another Docker-Content-Digest",
    "evil-token": "gives a token with a line break",
    "ftp-realm": "wants tokens from ftp://",
    "away-realm": "wants tokens from http://127.0.0.1@example.invalid",
    "drop-put": "breaks the connection of the first upload",
    "put-liar": "says it stored another manifest",
    "plain-errors": "500 with a text that is not JSON",
}

with open(os.path.join(LAYOUT, "index.json")) as f:
    root = json.load(f)["manifests"][0]["digest"]
blobs, tags, tokens, state = {}, {"v1": root}, {}, {"count": 0, "dropped": False}
for name in os.listdir(os.path.join(LAYOUT, "blobs/sha256")):
    with open(os.path.join(LAYOUT, "blobs/sha256", name), "rb") as f:
        blobs["sha256:" + name] = f.read()
if os.path.exists(os.path.join(DIR, "root.json")):  # another manifest than the layout's
    with open(os.path.join(DIR, "root.json"), "rb") as f:
        text = f.read()
    tags["v1"] = "sha256:" + hashlib.sha256(text).hexdigest()
    blobs[tags["v1"]] = text
lock = threading.Lock()


def modes():
    try:
        with open(os.path.join(DIR, "mode")) as f:
            words = set(f.read().split())
    except FileNotFoundError:
        return set()
    assert words <= set(MODES), words - set(MODES)
    return words


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *args):
        pass

    def note(self):
        with lock, open(os.path.join(DIR, "log"), "a") as f:
            f.write(" ".join([self.command, self.path, self.headers.get("Host", "-"),
                              self.headers.get("Authorization", "-").replace(" ", "_"),
                              self.headers.get("Range", "-")]) + "\n")

    def answer(self, status, body=b"", **headers):
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        if "Content_Length" not in headers:
            self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def error(self, status, code, message, **headers):
        body = json.dumps({"errors": [{"code": code, "message": message}]}).encode()
        self.answer(status, body, Content_Type="application/json", **headers)

    def hang_up(self):
        self.wfile.flush()
        self.connection.shutdown(socket.SHUT_RDWR)
        self.close_connection = True

    # ---- letting in ----

    def token(self):
        query = urllib.parse.parse_qs(urllib.parse.urlparse(self.path).query)
        if self.command == "POST":
            form = self.rfile.read(int(self.headers["Content-Length"])).decode()
            query = urllib.parse.parse_qs(form)
            good = query.get("refresh_token") == ["refresh-me"]
        else:
            login = "Basic " + base64.b64encode(b"lab:secret").decode()
            good = self.headers.get("Authorization") in (None, login)
        with open(os.path.join(DIR, "scopes"), "a") as f:
            f.write(f"{query.get('service')} {query.get('scope')}\n")
        if not good:
            return self.error(401, "UNAUTHORIZED", "wrong password")
        token = f"token-{len(tokens)}"
        tokens[token] = 2 if "once" in modes() else 10**9
        if "evil-token" in modes():
            token = "x\r\nX-Evil: 1"
        field = "access_token" if self.command == "POST" else "token"
        self.answer(200, json.dumps({field: token, "expires_in": 60}).encode())

    def let_in(self):
        if "token" not in modes():
            return True
        kind, _, token = self.headers.get("Authorization", "").partition(" ")
        with lock:
            good = kind == "Bearer" and tokens.get(token, 0) > 0
            if good:
                tokens[token] -= 1
        if good:
            return True
        scheme = "ftp" if "ftp-realm" in modes() else "http"
        host = "127.0.0.1@example.invalid" if "away-realm" in modes() else self.headers["Host"]
        self.drain()
        self.error(401, "UNAUTHORIZED", "authentication required", WWW_Authenticate=
                   f'Bearer realm="{scheme}://{host}/token",service="mock \\"1\\"",scope="other"')
        return False

    def drain(self):
        self.body = self.rfile.read(int(self.headers.get("Content-Length") or 0))

    # ---- what it has ----

    def document(self, digest):
        body, said = blobs[digest], digest
        if "bigjson" in modes():
            body = b"[" + b" " * 100_000_000 + b"]"
        if "liar" in modes():
            said = "sha256:" + "0" * 64
        try:
            self.answer(200, body, Content_Type=json.loads(blobs[digest]).get("mediaType", MANIFEST),
                        Docker_Content_Digest=said)
        except (BrokenPipeError, ConnectionResetError):
            self.close_connection = True

    def endless(self):
        self.send_response(200)
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        try:
            while True:
                self.wfile.write(b"10000\r\n" + b"x" * 65536 + b"\r\n")
        except OSError:
            self.close_connection = True

    def blob(self, digest):
        body, how, asked = blobs[digest], modes(), self.headers.get("Range")
        if "endless" in how:
            return self.endless()
        if "short" in how:
            body = body[:-1]
        if "flip" in how:
            body = bytes([body[0] ^ 1]) + body[1:]
        if asked and "norange" not in how:
            start = int(asked.removeprefix("bytes=").removesuffix("-"))
            wrong = start - 1 if "badrange" in how else start
            return self.answer(206, body[wrong:],
                               Content_Range=f"bytes {wrong}-{len(body) - 1}/{len(body)}")
        half = len(body) // 2
        with lock:
            state["count"] += 1
        if "break" in how and (not asked or state["count"] < 6):
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body[:half])
            return self.hang_up()
        self.answer(200, body, Content_Type="application/octet-stream")

    def trouble(self, path):
        """Answers as the mode wants; True if that was all."""
        how = modes()
        if "html" in how:
            self.answer(200, b"<html>hello</html>", Content_Type="text/html; charset=utf-8")
        elif "loop" in how and path != "/v2/":
            self.answer(307, Location=self.path)
        elif "headers" in how and path != "/v2/":
            try:
                self.send_response(200)
                for i in range(40000):
                    self.send_header(f"X-{i}", "y" * 60)
                self.end_headers()
            except OSError:
                pass
            self.close_connection = True
        elif "later" in how and path != "/v2/":
            self.error(429, "TOOMANYREQUESTS", "come back tomorrow", Retry_After="86400")
        elif "dead" in how and path != "/v2/":
            self.error(503, "UNAVAILABLE", "down for today")
        elif "plain-errors" in how and path != "/v2/":
            self.answer(501, b"something \x1b[31mbad\n" * 20000)
        elif "busy" in how and path != "/v2/":
            with lock:
                state["busy"] = not state.get("busy")
            if not state["busy"]:
                return False
            self.drain()
            self.error(429, "TOOMANYREQUESTS", "slow down", Retry_After="1")
        else:
            return False
        return True

    def do_GET(self):
        self.note()
        path = urllib.parse.urlparse(self.path).path
        if path == "/token":
            return self.token()
        if path.startswith("/away/"):
            return self.blob(path.removeprefix("/away/"))
        if not self.let_in() or self.trouble(path):
            return None
        if path == "/v2/":
            return self.answer(200, b"{}")
        repository, kind, name = path.removeprefix("/v2/").rsplit("/", 2)
        if repository.endswith("/blobs/uploads"):
            repository = repository.removesuffix("/blobs/uploads")
        digest = tags.get(name, name)
        if digest not in blobs or (repository != "lab/image" and not state.get("pushed")):
            return self.error(404, "NAME_UNKNOWN", f"no {name}")
        if kind == "manifests":
            return self.document(digest)
        if "away" in modes():
            port = self.headers["Host"].rsplit(":", 1)[1]
            return self.answer(307, Location=f"http://localhost:{port}/away/{digest}")
        return self.blob(digest) if self.command == "GET" else self.answer(200, blobs[digest])

    do_HEAD = do_GET

    # ---- what it is given ----

    def do_POST(self):
        self.note()
        if self.path == "/token":
            return self.token()
        if not self.let_in() or self.trouble(self.path):
            return None
        return self.answer(202, Location="/v2/upload/1?state=a%2Fb")

    def do_PUT(self):
        self.note()
        if "drop-put" in modes() and not state["dropped"]:
            state["dropped"] = True
            return self.hang_up()
        if not self.let_in() or self.trouble(self.path):
            return None
        self.drain()
        url = urllib.parse.urlparse(self.path)
        digest = "sha256:" + hashlib.sha256(self.body).hexdigest()
        query = urllib.parse.parse_qs(url.query)
        if "/manifests/" in url.path:
            tags[url.path.rsplit("/", 1)[1]] = digest
        elif query.get("digest") != [digest] or query.get("state") != ["a/b"]:
            return self.error(400, "DIGEST_INVALID", "not that digest")
        blobs[digest] = self.body
        state["pushed"] = True
        said = "sha256:" + "1" * 64 if "put-liar" in modes() else digest
        return self.answer(201, Docker_Content_Digest=said)

    def do_DELETE(self):
        self.note()
        self.answer(204)


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request, client_address):
        pass


server = Server(("127.0.0.1", 0), Handler)
with open(os.path.join(DIR, "port.new"), "w") as f:
    f.write(str(server.server_address[1]))
os.rename(os.path.join(DIR, "port.new"), os.path.join(DIR, "port"))
server.serve_forever()
