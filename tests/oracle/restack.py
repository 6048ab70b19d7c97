#!/usr/bin/env python3
"""Trees of hard links (flatbed restack --build) against the kernel's overlay of the same layers.

Random stacks of unpacked layers: whiteouts, opaque directories, directories that become files and
vice versa, hard links, devices, attributes, ACLs. Needs root. Then the tree replaces the layers
below the same upper directory, which must show the same again.
"""
import argparse
import json
import os
import random
import shutil
import stat
import struct
import subprocess
import sys
import tempfile

import overlay
import trees

NAMES = [b"a", b"b", b"c", b"dir", b"e\xff", b"with space", b"col:on", b"-x"]
ACL_DEFAULT = struct.pack("<I", 2) + b"".join(
    struct.pack("<HHI", tag, perm, ident)
    for tag, perm, ident in [(1, 7, 0xffffffff), (2, 5, 1234), (4, 5, 0xffffffff),
                             (16, 7, 0xffffffff), (32, 0, 0xffffffff)])


class Layer:
    def __init__(self, rng, top):
        self.rng, self.top, self.files = rng, top, []
        os.mkdir(top)

    def fill(self, path, depth):
        for name in self.rng.sample(NAMES, self.rng.randint(0, len(NAMES))):
            self.entry(os.path.join(path, name), depth)
        self.finish(path, True)

    def entry(self, path, depth):
        kind = self.rng.choice(["dir"] * (5 if depth < 4 else 0) + ["file"] * 4 + ["link", "link"] +
                               ["whiteout", "whiteout", "symlink", "fifo", "char", "hollow"])
        if kind == "dir":
            os.mkdir(path)
            if self.rng.random() < 0.2:
                os.setxattr(path, "trusted.overlay.opaque", b"y")
            self.fill(path, depth + 1)
        elif kind == "link" and self.files:
            os.link(self.rng.choice(self.files), path)
        elif kind == "whiteout":
            os.mknod(path, stat.S_IFCHR, 0)
        elif kind == "symlink":
            os.symlink(self.rng.choice([b"a", b"/dir/b", b"../nowhere"]), path)
            self.finish(path, False)
        elif kind == "fifo":
            os.mkfifo(path)
            self.finish(path, False)
        elif kind == "char":
            os.mknod(path, stat.S_IFCHR | 0o600, os.makedev(1, self.rng.randint(1, 9)))
            self.finish(path, False)
        else:
            self.write(path, kind == "hollow")

    def write(self, path, hollow):
        with open(path, "wb") as out:
            if hollow:
                out.truncate(1 << 20)
            out.write(self.rng.randbytes(self.rng.randint(0, 40)))
        if self.rng.random() < 0.2:
            os.setxattr(path, "user.kept", self.rng.randbytes(8))
        self.files.append(path)
        self.finish(path, False)

    def finish(self, path, directory):
        link = os.path.islink(path)
        os.chown(path, self.rng.choice([0, 0, 7, 3000000]), self.rng.choice([0, 12]), follow_symlinks=False)
        if not link:
            os.chmod(path, self.rng.choice([0o755, 0o700, 0o1777, 0o2750, 0o4711, 0]))
        if directory and self.rng.random() < 0.3:
            os.setxattr(path, "user.of-dir", self.rng.randbytes(300))
            os.setxattr(path, "system.posix_acl_default", ACL_DEFAULT)
        when = self.rng.randint(0, 2 * 10**18)
        os.utime(path, ns=(when, when), follow_symlinks=False)


def run(*words):
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit("%s: %s" % (words, done.stderr))
    return done.stdout


class Overlay:
    """A mount at `point`, with an upper directory if one is given."""

    def __init__(self, lower, point, upper=None):
        options = "lowerdir=" + ":".join(lower)
        if upper:
            options += ",upperdir=%s,workdir=%s" % (upper, upper + ".work")
        done = overlay.mount(options, point)
        if done.returncode:
            sys.exit(done.stderr)
        self.point = point

    def __enter__(self):
        return self.point

    def __exit__(self, *_):
        run("umount", self.point)


def change(rng, top):
    """Changes a tree as a container does; the same seed and tree give the same changes."""
    files = sorted(p for p in trees.read(top) if p != b".")
    for path in rng.sample(files, min(4, len(files))):
        full = os.path.join(os.fsencode(top), path)
        if not os.path.lexists(full):
            continue
        if os.path.isdir(full) and not os.path.islink(full):
            run("rm", "-rf", full) # the kernel lists whiteouts of a lone layer: rmtree would stumble
            os.mkdir(full)
        else:
            os.unlink(full)
    with open(os.path.join(os.fsencode(top), b"new"), "wb") as out:
        out.write(b"new")
    os.utime(os.path.join(os.fsencode(top), b"new"), ns=(1, 1))


def same(what, seed, expected, got):
    lines = trees.diff(expected, got)
    if lines:
        sys.exit("seed %d: %s differs:\n%s" % (seed, what, "\n".join(lines[:20])))


def forget_times(tree):
    """Removes times that are new in each run: of changed directories and of whiteouts."""
    return {p: ({**n, "mtime": trees.ANY} if n["type"] == "dir" or n.get("rdev") == (0, 0) else n)
            for p, n in tree.items()}


def judge(flatbed, seed, work):
    rng = random.Random(seed)
    count = rng.choice([1, 2, 3, 5, 9])
    layers = ["%s/l%d" % (work, i) for i in range(count)]
    for layer in layers:
        Layer(rng, layer).fill(os.fsencode(layer), 0)
    for name in ("point", "none", "upper", "upper.work", "upper2", "upper2.work"):
        os.mkdir("%s/%s" % (work, name))
    with Overlay(layers + [work + "/none"], work + "/point") as point:
        expected = trees.read(point)
    done = json.loads(run(flatbed, "restack", "--build", "--force", "--json", "--cache", work + "/cache",
                          ":".join(layers)))
    tree = "%s/cache/%s/tree" % (work, done["key"])
    got = trees.read(tree)
    # The lowest root is empty, for the mount: attributes come from the topmost layer.
    same("the tree", seed, expected, got)
    if done["files"] != sum(1 for n in got.values() if n["type"] != "dir"):
        sys.exit("seed %d: %d files counted" % (seed, done["files"]))
    results = []
    for lower, upper in ((layers, "upper"), ([tree], "upper2")):
        with Overlay(lower, work + "/point", work + "/" + upper) as point:
            change(random.Random(seed), point)
            results.append(forget_times(trees.read(point)))
        results.append(forget_times(trees.read(work + "/" + upper)))
    same("what a container sees", seed, results[0], results[2])
    same("its upper directory", seed, results[1], results[3])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--flatbed", required=True)
    parser.add_argument("--seeds", type=int, default=40)
    parser.add_argument("--first", type=int, default=1)
    parser.add_argument("--inside", action="store_true", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if os.geteuid() != 0:
        print("not root: whiteouts and mounts need root")
        return 77
    if "--inside" not in sys.argv: # mounts of its own, gone with it
        os.execvp("unshare", ["unshare", "--mount", "--propagation", "private", sys.executable, "-B"] +
                  sys.argv + ["--inside"])
    os.umask(0o022)
    for seed in range(args.first, args.first + args.seeds):
        # The cache must not be in a directory that is writable by others: its trees become roots.
        work = tempfile.mkdtemp(prefix="restack.", dir=os.environ.get("FLATBED_TESTS_TMP", "/var/tmp"))
        try:
            judge(args.flatbed, seed, work)
        finally:
            shutil.rmtree(work, ignore_errors=True)
    print("%d stacks: the same" % args.seeds)
    return 0


if __name__ == "__main__":
    sys.exit(main())
