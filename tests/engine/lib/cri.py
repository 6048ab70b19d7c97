#!/usr/bin/env python3
"""CRI (runtime.v1) with JSON over HTTP for tests, as a Python that loads gRPC takes half a second to start.

  cri.py SOCKET OWN-SOCKET

Listens on OWN-SOCKET: POST /METHOD with a request of JSON has the answer as JSON, or status 500 and the error of SOCKET.
Keys are the field names of api.proto; numbers and names are those of Kubernetes' cri-api. A key that is not listed below
is an error.
"""
import http.server
import json
import socketserver
import sys

import grpc

STRING, NUMBER, BYTES, MAP = "string", "number", "bytes", "map"


def many(kind):
    """A repeated field."""
    return (kind,)


INT64 = {"value": (1, NUMBER)}
NAMESPACES = {"network": (1, NUMBER), "pid": (2, NUMBER), "ipc": (3, NUMBER)}
POD = {
    "metadata": (1, {"name": (1, STRING), "uid": (2, STRING), "namespace": (3, STRING), "attempt": (4, NUMBER)}),
    "hostname": (2, STRING),
    "labels": (6, MAP),
    "annotations": (7, MAP),
    "linux": (8, {"cgroup_parent": (1, STRING), "security_context": (2, {"namespace_options": (1, NAMESPACES)})}),
}
SECURITY = {
    "capabilities": (1, {"add_capabilities": (1, many(STRING)), "drop_capabilities": (2, many(STRING))}),
    "privileged": (2, NUMBER),
    "namespace_options": (3, NAMESPACES),
    "run_as_user": (5, INT64),
    "readonly_rootfs": (7, NUMBER),
    "no_new_privs": (11, NUMBER),
    "run_as_group": (12, INT64),
    "seccomp": (15, {"profile_type": (1, NUMBER)}),
    "apparmor": (16, {"profile_type": (1, NUMBER)}),
}
CONTAINER = {
    "metadata": (1, {"name": (1, STRING), "attempt": (2, NUMBER)}),
    "image": (2, {"image": (1, STRING)}),
    "command": (3, many(STRING)),
    "envs": (6, many({"key": (1, STRING), "value": (2, STRING)})),
    "mounts": (7, many({"container_path": (1, STRING), "host_path": (2, STRING), "readonly": (3, NUMBER)})),
    "annotations": (10, MAP),
    "linux": (15, {"security_context": (2, SECURITY)}),
}
ID = {"container_id": (1, STRING)}
POD_ID = {"pod_sandbox_id": (1, STRING)}
METHODS = {
    "Version": ({}, {"runtime_name": (2, STRING), "runtime_version": (3, STRING)}),
    "RunPodSandbox": ({"config": (1, POD), "runtime_handler": (2, STRING)}, POD_ID),
    "StopPodSandbox": (POD_ID, {}),
    "RemovePodSandbox": (POD_ID, {}),
    "ListPodSandbox": ({}, {"items": (1, many({"id": (1, STRING), "state": (3, NUMBER)}))}),
    "CreateContainer": ({"pod_sandbox_id": (1, STRING), "config": (2, CONTAINER), "sandbox_config": (3, POD)}, ID),
    "StartContainer": (ID, {}),
    "StopContainer": ({"container_id": (1, STRING), "timeout": (2, NUMBER)}, {}),
    "RemoveContainer": (ID, {}),
    "ContainerStatus": (ID, {"status": (1, {"state": (3, NUMBER), "exit_code": (7, NUMBER), "message": (11, STRING)})}),
    "ExecSync": (
        {"container_id": (1, STRING), "cmd": (2, many(STRING)), "timeout": (3, NUMBER)},
        {"stdout": (1, BYTES), "stderr": (2, BYTES), "exit_code": (3, NUMBER)},
    ),
}


def varint(number):
    out = bytearray()
    while number > 127:
        out.append(number & 127 | 128)
        number >>= 7
    return bytes(out) + bytes([number])


def sized(number, data):
    return varint(number << 3 | 2) + varint(len(data)) + data


def encode_value(number, kind, value):
    if kind == STRING:
        return sized(number, value.encode())
    if kind == NUMBER:
        return varint(number << 3) + varint(int(value))
    if kind == MAP:
        return b"".join(sized(number, sized(1, k.encode()) + sized(2, v.encode())) for k, v in value.items())
    if isinstance(kind, tuple):
        return b"".join(encode_value(number, kind[0], item) for item in value)
    return sized(number, encode(kind, value))


def encode(message, values):
    return b"".join(encode_value(*message[key], value) for key, value in values.items())


def read_varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        value |= (byte & 127) << shift
        at, shift = at + 1, shift + 7
        if byte < 128:
            return value, at


def read_fields(data):
    at = 0
    while at < len(data):
        tag, at = read_varint(data, at)
        value, at = read_varint(data, at)
        if tag & 7 == 2:
            value, at = data[at : at + value], at + value
        elif tag & 7:
            raise ValueError(f"wire type {tag & 7}")
        yield tag >> 3, value


def decode_value(kind, value):
    if kind in (STRING, BYTES):
        return value.decode(errors="replace")
    return decode(kind, value) if isinstance(kind, dict) else value


def decode(message, data):
    names = {number: (name, kind) for name, (number, kind) in message.items()}
    out = {name: [] if isinstance(kind, tuple) else 0 for name, (_, kind) in message.items() if kind not in (STRING, BYTES)}
    for number, value in read_fields(data):
        name, kind = names.get(number, (None, None))
        if isinstance(kind, tuple):
            out[name].append(decode_value(kind[0], value))
        elif name:
            out[name] = decode_value(kind, value)
    return out


def call(socket, method, values):
    """The answer. A channel of its own never waits with a connection that failed, as containerd starts anew in tests."""
    request, answer = METHODS[method]
    with grpc.insecure_channel(f"unix://{socket}", [("grpc.use_local_subchannel_pool", 1)]) as channel:
        done = channel.unary_unary(f"/runtime.v1.RuntimeService/{method}")(encode(request, values), timeout=120)
    return decode(answer, done)


class Handler(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        text = self.rfile.read(int(self.headers["Content-Length"]))
        try:
            status, said = 200, json.dumps(call(sys.argv[1], self.path[1:], json.loads(text)))
        except grpc.RpcError as error:
            status, said = 500, f"{error.code().name}: {error.details()}"
        self.send_response(status)
        self.end_headers()
        self.wfile.write(said.encode() + b"\n")

    def log_message(self, *args):
        pass


class Server(socketserver.ThreadingUnixStreamServer):
    daemon_threads = True


if __name__ == "__main__":
    Server(sys.argv[2], Handler).serve_forever()
