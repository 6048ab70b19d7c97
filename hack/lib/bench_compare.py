#!/usr/bin/env python3
"""Times ways to merge the layers of an image, and compares their results with it, for hack/bench-compare.

    bench_compare.py DIR IMAGE FLATTEN RUNS

IMAGE/image.tar and IMAGE/oci are the image; DIR/docker.sock is the socket of a daemon that has it and a
container of it, if Docker is installed. Ways whose programs are missing are left out, with a line that says so.
"""
import json
import os
import re
import shutil
import statistics
import subprocess
import sys
import tarfile
import time

from bench_run import DiskWatch

DIR, IMAGE, FLATTEN, RUNS = sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4])
ARCHIVE, LAYOUT, FLAT = IMAGE + "/image.tar", IMAGE + "/oci", DIR + "/flat"
SOCKET, STORE = "unix://%s/docker.sock" % DIR, "[overlay@%s/podman/root+%s/podman/run]" % (DIR, DIR)
DOCKER = "docker --host " + SOCKET
PODMAN = "podman --root %s/podman/root --runroot %s/podman/run --storage-driver overlay" % (DIR, DIR)
BUILDAH = "buildah --root $OUT/root --runroot $OUT/run --storage-driver overlay"


class Way:
    """A command for bash, with $OUT, an empty directory; and the reference of its result."""

    def __init__(self, name, tools, command, result, merges=True):
        self.name, self.command, self.result, self.merges = name, command, result, merges
        self.missing = [tool for tool in tools.split() if not shutil.which(tool)]
        self.rows, self.loss, self.failure = [], None, None


def layout_ways():
    flatten, result = "%s -q oci:%s:latest oci:$OUT/flat:f" % (FLATTEN, LAYOUT), "oci:{out}/flat:f"
    return [
        Way("`flatten`, to zstd", "", flatten, result),
        Way("`flatten --compression=gzip`", "", flatten + " --compression=gzip", result),
        # `umoci insert` would be less work, but umoci 0.4.7 does not finish the archive of its layer.
        Way("`umoci unpack`, `umoci repack`", "umoci",
            "umoci unpack --image %s:latest $OUT/old; umoci init --layout $OUT/flat; umoci new --image $OUT/flat:f; "
            "umoci unpack --image $OUT/flat:f $OUT/new; rmdir $OUT/new/rootfs; mv $OUT/old/rootfs $OUT/new/; "
            "umoci repack --image $OUT/flat:f $OUT/new" % LAYOUT, result),
        Way("`buildah from`, `buildah commit --squash`", "buildah",
            "ln -s %s $OUT/oci; c=$(%s from oci:$OUT/oci:latest); %s commit -q --squash $c oci:$OUT/flat:f" %
            (LAYOUT, BUILDAH, BUILDAH), result),
        Way("`skopeo copy`, which merges nothing", "skopeo", "skopeo copy -q oci:%s:latest oci:$OUT/flat:f" % LAYOUT, result,
            merges=False)]


def podman_ways():
    result = "containers-storage:%slocalhost/flat:f" % STORE
    return [
        Way("`flatten containers-storage:NAME`", "podman", "%s -q containers-storage:%slocalhost/bench:latest %s" %
            (FLATTEN, STORE, result), result),
        Way("`podman build --squash-all`", "podman", "echo FROM localhost/bench:latest >$OUT/Dockerfile; "
            "%s build -q --squash-all --network=none -t localhost/flat:f $OUT" % PODMAN, result)]


def docker_ways():
    result, tools = "docker-daemon:flat:f", "docker dockerd"
    return [
        Way("`flatten NAME`", tools, "DOCKER_HOST=%s %s -q bench:latest %s" % (SOCKET, FLATTEN, result), result),
        Way("`docker export \\| docker import`", tools, "%s export bench | %s import - flat:f" % (DOCKER, DOCKER), result),
        Way("`docker import` of the merged tar", tools, "%s import %s flat:f" % (DOCKER, FLAT), result)]


# A layer that a store has already is less work: results are removed before each run.
REMOVE = {"containers-storage": PODMAN + " rmi -f localhost/flat:f", "docker-daemon": DOCKER + " rmi -f flat:f"}


class Failure(Exception):
    pass


def start(command, out):
    """podman and buildah mount directories onto themselves: in a namespace that ends with the command."""
    return subprocess.Popen(["unshare", "--mount", "--propagation", "private", "bash", "-eo", "pipefail", "-c", command],
                            env={**os.environ, "OUT": out, "TMPDIR": out, "DOCKER_HOST": SOCKET},
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def do(command, out=DIR, statuses=(0,)):
    child = start(command, out)
    text, said = child.communicate()
    if child.returncode not in statuses:
        raise Failure("%s: %s" % (command, said[-500:]))
    return text


# ---- what is lost

def config_in_layout(directory, tag):
    def read(digest):
        with open(directory + "/blobs/" + digest.replace(":", "/")) as file:
            return json.load(file)

    with open(directory + "/index.json") as file:
        entries = json.load(file)["manifests"]
    entry = next(e for e in entries if e["annotations"]["org.opencontainers.image.ref.name"] == tag)
    return read(read(entry["digest"])["config"]["digest"])


def config_of(reference, out):
    """The configuration, from the layout or from an archive that the engine saves."""
    kind, _, rest = reference.partition(":")
    if kind == "oci":
        return config_in_layout(*rest.rsplit(":", 1))
    path = out + "/config.tar"
    do((DOCKER + " save -o %s flat:f" if kind == "docker-daemon" else PODMAN + " save -q -o %s localhost/flat:f") % path)
    with tarfile.open(path) as tar:
        manifest = json.load(tar.extractfile("manifest.json"))[0]
        return json.load(tar.extractfile(manifest["Config"]))


def lost_config(original, result):
    """Names of members of which a part is not in the result; those that have more than before are not lost."""
    def lost(a, b):
        return any(b.get(key) != a[key] for key in a) if isinstance(a, dict) and isinstance(b, dict) else a != b

    def steps(config):
        return [step.get("created_by") for step in config.get("history") or []]

    config = result.get("config") or {}
    return [key for key, value in original["config"].items() if lost(value, config.get(key))] + \
        (["history"] if set(steps(original)) - set(steps(result)) else [])


# As `flatten verify` describes a path.
FIELDS = {"content": r"^.*? mode|^symlink.*", "mode": r" mode (\d+)", "owner": r" owner (\S+)", "time": r" mtime (\S+)",
          "attributes": r" (\S+=\S*)", "hard links": r" linked with (.*)"}


def classify(a, b):
    if a is None or b is None:
        return "extra" if a is None else "missing"
    return " and ".join(kind for kind, pattern in FIELDS.items() if re.findall(pattern, a) != re.findall(pattern, b))


def lost_tree(reference):
    """{kind of difference: paths} against the original."""
    said = do("%s verify --json --most=10000000 docker-archive:%s %s" % (FLATTEN, ARCHIVE, reference), statuses=(0, 1))
    counts = {}
    for difference in json.loads(said)["differences"]:
        kind = classify(difference["a"], difference["b"])
        counts[kind] = counts.get(kind, 0) + 1
    return counts


def judge(way, original, out):
    result = way.result.format(out=out)
    config = config_of(result, out)
    if way.merges and len(config["rootfs"]["diff_ids"]) != 1:
        raise Failure("the result has %d layers" % len(config["rootfs"]["diff_ids"]))
    return lost_tree(result), lost_config(original, config)


# ---- the runs

def daemon_cpu():
    """CPU seconds of dockerd and of its children that have ended."""
    try:
        with open(DIR + "/docker/pid") as pid, open("/proc/%d/stat" % int(pid.read())) as stat:
            return sum(map(int, stat.read().rpartition(")")[2].split()[11:15])) / os.sysconf("SC_CLK_TCK")
    except FileNotFoundError:
        return 0


def measure(way, original):
    out = DIR + "/out"  # buildah makes the name of an image of it
    os.mkdir(out)
    try:
        kind = way.result.partition(":")[0]
        if kind in REMOVE:
            do(REMOVE[kind], statuses=(0, 1))
        os.sync()
        watch, daemon, begin = DiskWatch(out), daemon_cpu(), time.monotonic()
        watch.start()
        child = start(way.command, out)
        said = child.stderr.read()
        _, status, usage = os.wait4(child.pid, 0)
        wall = time.monotonic() - begin
        child.returncode = os.waitstatus_to_exitcode(status)
        watch.over.set()
        watch.join()
        if child.returncode:
            raise Failure(said[-500:])
        way.rows.append((wall, usage.ru_utime + usage.ru_stime + daemon_cpu() - daemon, watch.peak / 1e6))
        print("%6.1f s  %s" % (wall, way.name), file=sys.stderr)
        way.loss = way.loss or judge(way, original, out)
    except Failure as failure:
        way.failure = failure
        print("failed: %s: %s" % (way.name, failure), file=sys.stderr)
    finally:
        shutil.rmtree(out, ignore_errors=True)


def table(place, ways):
    """The first way is the one that the others are compared with."""
    print("\nFrom %s:\n" % place)
    print("| | wall s | times the first | CPU s | disk, MB | the tree | the configuration |\n|---|---|---|---|---|---|---|")
    first = statistics.median(row[0] for row in ways[0].rows)
    for way in ways:
        wall, cpu, peak = (statistics.median(column) for column in zip(*way.rows))
        tree, config = way.loss
        differences = ", ".join("%d %s" % (n, kind) for kind, n in sorted(tree.items(), key=lambda item: -item[1]))
        print("| %s | %.1f | %.2f | %.1f | %.0f | %s | %s |" % (way.name, wall, wall / first, cpu, peak, differences or "the same",
                                                          "without " + ", ".join(config) if config else "the same"))


def prepare():
    do("%s -q --compression=none oci:%s:latest oci:%s.oci:f" % (FLATTEN, LAYOUT, FLAT))
    blobs = FLAT + ".oci/blobs/sha256/"
    os.rename(max((blobs + name for name in os.listdir(blobs)), key=os.path.getsize), FLAT)
    if shutil.which("podman"):
        do("%s load -q -i %s; %s tag bench:latest localhost/bench:latest" % (PODMAN, ARCHIVE, PODMAN))


def main():
    original = config_in_layout(LAYOUT, "latest")
    groups = {"an OCI layout with gzip": layout_ways(), "podman's store": podman_ways(),
              "the Docker daemon (overlay2)": docker_ways()}
    for place, ways in groups.items():
        for way in ways:
            if way.missing:
                print("left out: %s: %s is not installed" % (way.name, ", ".join(way.missing)), file=sys.stderr)
        groups[place] = [way for way in ways if not way.missing]
    prepare()
    for _ in range(RUNS):
        for ways in groups.values():
            for way in ways:
                if not way.failure:
                    measure(way, original)
    for place, ways in groups.items():
        measured = [way for way in ways if not way.failure]
        if measured:
            table(place, measured)
    print()
    for tool in ("umoci", "buildah", "skopeo", "podman", "dockerd"):
        if shutil.which(tool):
            print(do(tool + " --version").splitlines()[0])


if __name__ == "__main__":
    main()
