#!/usr/bin/env python3
"""A Docker daemon that misbehaves as it is told.

Usage: fake_engine.py ADDRESS MODE LOG [IMAGE.tar]

ADDRESS is the path of a socket, or "tcp" (any free port of 127.0.0.1). Each request's line goes to
LOG, the first line of which is the port, or 0. IMAGE.tar is what GET /images/NAME/get gives. Modes:

  good          does as it should (and has loaded whatever it is asked about afterwards)
  small         good, but says that its images are small
  store         good, but keeps images in containerd's store, whose sizes count layers twice
  old           good, but speaks only API 1.41
  load-detail   answers a load with 200 and an errorDetail
  load-unpack   answers a load with 200 and "Error unpacking image", as containerd stores do
  load-early    refuses a load with 500 before it has read it
  load-cut      breaks off in the middle of the reply to a load
  load-lost     takes an image and has another one afterwards
  load-gone     takes an image and has none afterwards
  save-cut      breaks off in the middle of an image
  save-error    ends an image early with an error behind it, as dockerd does
  save-stall    stops in the middle of an image, for ever
  html          answers everything with 500 and a web page
  huge          answers with more JSON than anybody wants
  hang-up       closes every connection without a word
"""
import http.server
import json
import os
import socketserver
import sys
import time

ADDRESS, MODE, LOG = sys.argv[1:4]
IMAGE = sys.argv[4] if len(sys.argv) > 4 else None
OTHER = "sha256:" + 64 * "0"
LOADED = {}


def note(text):
    with open(LOG, "a", encoding="utf-8") as log:
        print(text, file=log)


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, format, *args):  # pylint: disable=redefined-builtin
        pass

    def address_string(self):
        return "client"

    def reply(self, status, body, kind="application/json"):
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def reply_json(self, status, value):
        self.reply(status, json.dumps(value).encode())

    def chunk(self, data):
        self.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))

    def begin(self):
        self.send_response(200)
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()

    def cut(self):
        self.wfile.flush()
        self.close_connection = True

    def parse_request(self):
        if not super().parse_request():
            return False
        note(self.requestline)
        if MODE == "hang-up":
            self.close_connection = True
            return False
        if MODE == "html":
            self.reply(500, b"<html>no</html>", "text/html")
            return False
        return True

    def handle_expect_100(self):
        if MODE != "load-early":
            return super().handle_expect_100()
        self.reply_json(500, {"message": "no room"})
        self.close_connection = True
        return False

    def do_GET(self):
        if self.path == "/version":
            self.reply_json(200, {"ApiVersion": "1.41" if MODE == "old" else "1.48"})
        elif "/get" in self.path:
            self.save()
        elif MODE == "huge":
            self.begin()
            while True:
                self.chunk(b'["' + b"x" * (1 << 20) + b'"],')
        elif self.path in LOADED:
            self.reply_json(200, {"Id": LOADED[self.path]})
        elif IMAGE:
            facts = {"Id": "sha256:" + 64 * "1", "Os": "linux", "RepoTags": ["a:1"], "Architecture": "amd64",
                     "Size": 1 if MODE == "small" else os.path.getsize(IMAGE)}
            if MODE == "store":
                facts |= {"Size": 2 * facts["Size"], "Descriptor": {"digest": facts["Id"]}}
            self.reply_json(200, facts)
        else:
            self.reply_json(404, {"message": "no such image"})

    def save(self):
        with open(IMAGE, "rb") as source:
            data = source.read()
        self.begin()
        if MODE in ("good", "small", "store", "old"):
            self.chunk(data)
            self.chunk(b"")
            return
        self.chunk(data[:10240])
        if MODE == "save-error":
            self.chunk(b'{"errorDetail":{"message":"disk on fire"},"error":"disk on fire"}\r\n')
            self.chunk(b"")
        elif MODE == "save-stall":
            note("stalled")
            time.sleep(3600)
        else:
            self.cut()

    def do_POST(self):
        left, config = int(self.headers["Content-Length"]), b""
        while left > 0:
            config += self.rfile.read(min(left, 1 << 20))
            left = int(self.headers["Content-Length"]) - len(config)
        self.begin()
        self.chunk(b'{"stream":"Loading {la')
        self.chunk(b'yer\\"}"}\r\n{"status":"x"}')
        if MODE == "load-detail":
            self.chunk(b'{"errorDetail":{"message":"disk on fire"},"error":"disk on fire"}\r\n')
        elif MODE == "load-unpack":
            self.chunk(b'{"stream":"Error unpacking image a:1: disk on fire\\n"}\r\n')
        elif MODE == "load-cut":
            self.chunk(b'{"stream":"Load')
            self.cut()
            return
        if MODE != "load-gone":
            self.remember(config)
        self.chunk(b"")

    def remember(self, archive):
        """The Id that an image would have now: the config's digest, from manifest.json."""
        start = archive.index(b'"Config":"blobs/sha256/') + len('"Config":"blobs/sha256/')
        name = archive[archive.index(b'"RepoTags":["') + len('"RepoTags":["'):]
        name = name[:name.index(b'"')].decode().replace(":", "%3A")
        found = "sha256:" + archive[start:start + 64].decode()
        LOADED[f"/images/{name}/json"] = OTHER if MODE == "load-lost" else found


class Unix(socketserver.ThreadingMixIn, socketserver.UnixStreamServer):
    daemon_threads = True


class Tcp(socketserver.ThreadingMixIn, socketserver.TCPServer):
    daemon_threads = True


def main():
    if ADDRESS == "tcp":
        server = Tcp(("127.0.0.1", 0), Handler)
        note(server.server_address[1])
    else:
        if os.path.exists(ADDRESS):
            os.unlink(ADDRESS)
        server = Unix(ADDRESS, Handler)
        note(0)
    server.serve_forever()


main()
