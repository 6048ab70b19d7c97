#!/usr/bin/env python3
"""Forwards connections to the socket of a Docker daemon, and acts in the middle of a request.

Usage: engine_proxy.py SOCKET DAEMON REQUEST BYTES COMMAND

SOCKET is made, or tcp:PORT of 127.0.0.1; DAEMON is the socket of the daemon. When a client has sent BYTES bytes of the first request
whose line begins with REQUEST, such as "POST /images/load", COMMAND is run by sh before more is forwarded. For each
connection that has ended, "sent BYTES" is printed.
"""
import socket
import socketserver
import subprocess
import sys
import threading

SOCKET, DAEMON, REQUEST, BYTES, COMMAND = sys.argv[1:6]
DONE = threading.Event()


def pass_back(daemon, client):
    try:
        while data := daemon.recv(1 << 16):
            client.sendall(data)
        client.shutdown(socket.SHUT_RDWR)
    except OSError:
        pass


class Handler(socketserver.BaseRequestHandler):
    def handle(self):
        daemon = socket.socket(socket.AF_UNIX)
        try:
            daemon.connect(DAEMON)
        except OSError:
            return
        threading.Thread(target=pass_back, args=(daemon, self.request), daemon=True).start()
        sent = None  # bytes of the request
        total = 0
        try:
            while data := self.request.recv(1 << 16):
                if sent is None and data.startswith(REQUEST.encode()):
                    sent = 0
                if sent is not None:
                    sent += len(data)
                    if sent >= int(BYTES) and not DONE.is_set():
                        DONE.set()
                        subprocess.run(["sh", "-c", COMMAND], check=False)
                total += len(data)
                daemon.sendall(data)
        except OSError:
            pass
        finally:
            print("sent", total, flush=True)
            daemon.close()


class Unix(socketserver.ThreadingMixIn, socketserver.UnixStreamServer):
    daemon_threads = True


class Tcp(socketserver.ThreadingMixIn, socketserver.TCPServer):
    daemon_threads = True


tcp = SOCKET.startswith("tcp:")
server = Tcp(("127.0.0.1", int(SOCKET[4:])), Handler) if tcp else Unix(SOCKET, Handler)
print("listens", flush=True)
server.serve_forever()
