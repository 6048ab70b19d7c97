"""fake_daemon.py DIR: a Docker daemon at the socket DIR/docker.sock, as far as flatten loads images into it.

A file DIR/images/NAME, with %2F for a slash, has the Id of the image NAME. A load is a file DIR/loaded, and gives
the images in the archive's manifest.json their Ids.
"""
import http.server
import io
import json
import os
import socketserver
import sys
import tarfile
import urllib.parse

DIR = sys.argv[1]


def path_of(name):
    return os.path.join(DIR, "images", urllib.parse.quote(name, safe=":"))


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *args):
        pass

    def address_string(self):
        return "-"

    def answer(self, status, what):
        body = json.dumps(what).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self):
        path = urllib.parse.unquote(self.path)
        if path == "/version":
            return self.answer(200, {"ApiVersion": "1.44"})
        try:
            with open(path_of(path.removeprefix("/images/").removesuffix("/json"))) as f:
                return self.answer(200, {"Id": f.read().strip()})
        except FileNotFoundError:
            return self.answer(404, {"message": "No such image"})

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        with tarfile.open(fileobj=io.BytesIO(body)) as tar:
            for item in json.load(tar.extractfile("manifest.json")):
                for name in item["RepoTags"]:
                    with open(path_of(name), "w") as f:
                        f.write("sha256:" + item["Config"].rsplit("/", 1)[1])
        open(os.path.join(DIR, "loaded"), "w").close()
        self.answer(200, {"stream": "Loaded image"})


class Server(socketserver.ThreadingMixIn, socketserver.UnixStreamServer):
    daemon_threads = True


os.makedirs(os.path.join(DIR, "images"), exist_ok=True)
Server(os.path.join(DIR, "docker.sock"), Handler).serve_forever()
