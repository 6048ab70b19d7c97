"""listener.py DIR ADDRESS: listens on a free port of ADDRESS, which DIR/port then has.

Each connection is a line of DIR/log: the first line of its request, and its Authorization. The reply is a
token, so that a client would go on with it.
"""
import http.server
import os
import sys

DIR, ADDRESS = sys.argv[1:3]


class Handler(http.server.BaseHTTPRequestHandler):
    def log_message(self, *args):
        pass

    def do_GET(self):
        self.rfile.read(int(self.headers.get("Content-Length") or 0))
        with open(os.path.join(DIR, "log"), "a") as f:
            f.write(f"{self.requestline} {self.headers.get('Authorization')}\n")
        body = b'{"token": "from-the-listener"}'
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    do_HEAD = do_POST = do_PUT = do_PATCH = do_GET


server = http.server.ThreadingHTTPServer((ADDRESS, 0), Handler)
with open(os.path.join(DIR, "port.new"), "w") as f:
    f.write(str(server.server_address[1]))
os.rename(os.path.join(DIR, "port.new"), os.path.join(DIR, "port"))
server.serve_forever()
