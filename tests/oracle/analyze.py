#!/usr/bin/env python3
"""Checks `flatten analyze` by brute force, on random stacks of layers. Needs no root.

    analyze.py --flatten PATH [--count N] [--seed S]

The model keeps the whole tree after each layer and looks at every path of the
tree before it. The result of `flatten squash` has the total number of bytes.
"""
import argparse
import collections
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile

import images
import owned
from stacks import Stack, described
from tarball import DIR, LNK, REG, SYM, Entry

CONTENTS = (b"", b"x", b"y", b"xx", b"xy", b"z" * 700, b"z" * 699 + b"y", b"q" * 4096, b"q" * 9000,
            b"\0" * 4096 + b"q" * 4096, b"q" * 4096 + b"\0" * 904, b"\0" * 600, b"z" * 700 + b"\0" * 9)
RECORD = 4096
CAUSES = ("overwritten", "metadata", "deleted", "opaque", "type")


class File:
    """The content of one tar entry: it lives while one of its names shows."""

    def __init__(self, layer, path, data):
        self.layer, self.path, self.data, self.names = layer, path, data, 0
        self.killed = None  # (layer, {causes})


class Node:
    """The entry of a layer at a path."""

    def __init__(self, kind, file=None, size=0):
        self.kind, self.file, self.size = kind, file, size
        self.opaque = False


def own_tree(layer, entries, files):
    """{path: Node} of a single layer; opaque markers in `opaque`."""
    own = {}

    def parents(path):
        while path := path.rpartition("/")[0]:
            own.setdefault(path, Node("dir"))

    for entry in entries:
        path = entry.name.decode().strip("/")
        head, _, base = path.rpartition("/")
        if base == ".wh..wh..opq":
            own.setdefault(head, Node("dir")).opaque = True
            parents(head)
            continue
        parents(path)
        if base.startswith(".wh."):
            own[(head + "/" if head else "") + base[4:]] = Node("wh")
        elif entry.type == DIR:
            if path not in own or own[path].kind != "dir":
                own[path] = Node("dir")
        elif entry.type == LNK:
            target = own[entry.link.decode()]
            own[path] = Node(target.kind, target.file)
        elif entry.type == SYM:
            own[path] = Node("link")
            own[path].link = entry.link.decode()
        elif entry.type == REG:
            file = File(layer, path, entry.data)
            files.append(file)
            own[path] = Node("file", file, len(entry.data))
        else:
            own[path] = Node("other")
    return own


def above(path):
    while path := path.rpartition("/")[0]:
        yield path


def fate(path, old, own):
    """The cause why the former entry at `path` is hidden; None if it shows."""
    new = own.get(path)
    if new and new.kind == "wh":
        return "deleted"
    if new and not (new.kind == "dir" and old.kind == "dir"):
        if new.kind != "file" or old.kind != "file":
            return "type"
        return "metadata" if new.file.data == old.file.data else "overwritten"
    for up in above(path):
        if up in own and own[up].kind == "wh":
            return "deleted"
        if up in own and own[up].kind != "dir":
            return "type"
        if up in own and own[up].opaque:
            return "opaque"
    return None


class Model:
    """The whole expected result of analyze."""

    def __init__(self, layers):
        self.files, self.state, self.ties = [], {}, False
        self.owns, self.paths = [], collections.defaultdict(list)  # dive's sizes
        for number, entries in enumerate(layers, 1):
            own = own_tree(number, entries, self.files)
            self.owns.append(own)
            self.lay(number, own)
        self.kills = collections.Counter()
        for file in self.files:
            if file.names == 0:
                layer, causes = file.killed or (file.layer, {"overwritten"})
                self.ties = self.ties or (len(causes) > 1 and file.data)
                self.kills[file.layer, layer, min(causes)] += len(file.data)
        self.kills = +self.kills

    def lay(self, number, own):
        self.dive(own)
        kept, died = {}, collections.defaultdict(set)
        for path, old in self.state.items():
            cause = fate(path, old, own)
            if cause is None:
                kept[path] = old
            elif old.file:
                old.file.names -= 1
                died[old.file].add(cause)
        for path, new in own.items():
            if new.kind == "wh":
                continue
            kept[path] = new
            if new.file:
                new.file.names += 1
        for file, causes in died.items():
            file.killed = (number, causes)
        self.state = kept

    def dive(self, own):
        inner = {up for path in own for up in above(path)}
        for path, node in own.items():
            if path in inner or node.opaque:
                continue
            size = node.size
            if node.kind == "wh":
                size = sum(old.size for below, old in self.state.items()
                           if below.startswith(path + "/"))
            self.paths[path].append(size)

    def efficiency(self):
        total = sum(map(sum, self.paths.values()))
        return sum(map(min, self.paths.values())) / total if total else 1

    def wasted(self):
        return sum(sum(sizes) for sizes in self.paths.values() if len(sizes) > 1)


class Mount:
    """Looks names up as the kernel does: in each layer that holds the directory, newest first."""

    def __init__(self, owns):
        self.owns, self.stacks = owns, {"": list(reversed(owns))}

    def probe(self, path):
        """(layers looked into, those in which it is a directory)"""
        looked, dirs = 0, []
        for own in self.stack(path.rpartition("/")[0]):
            looked += 1
            node = own.get(path)
            if node and node.kind == "dir":
                dirs.append(own)
            if node and (node.kind != "dir" or node.opaque):
                break
        return looked, dirs

    def stack(self, path):
        if path not in self.stacks:
            self.stacks[path] = self.probe(path)[1]
        return self.stacks[path]


def mean(numbers):
    return sum(numbers) / len(numbers) if numbers else 0


def percentile(numbers):
    return sorted(numbers)[-(-99 * len(numbers) // 100) - 1] if numbers else 0


def lookups(model):
    """The expected result of analyze for lookups."""
    mount = Mount(model.owns)
    dirs = [""] + [path for path, node in model.state.items() if node.kind == "dir"]
    depth = [len(mount.stack(path)) for path in dirs]
    existing = [mount.probe(path)[0] for path in model.state]
    missing = [len(mount.stack(path.rpartition("/")[0])) for path in model.state]
    return {name: {"mean": round(mean(numbers), 4), "p99": percentile(numbers),
                   "most": max(numbers, default=0)}
            for name, numbers in (("depth", depth), ("existing", existing), ("missing", missing))}


def stack_of(rng):
    layers = Stack(rng).layers()
    for entries in layers:
        for entry in entries:
            if entry.type == REG and b".wh." not in entry.name:
                entry.data = rng.choice(CONTENTS)
        files = [e for e in entries if e.type == REG and b".wh." not in e.name]
        if files and rng.random() < 0.1:  # a path twice
            twice = rng.choice(files)
            entries.append(Entry(twice.name, data=rng.choice(CONTENTS)))
    if rng.random() < 0.5:
        layers.append(touched(rng, layers))
    return owned.listed(rng, layers)


def touched(rng, layers):
    """A layer as `chown` makes it: repeated files, in directories without entries."""
    found = {e.name: e for layer in layers for e in layer
             if e.type == REG and b".wh." not in e.name and rng.random() < 0.5}
    names = [n for n in found if not any(n.startswith(other + b"/") for other in found)]
    return [Entry(name, uid=9, data=found[name].data) for name in names]


def differences(found, squashed, model):
    lines = []

    def check(what, got, wanted):
        if got != wanted:
            lines.append("%s is %r, expected %r" % (what, got, wanted))

    payload = {"in": squashed["in"], "live": squashed["out"],
               "dead": squashed["in"] - squashed["out"]}
    check("payload against squash", found["payload"], payload)
    check("payload in the model", sum(len(f.data) for f in model.files), payload["in"])
    check("dead in the model", sum(model.kills.values()), payload["dead"])
    pairs, causes = collections.Counter(), collections.Counter()
    for (layer, by, cause), size in model.kills.items():
        pairs[layer, by] += size
        causes[cause] += size
    got = collections.Counter()
    for kill in found["kills"]:
        got[kill["layer"], kill["by"]] += kill["bytes"]
    check("kills", dict(+got), dict(pairs))
    if not model.ties:
        check("causes", found["dead"], {cause: causes[cause] for cause in CAUSES})
    for layer in found["layers"]:
        number = layer["number"]
        dead = sum(size for (of, _, _), size in model.kills.items() if of == number)
        hides = sum(size for (_, by, _), size in model.kills.items() if by == number)
        check("dead of layer %d" % number, sum(layer["dead"].values()), dead)
        check("killed by layer %d" % number, sum(layer["killed"].values()), hides)
    check("efficiency", found["dive"]["efficiency"], round(model.efficiency(), 6))
    check("wasted bytes", found["dive"]["wasted_bytes"], model.wasted())
    check("owners", owned.told(found["owners"]), owned.weights(model))
    for name, wanted in lookups(model).items():
        check(name, found["lookups"][name], wanted)
    return lines


def duplicates(model):
    """(groups, files, bytes) of equal content in several visible files."""
    found = collections.Counter(file.data for file in model.files if file.names and file.data)
    return {"groups": sum(n > 1 for n in found.values()),
            "files": sum(n - 1 for n in found.values()),
            "bytes": sum(len(data) * (n - 1) for data, n in found.items())}


def records(model):
    """The visible files as ZFS would write them: a single record to its length, several whole."""
    for file in model.files:
        size = len(file.data)
        for at in range(0, size if file.names else 0, RECORD):
            whole = RECORD if size > RECORD else -(-size // 512) * 512
            record = file.data[at:at + RECORD].ljust(whole, b"\0")
            if record.strip(b"\0"):
                yield record


def deduplicated(models):
    every = [record for model in models for record in records(model)]
    once = set(every)
    return {"records": len(every), "entries": len(once), "bytes": sum(map(len, every)),
            "unique_bytes": sum(map(len, once)), "memory": 320 * len(once)}


def shared(models, layers):
    """Bytes of all images: in all, with each layer once, with each content once."""
    once = {}
    for model, tars in zip(models, layers):
        for number, tar in enumerate(tars, 1):
            once[tar] = sum(len(f.data) for f in model.files if f.layer == number)
    every = {file.data for model in models for file in model.files}
    return {"payload": sum(len(f.data) for model in models for f in model.files),
            "by_layer": sum(once.values()), "by_file": sum(map(len, every))}


def compared(flatten, home, sources, stacks, models):
    found = run(flatten, "analyze", "--json", "--contents", "--dedup", "--zfs=4K", "--exact", *sources)
    lines = []
    told = [(found["dedup"], models)] + [
        (image["zfs"]["dedup"], [model]) for image, model in zip(found["images"], models)]
    for got, of in told:
        wanted = deduplicated(of)
        if {key: got[key] for key in wanted} != wanted:
            lines.append("dedup is %r, expected %r" % (got, wanted))
    for image, model in zip(found["images"], models):
        got = {key: image["duplicates"][key] for key in ("groups", "files", "bytes")}
        if got != duplicates(model):
            lines.append("duplicates are %r, expected %r" % (got, duplicates(model)))
    wanted = shared(models, [images.tars_of(layers) for layers in stacks])
    if found["shared"] != wanted:
        lines.append("shared is %r, expected %r" % (found["shared"], wanted))
    return lines


def run(*words):
    done = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=1800)
    if done.returncode:
        raise RuntimeError(done.stderr.decode(errors="backslashreplace"))
    return json.loads(done.stdout)


FORMS = (("oci", "none"), ("oci", "gzip"), ("old", "none"), ("new", "none"), ("oci", "zstd"))


def written(home, layers, number, name="image"):
    form, compression = FORMS[number % len(FORMS)]
    path, tars = os.path.join(home, name), images.tars_of(layers)
    if form == "oci":
        images.write_oci(path, tars, compression=compression)
        return "oci:" + path
    write = images.write_docker_old if form == "old" else images.write_docker_new
    write(path, tars)
    return "docker-archive:" + path


def one(flatten, seed, number):
    layers = stack_of(random.Random("%d %d" % (seed, number)))
    home = tempfile.mkdtemp(prefix="analyze.")
    try:
        source = written(home, layers, number)
        found = run(flatten, "analyze", "--json", source)
        squashed = run(flatten, "squash", "--json", "-q", source, "oci:" + home + "/flat")
        lines = differences(found["images"][0], squashed["payload"], Model(layers))
        other = layers[:1] + stack_of(random.Random("%d %d other" % (seed, number)))
        lines += compared(flatten, home, (source, written(home, other, number + 1, "other")),
                          (layers, other), (Model(layers), Model(other)))
    except RuntimeError as error:
        lines = [str(error)]
    finally:
        shutil.rmtree(home)
    return lines and lines + described(layers)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--flatten", required=True)
    parser.add_argument("--count", type=int, default=60)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    failed = 0
    for number in range(args.count):
        lines = one(args.flatten, args.seed, number)
        if lines:
            failed += 1
            print("fail seed %d number %d\n  %s" % (args.seed, number, "\n  ".join(lines)))
        if failed >= 5:
            break
    print("%d stacks, %d failed" % (number + 1, failed))
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
