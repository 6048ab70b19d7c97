#!/usr/bin/env python3
"""Writes a docker-archive with two layers of random content: large_image.py FILE MB"""
import hashlib
import io
import json
import os
import sys
import tarfile


def add(archive, name, data):
    info = tarfile.TarInfo(name)
    info.size = len(data)
    archive.addfile(info, io.BytesIO(data))


def layer(name, size):
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as archive:
        add(archive, name, os.urandom(size))
    return out.getvalue()


layers = [layer(name, int(sys.argv[2]) * 500_000) for name in ("a", "b")]
config = json.dumps({"architecture": "amd64", "os": "linux", "config": {"Cmd": ["/a"]}, "rootfs": {
    "type": "layers", "diff_ids": ["sha256:" + hashlib.sha256(data).hexdigest() for data in layers]}}).encode()
with tarfile.open(sys.argv[1], "w") as image:
    add(image, "config.json", config)
    for number, data in enumerate(layers):
        add(image, f"{number}.tar", data)
    add(image, "manifest.json", json.dumps([{"Config": "config.json", "RepoTags": ["large:1"],
                                            "Layers": ["0.tar", "1.tar"]}]).encode())
