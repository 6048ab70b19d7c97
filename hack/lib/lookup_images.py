"""Images whose lookups are compared with overlayfs, by hack/bench-lookups and tests/oracle/lookups.py.

`shared` has all files in the oldest layer and all directories in every layer; `spread` has each file in
some layer. `held` is, for each layer, the oldest first, the names of its files.
"""
import hashlib
import io
import json
import subprocess
import tarfile

DIRS, FILES = 60, 12


def content(shape, layers, dirs=DIRS):
    """Returns the `held` of an image; every layer has all directories."""
    held = [["d%d/l%d" % (d, n) for d in range(dirs)] for n in range(layers)]
    for d in range(dirs):
        for f in range(FILES):
            held[0 if shape == "shared" else (d + f) % layers].append("d%d/f%d" % (d, f))
    return held


def directories(held):
    return sorted({name.split("/")[0] for names in held for name in names})


def add(archive, name, data):
    info = tarfile.TarInfo(name)
    info.size = len(data)
    archive.addfile(info, io.BytesIO(data))


def layer(names):
    """Returns the layer's tar archive, with a directory before its files."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as archive:
        for directory in directories([names]):
            info = tarfile.TarInfo(directory)
            info.type, info.mode = tarfile.DIRTYPE, 0o755
            archive.addfile(info)
        for name in names:
            add(archive, name, b"")
    return out.getvalue()


def write_archive(path, held):
    """Writes the image as a docker-archive."""
    layers = [layer(names) for names in held]
    ids = ["sha256:" + hashlib.sha256(data).hexdigest() for data in layers]
    config = {"os": "linux", "architecture": "amd64", "config": {}, "rootfs": {"type": "layers", "diff_ids": ids}}
    manifest = [{"Config": "config.json", "RepoTags": ["bench:%d" % len(held)],
                 "Layers": ["%d.tar" % n for n in range(len(held))]}]
    with tarfile.open(path, "w") as archive:
        for number, data in enumerate(layers):
            add(archive, "%d.tar" % number, data)
        add(archive, "config.json", json.dumps(config).encode())
        add(archive, "manifest.json", json.dumps(manifest).encode())


def predicted_probes(flatten, archive):
    """Returns what flatten analyze predicts, the layers that one operation asks on average."""
    done = subprocess.run([flatten, "analyze", "--json", archive], stdout=subprocess.PIPE, check=True)
    found = json.loads(done.stdout)["images"][0]["lookups"]
    return {"stat": found["existing"]["mean"], "missing": found["missing"]["mean"], "readdir": found["depth"]["mean"]}
