"""push_artifact.py HOST/REPOSITORY:TAG KIND NAME=TEXT...: pushes files to a registry without TLS.

KIND is "image", "model" (KitOps), "weights" (ModelPack, gzip) or "raw" (a layer that is no tar archive). A NAME may end
with "=@FILE". Each is a layer of its own. Prints the digest of the manifest.
"""
import gzip
import hashlib
import io
import json
import sys
import tarfile
import urllib.request

IMAGE = "application/vnd.oci.image."
TYPES = {
    "image": (IMAGE + "config.v1+json", IMAGE + "layer.v1.tar"),
    "model": ("application/vnd.kitops.modelkit.config.v1+json", "application/vnd.kitops.modelkit.model.v1.tar"),
    "weights": ("application/vnd.cncf.model.config.v1+json", "application/vnd.cncf.model.weight.v1.tar+gzip"),
    "raw": ("application/vnd.cncf.model.config.v1+json", "application/vnd.cncf.model.weight.v1.raw"),
}
where, kind, *files = sys.argv[1:]
host, _, rest = where.partition("/")
repository, _, tag = rest.rpartition(":")
base = f"http://{host}/v2/{repository}/"


def send(method, url, data, content_type):
    request = urllib.request.Request(url, data=data, method=method, headers={"Content-Type": content_type})
    return urllib.request.urlopen(request)


def put_blob(data, media_type):
    digest = "sha256:" + hashlib.sha256(data).hexdigest()
    location = send("POST", base + "blobs/uploads/", b"", "application/octet-stream").headers["Location"]
    send("PUT", location + f"&digest={digest}", data, "application/octet-stream")
    return {"mediaType": media_type, "digest": digest, "size": len(data)}


def member(out, name, kind, data=b"", mode=0o644):
    info = tarfile.TarInfo(name)
    info.type, info.size, info.mode, info.mtime = kind, len(data), mode, 1234567890
    if kind == tarfile.CHRTYPE:
        info.devmajor, info.devminor = 1, 3
    out.addfile(info, io.BytesIO(data))


layers, diff_ids = [], []
for word in files:
    name, _, text = word.partition("=")
    data = open(text[1:], "rb").read() if text.startswith("@") else text.encode()
    if kind != "raw":
        tar = io.BytesIO()
        with tarfile.open(fileobj=tar, mode="w", format=tarfile.PAX_FORMAT) as out:
            member(out, name, tarfile.REGTYPE, data)
            if kind == "image":
                member(out, "bin", tarfile.DIRTYPE, mode=0o755)
                member(out, "bin/setuid", tarfile.REGTYPE, b"#!/bin/sh\n", mode=0o4755)
                member(out, "null", tarfile.CHRTYPE, mode=0o666)
        data = tar.getvalue()
    diff_ids.append("sha256:" + hashlib.sha256(data).hexdigest())
    layers.append(put_blob(gzip.compress(data, 1) if kind == "weights" else data, TYPES[kind][1]))
config = {"architecture": "amd64", "os": "linux", "rootfs": {"type": "layers", "diff_ids": diff_ids}}
config = put_blob(json.dumps(config).encode(), TYPES[kind][0])
manifest = IMAGE + "manifest.v1+json"
document = {"schemaVersion": 2, "mediaType": manifest, "config": config, "layers": layers}
print(send("PUT", base + f"manifests/{tag}", json.dumps(document).encode(), manifest).headers["Docker-Content-Digest"])
