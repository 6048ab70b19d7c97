"""large_image.py FILE MIB: writes a docker-archive with one layer of that size, without two equal MiB."""
import hashlib
import io
import json
import sys
import tarfile

path, mib = sys.argv[1], int(sys.argv[2])
data = b"".join(i.to_bytes(4, "big") * (1 << 18) for i in range(mib))
layer = io.BytesIO()


def add(tar, name, content):
    member = tarfile.TarInfo(name)
    member.size = len(content)
    tar.addfile(member, io.BytesIO(content))


with tarfile.open(fileobj=layer, mode="w") as tar:
    add(tar, "data", data)
layer = layer.getvalue()
config = json.dumps({"os": "linux", "architecture": "amd64", "config": {}, "rootfs": {
    "type": "layers", "diff_ids": ["sha256:" + hashlib.sha256(layer).hexdigest()]}}).encode()
with tarfile.open(path, "w") as tar:
    add(tar, "layer.tar", layer)
    add(tar, "config.json", config)
    add(tar, "manifest.json", json.dumps([{
        "Config": "config.json", "RepoTags": ["large:1"], "Layers": ["layer.tar"]}]).encode())
