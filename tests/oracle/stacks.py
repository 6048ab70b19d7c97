"""Random stacks of layers that every overlay engine accepts, and their test."""
import io
import os
import random
import shutil
import tarfile

import engines
import images
import published
import trees
import unpacker
from tarball import DIR, LNK, Entry, T0, chr_, d, f, fifo, h, opq, s, wh

NAMES = ("a", "b", "c")
MODES = (0o644, 0o755, 0o600, 0o4755, 0o1777)


class Stack:
    """Grows one layer: `kinds` maps what the layer has to the entry type."""

    def __init__(self, rng):
        self.rng = rng

    def layers(self):
        count = self.rng.randint(1, 6)
        return [self.layer() for _ in range(count)]

    def attributes(self):
        rng = self.rng
        more = {"mode": rng.choice(MODES), "uid": rng.choice((0, 0, 7)),
                "mtime": T0 + rng.randint(-9, 9) * 10**9 + rng.randint(0, 999)}
        if rng.random() < 0.15:
            more["xattrs"] = {"trusted.x%d" % rng.randint(0, 2): b"%d" % rng.randint(0, 9)}
        return more

    def layer(self):
        self.entries, self.kinds, self.opaque = [], {}, set()
        for _ in range(self.rng.randint(0, 9)):
            path = "/".join(self.rng.choice(NAMES) for _ in range(self.rng.randint(1, 3)))
            self.add(path)
        return self.entries

    def add(self, path):
        parent = os.path.dirname(path)
        if not self.make_parents(parent):
            return
        roll = self.rng.random()
        if roll < 0.07 and parent and parent not in self.opaque:
            self.opaque.add(parent)
            self.entries.append(opq(parent))
        elif roll < 0.25 and path not in self.kinds:
            self.entries.append(wh(path))
            self.kinds[path] = b"wh"
        elif self.kinds.get(path) in (None, b"wh", b"implied"):
            self.add_node(path)

    def make_parents(self, path):
        """False if an ancestor is no directory in this layer."""
        if not path:
            return True
        if path in self.kinds:
            return self.kinds[path] in (DIR, b"implied")
        if not self.make_parents(os.path.dirname(path)):
            return False
        if self.rng.random() < 0.6:
            self.entries.append(d(path, **self.attributes()))
            self.kinds[path] = DIR
        else:
            self.kinds[path] = b"implied"
        return True

    def add_node(self, path):
        if self.kinds.get(path) == b"implied":
            self.entries.append(d(path, **self.attributes()))
            self.kinds[path] = DIR
            return
        targets = [e for e in self.entries if self.kinds.get(e.name.decode()) in (b"0", b"1")]
        make = self.rng.choice((f, f, d, d, s, fifo, chr_, h, h))
        if make is h and targets:
            target = self.rng.choice(targets)
            entry = h(path, target.name, mode=target.mode, uid=target.uid, mtime=target.mtime,
                      xattrs=target.xattrs)
        elif make in (f, h):
            entry = f(path, "%d" % self.rng.randint(0, 99), **self.attributes())
        elif make is s:
            entry = s(path, self.rng.choice(NAMES + ("a/b", "/c")), uid=self.rng.choice((0, 5)))
        else:
            entry = make(path, **self.attributes())
        self.entries.append(entry)
        self.kinds[path] = entry.type


def overlay_tree(work, layers, newer, implied="moby"):
    """The tree of the layers' diff directories in the kernel's overlay."""
    home = work.new("diffs")
    os.mkdir(home)
    try:
        dirs = []
        for number, layer in enumerate(layers):
            dirs.insert(0, str(number))
            lower = [os.path.join(home, name) for name in dirs[1:]]
            unpacker.Unpacker(os.path.join(home, dirs[0]), lower, implied).layer(layer)
        return engines.read_mounted(work, home, dirs, newer)
    finally:
        shutil.rmtree(home)


def parse_layer(tar):
    """The entries of a tar by flatten."""
    entries = []
    with tarfile.open(fileobj=io.BytesIO(tar), encoding="utf-8", errors="surrogateescape") as archive:
        for info in archive:
            entries.append(_entry(archive, info))
    return entries


def _entry(archive, info):
    seconds, _, part = info.pax_headers.get("mtime", str(int(info.mtime))).partition(".")
    xattrs = {key.removeprefix("SCHILY.xattr."): value.encode("utf-8", "surrogateescape")
              for key, value in info.pax_headers.items() if key.startswith("SCHILY.xattr.")}
    return Entry(os.fsencode(info.name), info.type, info.mode, info.uid, info.gid,
                 int(seconds) * 10**9 + int(part.ljust(9, "0")[:9] or 0),
                 archive.extractfile(info).read() if info.isreg() else b"",
                 os.fsencode(info.linkname), (info.devmajor, info.devminor), xattrs)


class RandomTest:
    def __init__(self, args, work, helpers):
        self.args, self.work = args, work
        self.result, self.write_source, self.report = helpers
        self.newer = int(os.path.getmtime(work.path) * 10**9) - 10**9
        self.storage = engines.Storage(work)

    def oracle(self, layers):
        """Acceptable trees, the likeliest first."""
        if self.args.real:
            yield self.storage.unpack(layers, self.newer)
        else:
            yield overlay_tree(self.work, layers, self.newer, "moby")
        yield overlay_tree(self.work, layers, self.newer, "containerd")

    def one(self, number):
        """The lines of the report if this stack failed; none if it passed."""
        layers = Stack(random.Random("%d/%d" % (self.args.seed, number))).layers()
        source, config = self.write_source(self.work, images.tars_of(layers), number)
        result = self.result(self.args.flatten, self.work, source, "overlay")
        try:
            if result.done.returncode:
                return ["refused: " + result.message[:500]] + described(layers)
            after, tars, lines = result.read()
            lines += published.check_config(config, after, tars)
            for tar in tars:
                lines += published.check_layer(tar)
            lines = lines or self.compare(layers, tars)
            return lines + described(layers) if lines else []
        finally:
            shutil.rmtree(result.home)
            remove(source)

    def compare(self, layers, tars):
        got = overlay_tree(self.work, [parse_layer(tar) for tar in tars], None)
        first = None
        for tree in self.oracle(layers):
            lines = trees.diff(tree, got, ignore_root=True)
            if not lines:
                return []
            first = first or lines
        return first


def remove(source):
    path = source.split(":")[1]
    shutil.rmtree(path) if os.path.isdir(path) else os.remove(path)


def described(layers):
    kinds = {b"0": "", DIR: "/", LNK: " = ", b"2": " -> ", b"3": " char", b"6": " fifo"}
    return ["layer %d: %s" % (number, ", ".join(
        e.name.decode().rstrip("/") + kinds[e.type] + e.link.decode() for e in layer))
        for number, layer in enumerate(layers)]


def run(args, work, *helpers, make=RandomTest):
    test, failed = make(args, work, helpers), 0
    for number in range(args.random):
        lines = test.one(number)
        if lines:
            failed += 1
            test.report(False, "random seed %d number %d" % (args.seed, number), lines)
        if failed >= 20:
            print("       20 failures: the rest is not run")
            return number + 1 - failed, failed
    return args.random - failed, failed
