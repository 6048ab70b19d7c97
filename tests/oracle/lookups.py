#!/usr/bin/python3
"""Compares the lookups that flatten analyze predicts with those of the kernel's overlayfs. Needs root.

    tests/oracle/lookups.py FLATTEN

The layers of an overlay mount are directories of a FUSE file system that counts the lookups and the
directory reads that overlayfs asks it for. Nothing is timed: the numbers are exact, and the predicted
means must be equal to them. (Debian's own Python, for python3-pyfuse3.)
"""
import contextlib
import errno
import os
import stat
import subprocess
import sys
import tempfile

import pyfuse3
import trio

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(TOP, "hack", "lib"))
from lookup_images import content, directories, predicted_probes, write_archive  # noqa: E402

DIRS = 12
HOUR = 3600


class Layers(pyfuse3.Operations):
    """`LAYER`, `LAYER/dN` and the files in them. A new `held` gets new inodes: nothing of it is cached."""

    def __init__(self):
        super().__init__()
        self.counts = {"lookup": 0, "readdir": 0}
        self.names = {pyfuse3.ROOT_INODE: ""}
        self.paths, self.inside = set(), {}
        self.round = 0

    def offer(self, held):
        """Serves other layers; returns their names, the newest first, as lowerdir wants them."""
        self.round += 1
        roots = ["%d-%d" % (self.round, n) for n in range(len(held))]
        self.paths = set(roots)
        for root, names in zip(roots, held):
            self.paths |= {root + "/" + name for name in names + directories([names])}
        self.inside = {path: [] for path in self.paths}
        for path in self.paths - set(roots):
            directory, name = path.rsplit("/", 1)
            self.inside[directory].append(name)
        return roots[::-1]

    def add(self, path):
        """Returns a new inode for the path."""
        inode = len(self.names) + pyfuse3.ROOT_INODE
        self.names[inode] = path
        return inode

    def attributes(self, inode):
        entry = pyfuse3.EntryAttributes()
        entry.st_ino = inode
        directory = self.names[inode].count("/") < 2
        entry.st_mode = stat.S_IFDIR | 0o755 if directory else stat.S_IFREG | 0o644
        entry.st_nlink = 1
        entry.entry_timeout = entry.attr_timeout = HOUR
        return entry

    async def getattr(self, inode, ctx=None):
        return self.attributes(inode)

    async def lookup(self, parent, name, ctx=None):
        path = (self.names[parent] + "/" + os.fsdecode(name)).lstrip("/")
        if parent != pyfuse3.ROOT_INODE:
            self.counts["lookup"] += 1
        if path not in self.paths:
            raise pyfuse3.FUSEError(errno.ENOENT)
        return self.attributes(self.add(path))

    async def statfs(self, ctx):
        found = pyfuse3.StatvfsData()
        found.f_namemax = 255
        return found

    async def opendir(self, inode, ctx):
        return inode

    async def readdir(self, inode, start, token):
        self.counts["readdir"] += start == 0
        for number, name in list(enumerate(self.inside[self.names[inode]], 1))[start:]:
            child = self.add(self.names[inode] + "/" + name)
            if not pyfuse3.readdir_reply(token, os.fsencode(name), self.attributes(child), number):
                break


def counted(layers, point, held, what):
    """Returns the mean number of requests of a stat, of a stat of a missing name, or of a readdir."""
    dirs = directories(held)
    files = [name for names in held for name in names]
    names = {"stat": dirs + files, "missing": [name + "?" for name in files], "readdir": dirs}[what]
    lower = ":".join(layers.offer(held))
    over = point + ".overlay"
    # A shell changes the directory: between fork and exec this process could not answer the request.
    subprocess.run(["sh", "-c", 'cd "$1" && exec mount -t overlay overlay -o "ro,lowerdir=$2" "$3"', "sh",
                    point, lower, over], check=True)
    try:
        if what != "stat":  # the lookups of their directories are not counted
            for name in dirs:
                os.stat(os.path.join(over, name))
        key = "readdir" if what == "readdir" else "lookup"
        before = layers.counts[key]
        for name in names:
            path = os.path.join(over, name)
            with contextlib.suppress(FileNotFoundError):
                os.listdir(path) if what == "readdir" else os.lstat(path)
        return (layers.counts[key] - before) / len(names)
    finally:
        subprocess.run(["umount", over], check=True)


def compare(flatten, top, layers):
    """Returns the number of predictions that are wrong."""
    point, wrong = os.path.join(top, "layers"), 0
    for shape in ("shared", "spread"):
        for number in (2, 5, 40):
            held = content(shape, number, DIRS)
            archive = os.path.join(top, "image.tar")
            write_archive(archive, held)
            for what, predicted in predicted_probes(flatten, archive).items():
                found = counted(layers, point, held, what)
                good = abs(predicted - found) < 0.006  # the JSON document has two decimals
                wrong += not good
                print("%-6s %3d layers  %-8s predicted %6.2f  asked %6.2f%s" % (
                    shape, number, what, predicted, found, "" if good else "  WRONG"))
    return wrong


async def serve(flatten, top):
    layers = Layers()
    point = os.path.join(top, "layers")
    os.mkdir(point)
    os.mkdir(point + ".overlay")
    pyfuse3.init(layers, point, set(pyfuse3.default_options))
    try:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(pyfuse3.main)
            wrong = await trio.to_thread.run_sync(compare, flatten, top, layers)
            nursery.cancel_scope.cancel()
    finally:
        pyfuse3.close()
    return wrong


def main():
    if os.geteuid() != 0:
        sys.exit("lookups.py: needs root for mounts")
    with tempfile.TemporaryDirectory(prefix="lookups.") as top:
        sys.exit(1 if trio.run(serve, sys.argv[1], top) else 0)


if __name__ == "__main__":
    main()
