#!/usr/bin/env python3
"""The measurements of hack/bench-carve: bench_carve.py DIR GIGABYTES CACHE LAYER_SIZE LINEAGE LOOKUPS PULLS

DIR/flatten is the program; LOOKUPS and PULLS are empty to leave them out. Prints tables in Markdown.
"""
import hashlib
import json
import os
import shutil
import subprocess
import sys
import tarfile

import bench_mounts
import bench_pulls
import lookup_times

HERE = os.path.dirname(os.path.abspath(__file__))
ZSTD, GZIP = "--compression=zstd:3", "--compression=gzip"
RUNS = 5  # of each mount


class Bench:
    def __init__(self, directory, gigabytes, cache, layer_size):
        self.directory, self.gigabytes, self.cache, self.cap = directory, gigabytes, cache, layer_size

    def path(self, name):
        return self.directory + "/" + name

    def flatten(self, *words):
        return subprocess.run([self.path("flatten"), *words], check=True, capture_output=True, text=True).stdout

    def make(self, schedule, version):
        """The layout of a version as built."""
        name = "%s-%d" % (schedule, version)
        print("making version %d (%s)" % (version, schedule), file=sys.stderr, flush=True)
        os.mkdir(self.path(name))
        subprocess.run([sys.executable, HERE + "/bench_versions.py", self.path(name), self.gigabytes, self.cache,
                        schedule, str(version)], check=True, stdout=subprocess.DEVNULL)
        return name

    def squash(self, name, compression=ZSTD):
        self.flatten("--quiet", compression, self.oci(name), "oci:%s:1" % self.path("squash-" + name))
        return "squash-" + name

    def carve(self, name, out, like=None, compression=ZSTD):
        words = ["--quiet", compression, "--layer-size=" + self.cap, self.oci(name), "oci:%s:1" % self.path(out)]
        if like:
            words.insert(0, "--like=oci:%s:1" % self.path(like))
        self.flatten("carve", *words)
        return out

    def oci(self, name):
        return "oci:" + self.path(name + "/oci")

    def layout(self, name):
        """Where the layout of a version as built, or of a result, is."""
        built = self.path(name + "/oci")
        return built if os.path.exists(built) else self.path(name)

    def blobs(self, name):
        """{digest: bytes} of an image's layers."""
        return {layer["digest"]: layer["size"] for layer in bench_mounts.manifest(self.layout(name))["layers"]}

    def analysis(self, name):
        """(layers, share of dead bytes, mean probes of existing paths)"""
        image = json.loads(self.flatten("analyze", "--json", "oci:" + self.layout(name)))["images"][0]
        payload = image["payload"]
        return len(image["layers"]), payload["dead"] / payload["in"], image["lookups"]["existing"]["mean"]

    def flat(self, name):
        """The tree of a version as one tar file."""
        self.flatten("--quiet", "--compression=none", self.oci(name), "oci:%s:1" % self.path("flat"))
        blob = max(os.scandir(self.path("flat/blobs/sha256")), key=lambda entry: entry.stat().st_size)
        os.rename(blob.path, self.path(name + ".tar"))
        shutil.rmtree(self.path("flat"))
        return self.path(name + ".tar")

    def remove(self, *names):
        for name in names:
            shutil.rmtree(self.path(name))


def new_bytes(before, after):
    return sum(size for digest, size in after.items() if digest not in before)


class Tree:
    """The merged tree of a version: {name: what is equal in equal files}; while in use, as a tar file, too."""

    def __init__(self, bench, name):
        self.path, self.entries = bench.flat(name), {}
        with tarfile.open(self.path) as tar:
            for info in tar:
                content = hashlib.file_digest(tar.extractfile(info), "sha256").hexdigest() if info.isreg() else ""
                self.entries[info.name] = (info.type, info.mode, info.uid, info.gid, info.mtime, info.linkname, content)

    def __enter__(self):
        return self

    def __exit__(self, *failure):
        os.unlink(self.path)

    def differing(self, before):
        """The names of files that another tree does not have like this."""
        return {name for name, what in self.entries.items() if before.entries.get(name) != what}


def packed(path, wanted):
    """(bytes, bytes compressed) of these members of a tar file, in a tar file of their own."""
    plain = 0
    with subprocess.Popen(["zstd", "-q", "-3", "-T0", "-c"], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as zstd:
        reader = subprocess.Popen(["wc", "-c"], stdin=zstd.stdout, stdout=subprocess.PIPE, text=True)
        with tarfile.open(path) as tar, tarfile.open(fileobj=zstd.stdin, mode="w|", format=tarfile.PAX_FORMAT) as out:
            for info in tar:
                if info.name in wanted:
                    out.addfile(info, tar.extractfile(info) if info.isreg() else None)
                    plain += info.size
        zstd.stdin.close()
        zstd.stdin = None
        size = int(reader.communicate()[0])
    return plain, size


def bounds(bench, before, after):
    """Compressed bytes of the files that differ, and of the packages that changed."""
    with Tree(bench, before) as old, Tree(bench, after) as new:
        differing = new.differing(old)
        with open(bench.path(after + "/owned"), "rb") as file:
            owned = {os.fsdecode(name) for name in file.read().split(b"\0") if name}
        return packed(new.path, differing)[1], packed(new.path, owned | differing)[1]


def mb(size):
    return "%.1f" % (size / 1e6)


def row(*cells):
    print("| " + " | ".join(str(cell) for cell in cells) + " |", flush=True)


def heading(*cells):
    row(*cells)
    row("---", *["---:"] * (len(cells) - 1))


def describe(bench, label, name, transfer, base):
    layers, dead, probes = bench.analysis(name)
    blobs = bench.blobs(name)
    row(label, mb(sum(blobs.values())), mb(transfer), "%.1f %%" % (100 * transfer / base), layers,
        mb(max(blobs.values())), "%.1f %%" % (100 * dead), "%.3f" % probes)


def pulls(bench, first, second):
    """Real pulls of version 2; with gzip, which every Docker reads."""
    squashed = [bench.squash(name, GZIP) for name in (first, second)]
    carved = bench.carve(first, "carved-1", None, GZIP)
    like = bench.carve(second, "carved-like", carved, GZIP)
    versions = [("as built", bench.path(first + "/oci"), bench.path(second + "/oci")),
                ("squashed", *(bench.path(name) for name in squashed)),
                ("carved --like", bench.path(carved), bench.path(like))]
    print("\nPulls of version 2 in seconds, each connection held to %d MB/s\n" % (bench_pulls.RATE / 1e6))
    heading("version 2", "engine", "has nothing", "has version 1")
    for label, engine, cold, warm in bench_pulls.measure(bench.directory, versions):
        row(label, engine, "%.1f" % cold, "%.1f" % warm)
    bench.remove(*squashed, carved, like)


def lookups(bench, versions):
    """Lookups in mounts of {label: image}, with all paths of the tree; the last has one layer."""
    print("\nLookups in version 2, times those in one layer\n")
    heading("version 2", "dentries", *lookup_times.KINDS)
    layouts = {label: bench.layout(name) for label, name in versions.items()}
    for caches, label, times in bench_mounts.measure(bench.path("mounts"), layouts, RUNS):
        row(label, caches, *("%.2f" % times[kind] for kind in lookup_times.KINDS))


def update(bench, with_lookups, with_pulls):
    """Version 2 for a host or registry that has version 1."""
    first, second = bench.make("update", 1), bench.make("update", 2)
    files, owners = bounds(bench, first, second)
    squashed = [bench.squash(name) for name in (first, second)]
    carved = bench.carve(first, "carved-1")
    alone = bench.carve(second, "carved-2")
    like = bench.carve(second, "carved-like", carved)
    whole = sum(bench.blobs(squashed[1]).values())
    print("\nVersion 2: MB of all layers, MB that version 1 does not have, and these in % of the squashed image\n")
    heading("version 2", "all MB", "new MB", "of squashed", "layers", "largest MB", "dead", "mean probes")
    for label, before, after in (("as built", first, second), ("squashed", *squashed), ("carved", carved, alone),
                                 ("carved --like", carved, like)):
        describe(bench, label, after, new_bytes(bench.blobs(before), bench.blobs(after)), whole)
    transfer = new_bytes(bench.blobs(carved), bench.blobs(like))
    print("\nFiles that differ: %s MB compressed; carved --like: %.2f times that. All files of the packages that "
          "changed: %s MB; carved --like: %.2f times that." %
          (mb(files), transfer / files, mb(owners), transfer / owners))
    if with_lookups:
        lookups(bench, {"as built": second, "carved": alone, "carved --like": like, "squashed": squashed[1]})
    bench.remove(*squashed, carved, alone, like)
    if with_pulls:
        pulls(bench, first, second)
    bench.remove(first, second)


def lineage(bench, count):
    """Each version like the one before."""
    total, changed, was_built, was_tree = 0, 0, None, None
    print("\nA lineage: MB that the version before does not have\n")
    heading("version", "differing files, MB", "as built", "squashed", "carved --like", "layers", "dead", "mean probes")
    for version in range(1, count + 1):
        built = bench.make("lineage", version)
        like = "carved-%d" % (version - 1) if was_built else None
        carved = bench.carve(built, "carved-%d" % version, like)
        squashed = bench.squash(built)
        after, layers = bench.blobs(carved), bench.analysis(carved)
        with Tree(bench, built) as tree:
            files = packed(tree.path, tree.differing(was_tree))[1] if was_tree else None
        if was_built:
            transfer = new_bytes(bench.blobs(like), after)
            total, changed = total + transfer, changed + files
            row(version, mb(files), mb(new_bytes(bench.blobs(was_built), bench.blobs(built))),
                mb(sum(bench.blobs(squashed).values())), mb(transfer), layers[0], "%.1f %%" % (100 * layers[1]),
                "%.3f" % layers[2])
            bench.remove(was_built, like)
        else:
            row(version, "", mb(sum(bench.blobs(built).values())), mb(sum(bench.blobs(squashed).values())),
                mb(sum(after.values())), layers[0], "%.1f %%" % (100 * layers[1]), "%.3f" % layers[2])
        bench.remove(squashed)
        was_built, was_tree = built, tree
    print("\nAll versions after the first: %s MB differ, %s MB are transferred (%.2f times)." %
          (mb(changed), mb(total), total / changed))


def main():
    directory, gigabytes, cache, layer_size, count, with_lookups, with_pulls = sys.argv[1:]
    bench = Bench(directory, gigabytes, cache, layer_size)
    update(bench, with_lookups, with_pulls)
    if int(count) > 1:
        lineage(bench, int(count))


main()
