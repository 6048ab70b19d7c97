#!/usr/bin/env python3
"""layers.py ROOTFS OUT NAME LAYERS: an image (docker-archive) of a root file system and many layers upon it.

Each layer brings a file to directories that all of them have, changes one that another brought, and
removes one: a lookup has many layers to look into.
"""
import hashlib
import io
import json
import os
import sys
import tarfile


def entry(tar, name, data=None, **named):
    info = tarfile.TarInfo(name)
    info.mode, info.mtime = 0o755 if data is None else 0o644, 1700000000
    info.type = tarfile.DIRTYPE if data is None else tarfile.REGTYPE
    for key, value in named.items():
        setattr(info, key, value)
    info.size = len(data or b"")
    tar.addfile(info, io.BytesIO(data or b""))


def upper(number, count):
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as tar:
        for name in ("lib", "lib/sub"):
            entry(tar, name)
        entry(tar, "lib/f%d" % number, b"from layer %d\n" % number, uid=number)
        entry(tar, "lib/sub/g%d" % number, b"%d\n" % number * 100)
        entry(tar, "lib/last", b"layer %d was the last\n" % number)
        if number % 4 == 3:
            entry(tar, "lib/.wh.f%d" % (number - 2), b"")
        if number == count - 2:
            entry(tar, "lib/opaque")
            entry(tar, "lib/opaque/.wh..wh..opq", b"")
            entry(tar, "lib/opaque/new", b"new\n")
        if number == 1:
            entry(tar, "lib/opaque")
            entry(tar, "lib/opaque/old", b"old\n")
    return out.getvalue()


def base(rootfs):
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as tar:
        tar.add(rootfs, arcname=".")
    return out.getvalue()


def main():
    rootfs, path, name, count = sys.argv[1:4] + [int(sys.argv[4])]
    layers = [base(rootfs)] + [upper(i, count) for i in range(1, count)]
    digests = [hashlib.sha256(layer).hexdigest() for layer in layers]
    config = json.dumps({
        "architecture": {"x86_64": "amd64", "aarch64": "arm64"}.get(os.uname().machine, "amd64"),
        "os": "linux", "config": {"Cmd": ["/bin/sh"], "Env": ["PATH=/bin"]},
        "history": [{"created_by": "layer %d" % i} for i in range(count)],
        "rootfs": {"type": "layers", "diff_ids": ["sha256:" + d for d in digests]}}).encode()
    manifest = [{"Config": "config.json", "RepoTags": [name],
                 "Layers": ["%s/layer.tar" % d for d in digests]}]
    with tarfile.open(path, "w") as tar:
        for digest, layer in zip(digests, layers):
            entry(tar, digest + "/layer.tar", layer)
        entry(tar, "config.json", config)
        entry(tar, "manifest.json", json.dumps(manifest).encode())


if __name__ == "__main__":
    main()
