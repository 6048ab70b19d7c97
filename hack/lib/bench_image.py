#!/usr/bin/env python3
"""A synthetic image shaped like those of deep learning, for hack/bench-flatten.

    bench_image.py DIR GIGABYTES

writes DIR/image.tar (docker-archive, layers uncompressed) and DIR/oci (the same layers, gzip) and says
what is in it. The same size gives the same bytes. The shape is that of a real torch image: a base
system, package layers, CUDA libraries, a framework installed twice, a cache that a later layer deletes,
a `chown -R` and a `chmod -R` that bring as much again as they touch (other bytes: nothing here compares
them), conda's hard links, weights of hundreds of MB.

bench_debian.py has the same shape of real content; Stack, Layer and write() are for both.
"""
import hashlib
import io
import json
import os
import random
import subprocess
import sys
import tarfile

MTIME = 1_700_000_000
POOL = 32 << 20


class Content:
    """Bytes that compress like real files: text about 4:1, code about 3:1, weights 1.15:1."""

    def __init__(self):
        self.random = random.Random(42)
        words = [self.random.randbytes(self.random.randint(2, 9)).hex() for _ in range(6000)]
        text = bytearray()
        while len(text) < POOL // 4:
            text += (" ".join(self.random.choices(words, k=64)) + "\n    ").encode()
        self.text = bytes(text)
        # Machine code: short random runs between patterns that repeat.
        code = bytearray()
        runs = [self.random.randbytes(self.random.randint(4, 24)) for _ in range(3000)]
        while len(code) < POOL // 2:
            code += b"".join(self.random.choices(runs, k=48)) + self.random.randbytes(64) + bytes(32)
        self.code = bytes(code)
        self.skew = bytes(self.random.choices(range(256), k=256))  # leaves 6.9 bits a byte

    def weights(self, size):
        step = 1 << 24  # randbytes takes no more than 256 MB
        return b"".join(self.random.randbytes(min(step, size - at)).translate(self.skew)
                        for at in range(0, size, step))

    def of(self, pool, size):
        out = []
        while size > 0:
            step = min(size, self.random.randint(1 << 12, 1 << 18))
            at = self.random.randrange(len(pool) - step)
            out.append(pool[at:at + step])
            size -= step
        return b"".join(out)


class Layer:
    """A tar file in the making."""

    def __init__(self, path, what):
        self.what, self.path = what, path
        self.tar = tarfile.open(path, "w", format=tarfile.PAX_FORMAT, bufsize=1 << 20)
        self.dirs, self.names = set(), set()

    def add(self, name, kind=tarfile.REGTYPE, mode=0o644, uid=0, link="", pax=None):
        info = tarfile.TarInfo(name)
        info.type, info.mode, info.uid, info.gid = kind, mode, uid, uid
        info.mtime, info.linkname, info.pax_headers = MTIME, link, pax or {}
        return info

    def parents(self, name, uid=0):
        head = os.path.dirname(name)
        if head and head not in self.dirs:
            self.parents(head, uid)
            self.dirs.add(head)
            self.tar.addfile(self.add(head, tarfile.DIRTYPE, 0o755, uid))

    def file(self, name, data, **kw):
        self.parents(name, kw.get("uid", 0))
        info = self.add(name, **kw)
        info.size = len(data)
        self.tar.addfile(info, io.BytesIO(data))

    def link(self, name, target):
        self.parents(name)
        self.tar.addfile(self.add(name, tarfile.LNKTYPE, link=target))

    def symlink(self, name, target):
        self.parents(name)
        self.tar.addfile(self.add(name, tarfile.SYMTYPE, 0o777, link=target))

    def whiteout(self, name):
        head, base = os.path.split(name)
        self.file(head + "/.wh." + base, b"")


class Stack:
    """Layers in the making, the newest last."""

    def __init__(self, directory):
        self.directory, self.layers = directory, []

    def layer(self, what):
        self.close()
        number = len(self.layers) + 1
        self.layers.append(Layer("%s/layer-%02d.tar" % (self.directory, number), what))
        return self.layers[-1]

    def close(self):
        if self.layers:
            self.layers[-1].tar.close()


class Image(Stack):
    """The content, and the data to repeat a file of an earlier layer."""

    def __init__(self, directory, gigabytes):
        super().__init__(directory)
        self.scale = gigabytes / 7.5
        self.count_scale = min(1.0, 0.2 + 0.8 * self.scale)
        self.content = Content()

    def small(self, layer, root, count, mean, **kw):
        """A package tree: `count` files of about `mean` bytes, most of them text."""
        for name, size, text in self.names(root, count, mean):
            pool = self.content.text if text else self.content.code
            layer.file(name, self.content.of(pool, size), **kw)

    def names(self, root, count, mean):
        count = int(count * self.count_scale)
        rng = random.Random(root)  # the same tree for each call
        for i in range(count):
            size = min(int(rng.expovariate(1 / mean)), mean * 20)
            yield ("%s/pkg%02d/sub%d/module_%05d.%s" % (root, i % 61, i % 7, i, "py" if i % 4 else "pyc"),
                   size, i % 4 != 0)

    def large(self, layer, name, megabytes, pool="code", **kw):
        size = int(megabytes * self.scale * 1e6)
        data = self.content.weights(size) if pool == "weights" else self.content.of(self.content.code, size)
        layer.file(name, data, **kw)

    def build(self):
        base = self.layer("base system")
        self.small(base, "usr/share", 14000, 6000)
        self.small(base, "usr/lib/x86_64-linux-gnu", 1200, 90000)
        base.symlink("bin", "usr/bin")
        base.symlink("lib", "usr/lib")
        base.file("usr/bin/ping", b"\x7fELF" * 900, mode=0o755,
                  pax={"SCHILY.xattr.security.capability": "\x01\0\0\x02\0 \0\0" + 12 * "\0"})
        for step in range(3):
            packages = self.layer("apt-get install, step %d" % step)
            self.small(packages, "usr/share/apt%d" % step, 2500, 8000)
            self.file_list(packages)
        cuda = self.layer("CUDA libraries")
        for i, size in enumerate((560, 310, 190, 120)):
            self.large(cuda, "usr/local/cuda/lib64/libcu%d.so.12" % i, size)
            cuda.symlink("usr/local/cuda/lib64/libcu%d.so" % i, "libcu%d.so.12" % i)
        self.small(cuda, "usr/local/cuda/include", 3000, 12000)
        self.python()
        self.framework("torch 2.6")
        cache = self.layer("pip's cache")
        self.large(cache, "root/.cache/pip/http/wheel-1", 480, "weights")
        self.large(cache, "root/.cache/pip/http/wheel-2", 300, "weights")
        self.layer("rm -rf /root/.cache").whiteout("root/.cache")
        self.framework("torch 2.7")
        self.application()

    def file_list(self, layer):
        layer.file("var/lib/dpkg/status", self.content.of(self.content.text, 1_500_000))

    def python(self):
        conda = self.layer("conda")
        self.small(conda, "opt/conda/pkgs", 11000, 9000)
        linked = self.layer("conda environment, hard links")
        for name, size, text in self.names("opt/conda/pkgs2", 9000, 7000):
            target = name
            linked.file(target, self.content.of(self.content.text if text else self.content.code, size))
            linked.link(target.replace("pkgs2", "envs/main"), target)

    def framework(self, what):
        torch = self.layer(what)
        site = "opt/conda/lib/python3.11/site-packages"
        self.small(torch, site + "/torch", 9000, 14000)
        self.large(torch, site + "/torch/lib/libtorch_cuda.so", 620)
        self.large(torch, site + "/torch/lib/libtorch_cpu.so", 260)

    def application(self):
        for i in range(4):
            tools = self.layer("pip install, step %d" % i)
            self.small(tools, "opt/conda/lib/python3.11/site-packages/tool%d" % i, 4000, 11000)
            self.file_list(tools)
        weights = self.layer("weights")
        for i in range(3):
            self.large(weights, "opt/models/shard-%d.safetensors" % i, 420, "weights")
        app = self.layer("application")
        self.small(app, "workspace/app", 9000, 9000)
        self.large(app, "workspace/app/data.bin", 260, "weights")
        owned = self.layer("chown -R user /workspace")
        self.small(owned, "workspace/app", 9000, 9000, uid=1000)
        self.large(owned, "workspace/app/data.bin", 260, "weights", uid=1000)
        mode = self.layer("chmod -R g+w /opt/models")
        for i in range(2):
            self.large(mode, "opt/models/shard-%d.safetensors" % i, 420, "weights", mode=0o664)
        clean = self.layer("apt-get clean, an opaque directory")
        clean.file("usr/share/apt0/.wh..wh..opq", b"")
        clean.whiteout("usr/share/apt1")
        for i in range(3):
            last = self.layer("settings, step %d" % i)
            last.file("etc/app/settings-%d.json" % i, b"{}\n")
            self.file_list(last)


def sha256(path):
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def gzip_layer(path):
    """Compressed as engines push it; the output of pigz is close to that of gzip -6."""
    packed = path + ".gz"
    with open(packed, "wb") as out:
        subprocess.run(["pigz", "-nc", "-5", path], stdout=out, check=True)
    return packed


# Files that images of frameworks have, for hack/bench-compare, which looks for it in results.
CONFIG = {
    "Cmd": ["/bin/true"], "Entrypoint": ["/opt/entrypoint.sh"], "User": "1000", "WorkingDir": "/workspace",
    "Env": ["PATH=/usr/local/cuda/bin:/usr/bin:/bin", "NVIDIA_VISIBLE_DEVICES=all"],
    "Labels": {"maintainer": "bench"}, "ExposedPorts": {"8888/tcp": {}}, "Volumes": {"/data": {}},
    "StopSignal": "SIGINT", "Healthcheck": {"Test": ["CMD", "true"], "Interval": 60000000000},
    "Shell": ["/bin/bash", "-c"]}


def config_of(layers, diff_ids):
    history = [{"created": "2024-01-01T00:00:00Z", "created_by": layer.what} for layer in layers]
    return json.dumps({
        "architecture": "amd64", "os": "linux", "created": "2024-01-01T00:00:00Z",
        "config": CONFIG, "history": history,
        "rootfs": {"type": "layers", "diff_ids": ["sha256:" + d for d in diff_ids]}}).encode()


def write_archive(path, layers, diff_ids, config):
    config_name = hashlib.sha256(config).hexdigest() + ".json"
    manifest = [{"Config": config_name, "RepoTags": ["bench:latest"],
                 "Layers": [d + "/layer.tar" for d in diff_ids]}]
    with tarfile.open(path, "w", format=tarfile.PAX_FORMAT) as tar:
        for layer, diff_id in zip(layers, diff_ids):
            info = tarfile.TarInfo(diff_id + "/layer.tar")
            info.size = os.stat(layer.path).st_size
            with open(layer.path, "rb") as file:
                tar.addfile(info, file)
        for name, data in ((config_name, config), ("manifest.json", json.dumps(manifest).encode())):
            info = tarfile.TarInfo(name)
            info.size = len(data)
            tar.addfile(info, io.BytesIO(data))


def put_blob(directory, data):
    digest = hashlib.sha256(data).hexdigest()
    with open("%s/blobs/sha256/%s" % (directory, digest), "wb") as file:
        file.write(data)
    return {"digest": "sha256:" + digest, "size": len(data)}


def write_layout(directory, layers, config):
    kind = "application/vnd.oci.image."
    os.makedirs(directory + "/blobs/sha256")
    descriptors = []
    for layer in layers:
        packed = gzip_layer(layer.path)
        digest = sha256(packed)
        descriptors.append({"mediaType": kind + "layer.v1.tar+gzip", "digest": "sha256:" + digest,
                            "size": os.stat(packed).st_size})
        os.rename(packed, "%s/blobs/sha256/%s" % (directory, digest))
        os.unlink(layer.path)
    manifest = {"schemaVersion": 2, "mediaType": kind + "manifest.v1+json",
                "config": {"mediaType": kind + "config.v1+json", **put_blob(directory, config)},
                "layers": descriptors}
    entry = {"mediaType": kind + "manifest.v1+json", **put_blob(directory, json.dumps(manifest).encode()),
             "annotations": {"org.opencontainers.image.ref.name": "latest"}}
    for name, data in (("index.json", {"schemaVersion": 2, "manifests": [entry]}),
                       ("oci-layout", {"imageLayoutVersion": "1.0.0"})):
        with open(directory + "/" + name, "w") as file:
            json.dump(data, file)


def write(stack, archive=True):
    """Writes image.tar (or not) and oci/ of the layers, and removes the files of the layers."""
    stack.close()
    diff_ids = [sha256(layer.path) for layer in stack.layers]
    config = config_of(stack.layers, diff_ids)
    if archive:
        write_archive(stack.directory + "/image.tar", stack.layers, diff_ids, config)
    write_layout(stack.directory + "/oci", stack.layers, config)
    print("%d layers" % len(diff_ids))


def main():
    image = Image(sys.argv[1], float(sys.argv[2]))
    image.build()
    write(image)


if __name__ == "__main__":
    main()
