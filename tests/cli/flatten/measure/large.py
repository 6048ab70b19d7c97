"""large.py FLATTEN: files of more than 8 GiB, whose size does not fit the octal digits of a header.

One docker-archive, itself a sparse file, of three layers: a file of 8 GiB and some bytes whose size
is in base 256, an old GNU sparse one, and a PAX 1.0 one whose size is in a record and does not fit 32 bits. The
image is flattened to a layer compressed with zstd that has the sizes in records. Each file is then compared, byte
for byte, with its source: zeros, and marks at both ends and around 4 and 8 GiB.
"""
import fcntl
import hashlib
import json
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, "..", "lib"), os.path.join(HERE, "..", "..", "..", "oracle")]
import tarball  # noqa: E402
from quick_images import BLOCK, header, padded  # noqa: E402

SIZE = (8 << 30) + 1234  # one more than the 33 bits of octal digits
MARK = b"mark of sixteen."
SIZES = {"dense": SIZE, "sparse-old": SIZE, "sparse-1.0": (4 << 30) + 1234}
PIECE = 1 << 20
# Hashing 8 GiB takes half a minute: the digest is written down. flatten refuses a layer that has another one.
DENSE_DIFF_ID = "sha256:c1752eecd12d82bdb70cb1d011619b7a9a9e246cefecb926211941da0b3430d3"


def marks_of(total):
    return [mark for mark in (0, (4 << 30) - 8, (8 << 30) - 8) if mark < total] + [total - len(MARK)]


def pieces(total):
    """Returns the content of a file of that size."""
    zeros, places = bytes(PIECE), marks_of(total)
    for at in range(0, total, PIECE):
        size = min(PIECE, total - at)
        marks = [(mark + i - at, byte) for mark in places for i, byte in enumerate(MARK) if 0 <= mark + i - at < size]
        data = bytearray(zeros[:size]) if marks or size < PIECE else zeros
        for place, byte in marks:
            data[place] = byte
        yield data


def dense(out, start):
    """Writes the layer with a dense file, sparse in the archive; returns its size."""
    head, tail = header(b"dense", size=SIZE), bytes(-SIZE % BLOCK + 2 * BLOCK)
    out.seek(start)
    out.write(head)
    for mark in marks_of(SIZE):
        out.seek(start + len(head) + mark)
        out.write(MARK)
    out.seek(start + len(head) + SIZE)
    out.write(tail)
    return len(head) + SIZE + len(tail)


def sparse_layers():
    layers = []
    for kind in ("old", "1.0"):
        name = "sparse-" + kind
        data = [(mark, MARK) for mark in marks_of(SIZES[name])]
        layers.append(tarball.tar_bytes([tarball.sparse(name, kind, SIZES[name], data)]))
    return layers


def write(path):
    with open(path, "w+b") as out:
        size = dense(out, BLOCK)
        out.seek(0)
        out.write(header(b"dense.tar", size=size))
        out.seek(BLOCK + size)
        layers = sparse_layers()
        members = [("sparse%d.tar" % i, data) for i, data in enumerate(layers)]
        diff_ids = [DENSE_DIFF_ID] + ["sha256:" + hashlib.sha256(data).hexdigest() for data in layers]
        config = {"architecture": "amd64", "os": "linux", "rootfs": {"type": "layers", "diff_ids": diff_ids}}
        manifest = [{"Config": "config.json", "RepoTags": ["large:1"],
                     "Layers": ["dense.tar"] + [name for name, _ in members]}]
        members += [("config.json", json.dumps(config).encode()), ("manifest.json", json.dumps(manifest).encode())]
        for name, data in members:
            out.write(header(name.encode(), size=len(data)) + padded(data))
        out.write(bytes(2 * BLOCK))


class Tar:
    """Reads a tar archive from a pipe, because tarfile would take longer than all other steps."""

    def __init__(self, pipe):
        self.pipe, self.buffer = pipe, bytearray(PIECE)

    def fill(self, size):
        """Reads the next bytes to the start of the buffer; returns a view of them."""
        view = memoryview(self.buffer)[:size]
        got = 0
        while got < size:
            count = self.pipe.readinto(view[got:])
            if not count:
                raise SystemExit("the layer ends too early")
            got += count
        return view

    def take(self, size):
        return bytes(self.fill(size))

    def has(self, piece):
        """True if the next bytes are those of the piece. A whole buffer is compared without a copy."""
        view = self.fill(len(piece))
        return (self.buffer if len(piece) == PIECE else bytes(view)) == piece

    def next(self):
        """Returns name and size of the next member, from its record if it has one; None at the end."""
        head, said = self.take(BLOCK), []
        if not any(head):
            return None
        if head[156:157] == b"x":
            size = int(head[124:135], 8)
            records = self.take(size + -size % BLOCK)[:size]
            said = [line.split(b"size=")[1] for line in records.splitlines() if b" size=" in line]
            head = self.take(BLOCK)
        return head[:100].rstrip(b"\0").decode(), int(said[0]) if said else int(head[124:135], 8)


def check(layer):
    """Returns the names of the files in a compressed layer, and checks that their content is unchanged."""
    names = []
    with subprocess.Popen(["zstd", "-qdc", layer], stdout=subprocess.PIPE, bufsize=0) as unpacker:
        fcntl.fcntl(unpacker.stdout, fcntl.F_SETPIPE_SZ, PIECE)
        tar = Tar(unpacker.stdout)
        while (member := tar.next()) is not None:
            name, size = member
            if size != SIZES.get(name) or not all(map(tar.has, pieces(size))):
                raise SystemExit("%s: not what it was; %d bytes" % (name, size))
            tar.take(-size % BLOCK)
            names.append(name)
        tar.take(BLOCK)
        if unpacker.stdout.read(1):
            raise SystemExit("something behind the end")
    return sorted(names)


def main():
    with tempfile.TemporaryDirectory(dir="/var/tmp") as work:
        image, out = os.path.join(work, "image.tar"), os.path.join(work, "out")
        write(image)
        done = subprocess.run([sys.argv[1], "--json", "--max-ratio=10000000", "--compression=zstd:1", image,
                               "oci:" + out], check=True, stdout=subprocess.PIPE)
        result = json.loads(done.stdout)
        layer = result["layer"]
        blob = os.path.join(out, "blobs/sha256", layer["digest"][7:])
        if result["payload"] != dict.fromkeys(("in", "out"), sum(SIZES.values())) or os.path.getsize(blob) != layer["size"]:
            raise SystemExit("not the sizes expected: %s" % result)
        if layer["size"] > 16 << 20:
            raise SystemExit("the layer takes %d bytes" % layer["size"])
        if check(blob) != ["dense", "sparse-1.0", "sparse-old"]:
            raise SystemExit("files are missing")


main()
