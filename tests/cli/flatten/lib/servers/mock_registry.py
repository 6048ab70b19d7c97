"""mock_registry.py DIR LAYOUT [TLS]: a registry on loopback with selectable misbehaviour.

It listens on 127.0.0.1, or on the address in the environment variable MOCK_ADDRESS. DIR/port gets its port. Each
request is a line of DIR/log: "METHOD PATH HOST AUTHORIZATION RANGE"; for a chunk of an upload, RANGE is its place.
LAYOUT is an OCI layout, served as the repository lab/image, tag v1. DIR/mode is read at each request; it has words,
each a kind of behaviour, see MODES. Pushes are kept in memory: a blob only with the right digest, a manifest only if
all blobs that it names exist; DIR/tags gets a line for the manifest: NAME DIGEST. With a directory TLS (server.pem,
server.key, ca.pem) the registry uses TLS, and DIR/shown gets a line for each request with a client certificate.
"""
import base64
import hashlib
import http.server
import json
import mmap
import os
import socket
import ssl
import sys
import threading
import time
import urllib.parse

DIR, LAYOUT = sys.argv[1:3]
TLS = sys.argv[3] if len(sys.argv) > 3 else None
SCHEME = "https" if TLS else "http"
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
    "together": "answers the first upload only when a second is complete",
    "refuse-put": "400 to the first upload when it is complete",
    "slow-put": "answers the first upload three seconds after it is complete",
    "drop-put": "breaks the connection of the first upload",
    "put-liar": "says it stored another manifest",
    "mute": "stores a manifest, and does not answer",
    "plain-errors": "500 with a text that is not JSON",
    "cut-patch": "breaks the connection in the middle of the second chunk, once",
    "forgetful": "has lost half of the first chunk when the second comes, once",
    "partial": "takes half of each chunk, and says so",
    "stuck": "takes nothing of any chunk, and says so",
    "boastful": "says it has more than it was sent, once",
    "amnesia": "knows nothing of an upload when the second chunk comes, once",
    "late-amnesia": "the same at 80 MB",
    "no-patch": "405 to chunks",
    "small": "413 to bodies of more than 10 MB, without reading them",
    "middling": "413 to bodies of more than 3 MB",
    "tiny": "413 to all bodies of more than 100 kB",
    "tiny-put": "the same, but takes chunks",
    "large-chunks": "wants chunks of 100 MB at least",
    "lost-reply": "hangs up when the first upload is complete, instead of saying so",
    "busy-patch": "503 to each second chunk",
    "expiring": "gives tokens that work for three requests",
    "hub": "429 as Docker Hub says it, without Retry-After",
    "broken-resume": "503 to the first request with a Range",
    "no-mount": "no blob is there, and none is taken over from another repository",
    "target-realm": "wants tokens from the URL in DIR/target",
    "target-blobs": "redirects blobs to the URL in DIR/target",
    "target-uploads": "wants uploads at the URL in DIR/target",
    "held": "sends half of each blob that DIR/held names, waits for DIR/go, and reads the mode again",
    "cut": "breaks the connection where it was held",
    "flip-last": "changes the last byte of each blob",
    "sound-config": "damages layers alone",
    "garble": "changes the first byte of the first part of a blob that breaks",
}

with open(os.path.join(LAYOUT, "index.json")) as f:
    root = json.load(f)["manifests"][0]["digest"]
blobs, tags, tokens, uploads = {}, {"v1": root}, {}, {}
state = {"count": 0, "dropped": False}
for name in os.listdir(os.path.join(LAYOUT, "blobs/sha256")):
    with open(os.path.join(LAYOUT, "blobs/sha256", name), "rb") as f:
        blobs["sha256:" + name] = mmap.mmap(f.fileno(), 0, access=mmap.ACCESS_READ)
if os.path.exists(os.path.join(DIR, "root.json")):  # another manifest than the one of the layout
    with open(os.path.join(DIR, "root.json"), "rb") as f:
        text = f.read()
    tags["v1"] = "sha256:" + hashlib.sha256(text).hexdigest()
    blobs[tags["v1"]] = text
lock, second = threading.Lock(), threading.Event()


def modes():
    try:
        with open(os.path.join(DIR, "mode")) as f:
            words = set(f.read().split())
    except FileNotFoundError:
        return set()
    assert words <= set(MODES), words - set(MODES)
    return words


def is_layer(digest):
    return digest in [layer["digest"] for layer in json.loads(blobs[tags["v1"]][:])["layers"]]


def target():
    with open(os.path.join(DIR, "target")) as f:
        return f.read().strip()


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *args):
        pass

    def note(self):
        if TLS and self.connection.getpeercert():
            with lock, open(os.path.join(DIR, "shown"), "a") as f:
                f.write(f"{self.headers['Host']} {self.path}\n")
        with lock, open(os.path.join(DIR, "log"), "a") as f:
            f.write(" ".join([self.command, self.path, self.headers.get("Host", "-"),
                              self.headers.get("Authorization", "-").replace(" ", "_"),
                              self.headers.get("Range") or self.headers.get("Content-Range", "-")]) + "\n")

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

    # ---- authorization ----

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
        tokens[token] = 2 if "once" in modes() else 3 if "expiring" in modes() else 10**9
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
        scheme = "ftp" if "ftp-realm" in modes() else SCHEME
        host = "127.0.0.1@example.invalid" if "away-realm" in modes() else self.headers["Host"]
        realm = target() if "target-realm" in modes() else f"{scheme}://{host}/token"
        realm = realm.replace("\\", "\\\\")
        self.drain()
        self.error(401, "UNAUTHORIZED", "authentication required", WWW_Authenticate=
                   f'Bearer realm="{realm}",service="mock \\"1\\"",scope="other"')
        return False

    def drain(self):
        self.body = self.rfile.read(int(self.headers.get("Content-Length") or 0))

    # ---- downloads ----

    def document(self, digest):
        body, said = blobs[digest], digest
        if "bigjson" in modes():
            body = b"[" + b" " * 100_000_000 + b"]"
        if "liar" in modes():
            said = "sha256:" + "0" * 64
        try:
            self.answer(200, body, Content_Type=json.loads(blobs[digest][:]).get("mediaType", MANIFEST),
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
        if "sound-config" in how and not is_layer(digest):
            how = set()
        if "endless" in how:
            return self.endless()
        if "short" in how:
            body = body[:-1]
        if "flip" in how:
            body = bytes([body[0] ^ 1]) + body[1:]
        if "flip-last" in how:
            body = body[:-1] + bytes([body[-1] ^ 1])
        if "held" in how and not asked and digest in self.held():
            return self.hold(body)
        if asked and self.once("broken-resume"):
            return self.error(503, "UNAVAILABLE", "in the middle")
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
            first = bytes([body[0] ^ 1]) if "garble" in how else body[:1]
            self.wfile.write(first + body[1:half])
            return self.hang_up()
        self.answer(200, body, Content_Type="application/octet-stream")

    def held(self):
        with open(os.path.join(DIR, "held")) as f:
            return f.read().split()

    def hold(self, body):
        half = len(body) // 2
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(memoryview(body)[:half])
        self.wfile.flush()
        while not os.path.exists(os.path.join(DIR, "go")):
            time.sleep(0.05)
        if "cut" in modes():
            return self.hang_up()
        if "flip-last" in modes():
            body = body[:-1] + bytes([body[-1] ^ 1])
        return self.wfile.write(memoryview(body)[half:])

    def trouble(self, path):
        """Answers as the mode says; returns True if the request has been answered."""
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
        elif "hub" in how and path != "/v2/":
            self.error(429, "TOOMANYREQUESTS", "You have reached your pull rate limit. You may "
                       "increase the limit by authenticating and upgrading", RateLimit_Limit="100;w=21600")
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
        if path.startswith("/v2/upload/"):
            number = self.upload_of()
            return None if number is None else self.upload_state(204, number)
        repository, kind, name = path.removeprefix("/v2/").rsplit("/", 2)
        if "no-mount" in modes() and repository != "lab/image" and kind == "blobs":
            return self.error(404, "BLOB_UNKNOWN", "not here")
        if repository.endswith("/blobs/uploads"):
            repository = repository.removesuffix("/blobs/uploads")
        digest = tags.get(name, name)
        if digest not in blobs or (repository != "lab/image" and not state.get("pushed")):
            return self.error(404, "NAME_UNKNOWN", f"no {name}")
        if kind == "manifests":
            return self.document(digest)
        if "target-blobs" in modes():
            return self.answer(307, Location=target())
        if "away" in modes():
            port = self.headers["Host"].rsplit(":", 1)[1]
            return self.answer(307, Location=f"{SCHEME}://localhost:{port}/away/{digest}")
        return self.blob(digest) if self.command == "GET" else self.answer(200, blobs[digest])

    do_HEAD = do_GET

    # ---- uploads ----

    def once(self, mode):
        """Returns True at the first call for this mode."""
        if mode not in modes() or mode in state:
            return False
        state[mode] = True
        return True

    def too_large(self):
        limit = 10_000_000 if "small" in modes() else 10**12
        if self.command == "PUT" and "tiny-put" in modes():
            limit = 100_000
        limit = 3_000_000 if "middling" in modes() else 100_000 if "tiny" in modes() else limit
        if int(self.headers.get("Content-Length") or 0) <= limit:
            return False
        self.close_connection = True
        self.answer(413, b"<html>too large</html>", Content_Type="text/html", Connection="close")
        return True

    def do_POST(self):
        self.note()
        if self.path == "/token":
            return self.token()
        if not self.let_in() or self.trouble(self.path):
            return None
        with lock:
            state["uploads"] = state.get("uploads", 0) + 1
            number = str(state["uploads"])
        uploads[number] = bytearray()
        return self.upload_state(202, number)

    def upload_state(self, status, number, have=None):
        have = len(uploads[number]) if have is None else have
        extra = {"OCI_Chunk_Min_Length": "100000000"} if "large-chunks" in modes() else {}
        where = target() if "target-uploads" in modes() else f"/v2/upload/{number}?state=a%2Fb"
        return self.answer(status, Location=where,
                           Range=f"0-{max(have - 1, 0)}", **extra)

    def upload_of(self):
        """Returns the number of the upload in the URL; None if the request has been answered."""
        url = urllib.parse.urlparse(self.path)
        number = url.path.rsplit("/", 1)[1]
        if number in uploads and urllib.parse.parse_qs(url.query).get("state") == ["a/b"]:
            return number
        self.drain()
        self.error(404, "BLOB_UPLOAD_UNKNOWN", "no such upload")
        return None

    def do_PATCH(self):
        self.note()
        if not self.let_in() or self.trouble(self.path) or self.too_large():
            return None
        number = self.upload_of()
        if number is None:
            return None
        have, length = uploads[number], int(self.headers["Content-Length"])
        first = int(self.headers["Content-Range"].split("-")[0])
        if first > 0 and self.once("cut-patch"):
            have += self.rfile.read(length // 2)
            return self.hang_up()
        self.drain()
        if (first > 0 and self.once("amnesia")) or (first > 80_000_000 and self.once("late-amnesia")):
            del uploads[number]
            return self.error(404, "BLOB_UPLOAD_UNKNOWN", "no such upload")
        if first > 0 and self.once("forgetful"):
            del have[len(have) // 2:]
        if "no-patch" in modes():
            return self.error(405, "UNSUPPORTED", "no chunks here")
        if "busy-patch" in modes():
            state["patches"] = state.get("patches", 0) + 1
            if state["patches"] % 2 == 0:
                return self.error(503, "UNAVAILABLE", "not now")
        if first != len(have):
            return self.answer(416)
        if "partial" in modes() and length > 1000000:
            self.body = self.body[:length // 2]
        if "stuck" in modes():
            self.body = b""
        have += self.body
        if self.once("boastful"):
            return self.upload_state(202, number, len(have) + 5)
        return self.upload_state(202, number)

    def has_all(self, manifest):
        named = manifest.get("layers", []) + manifest.get("manifests", []) + [manifest.get("config")]
        return all(one["digest"] in blobs for one in named if one)

    def tag(self, name, digest):
        tags[name] = digest
        with lock, open(os.path.join(DIR, "tags"), "a") as f:
            f.write(f"{name} {digest}\n")

    def together(self):
        """Holds the first upload until the second is complete. Returns False if there is none."""
        if not self.once("together"):
            second.set()
        return second.wait(60)

    def do_PUT(self):
        self.note()
        if "drop-put" in modes() and not state["dropped"]:
            state["dropped"] = True
            return self.hang_up()
        if not self.let_in() or self.trouble(self.path) or self.too_large():
            return None
        url = urllib.parse.urlparse(self.path)
        if "/manifests/" not in url.path:
            number = self.upload_of()
            if number is None:
                return None
            self.drain()
            if self.once("refuse-put"):
                return self.error(400, "BLOB_UPLOAD_INVALID", "not this one")
            time.sleep(3 if self.once("slow-put") else 0)
            if "together" in modes() and not self.together():
                return self.error(400, "BLOB_UPLOAD_INVALID", "alone")
            self.body = uploads.pop(number) + self.body
        else:
            self.drain()
        digest = "sha256:" + hashlib.sha256(self.body).hexdigest()
        query = urllib.parse.parse_qs(url.query)
        if "/manifests/" in url.path:
            if not self.has_all(json.loads(self.body)):
                return self.error(400, "MANIFEST_BLOB_UNKNOWN", "not all that it names is here")
            self.tag(url.path.rsplit("/", 1)[1], digest)
            if "mute" in modes():
                threading.Event().wait()
        elif query.get("digest") != [digest]:
            return self.error(400, "DIGEST_INVALID", "not that digest")
        blobs[digest] = self.body
        state["pushed"] = True
        if "/manifests/" not in url.path and self.once("lost-reply"):
            return self.hang_up()
        said = "sha256:" + "1" * 64 if "put-liar" in modes() else digest
        return self.answer(201, Docker_Content_Digest=said)

    def do_DELETE(self):
        self.note()
        self.answer(204)


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request, client_address):
        pass


server = Server((os.environ.get("MOCK_ADDRESS", "127.0.0.1"), 0), Handler)
if TLS:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(os.path.join(TLS, "server.pem"), os.path.join(TLS, "server.key"))
    context.load_verify_locations(os.path.join(TLS, "ca.pem"))
    context.verify_mode = ssl.CERT_OPTIONAL
    server.socket = context.wrap_socket(server.socket, server_side=True)
with open(os.path.join(DIR, "port.new"), "w") as f:
    f.write(str(server.server_address[1]))
os.rename(os.path.join(DIR, "port.new"), os.path.join(DIR, "port"))
server.serve_forever()
