"""proxy.py PREFIX WORD...: a proxy on loopback, like the proxy of a company.

PREFIX.port gets its port, PREFIX.log a line for each request. `connect`: CONNECT goes to 127.0.0.1
for any host, at the requested port; `busy`: the first CONNECT is answered with 503; `refuse`: every
request is answered with 407. `cut N`: the first tunnel ends after N bytes from the client.
"""
import os
import socket
import sys
import threading

PREFIX, WORDS = sys.argv[1], sys.argv[2:]
state = {"requests": 0}
left = {"cut": int(WORDS[WORDS.index("cut") + 1]) if "cut" in WORDS else None}


def pump(source, sink, count):
    try:
        while data := source.recv(65536):
            if count and left["cut"] is not None:
                if len(data) > left["cut"]:
                    left["cut"] = None
                    break
                left["cut"] -= len(data)
            sink.sendall(data)
    except OSError:
        pass
    for s in (source, sink):
        try:
            s.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass


def serve(client):
    head = b""
    while b"\r\n\r\n" not in head:
        data = client.recv(4096)
        if not data:
            return
        head += data
    method, target, _ = head.split(b"\r\n", 1)[0].decode().split(" ")
    with open(PREFIX + ".log", "a") as f:
        f.write(f"{method} {target}\n")
    state["requests"] += 1
    if "refuse" in WORDS:
        client.sendall(b"HTTP/1.1 407 Proxy Authentication Required\r\n"
                       b"Proxy-Authenticate: Basic realm=\"x\"\r\nContent-Length: 0\r\n\r\n")
        client.close()
        return
    if "busy" in WORDS and state["requests"] == 1:
        client.sendall(b"HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\n\r\n")
        client.close()
        return
    server = socket.create_connection(("127.0.0.1", int(target.rsplit(":", 1)[1])))
    client.sendall(b"HTTP/1.1 200 Connection established\r\n\r\n")
    threading.Thread(target=pump, args=(server, client, False), daemon=True).start()
    pump(client, server, True)


listener = socket.create_server(("127.0.0.1", 0))
with open(PREFIX + ".port.new", "w") as f:
    f.write(str(listener.getsockname()[1]))
os.rename(PREFIX + ".port.new", PREFIX + ".port")
while True:
    threading.Thread(target=serve, args=(listener.accept()[0],), daemon=True).start()
