#!/usr/bin/env python3
"""place.py --flatten PATH [CASE...]: an image that flatten reads in dockerd's store against the same as an archive.

Each case that dockerd loads is compared by `flatten verify` with the archive, which the other oracles are for; TMPDIR
does not exist, so that docker save is no way out. A directory that no entry describes may differ in its time, which is
that of the unpacking. `flatten analyze` must find the same figures in both. Cases that are `own_only` are left out:
dockerd itself loses or changes something when it unpacks them. A known difference that disappears is a failure, so that
the list stays true.
"""
import argparse
import json
import os
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import case
import daemons
import engines
import images

PARALLEL = 4  # dockerd and flatten wait for one another and for the disk

KNOWN = {
    "overlay-opaque-xattr": "the kernel acts on the attribute, as it does for a container",
    "overlay-redirect-xattr": "the kernel acts on the attribute, as it does for a container",
    "wh-dir-component": "a name that is a whiteout in a layer is refused, with another message",
    "link-of-capability": "dockerd sets the owner of the link, which takes the capability from the file",
    "below-same-layer-symlink-after": "a path comes twice in a layer, and the store has one of them",
    "dup-absolute": "a path comes twice in a layer, and the store has one of them",
}

# These differ with some versions of dockerd only.
SOMETIMES = {
    "overlay-metacopy-xattr": "from 25 on dockerd writes the attribute, and the kernel acts on it",
}


def implies_directory(difference):
    """True if the two sides are directories that differ only in their time."""
    sides = [line.split(": ", 1)[1].split(" mtime ") for line in difference[1:]]
    return len(sides) == 2 and sides[0][0] == sides[1][0] and sides[0][0].startswith("directory mode 0755 owner 0:0")


def differences(text):
    lines = [line for line in text.splitlines() if line]
    return [lines[i:i + 3] for i in range(0, len(lines) - len(lines) % 3, 3)]


def in_order(part):
    """Sorts lists in which equals are in the order of the entries, which the store does not have."""
    if isinstance(part, dict):
        return {key: in_order(value) for key, value in part.items()}
    if isinstance(part, list):
        return sorted(map(in_order, part), key=lambda one: json.dumps(one, sort_keys=True))
    return part


def at_any_name(owners):
    """Adds up the directories without a package: a file of several names counts at the one that comes first."""
    def amounts(one):
        return [one[key] for key in ("live", "dead", "files", "dead_files")]
    directories = [amounts(one) for one in owners if one["kind"] == "directory"]
    return [one for one in owners if one["kind"] != "directory"], [sum(column) for column in zip(*directories)]


class Place:
    def __init__(self, flatten, work):
        self.flatten, self.work, self.docker = flatten, work, daemons.Docker(work)
        self.env = dict(os.environ, DOCKER_HOST=self.docker.socket, TMPDIR="/nonexistent")

    def run(self, *words):
        return subprocess.run([self.flatten, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                              errors="backslashreplace", env=self.env, check=False)

    def figures(self, source):
        """The parts of what analyze finds out, as texts, without what only a blob has."""
        done = self.run("analyze", "--json", source)
        if done.returncode:
            return {"error": done.stderr.partition(source)[2]}
        image = json.loads(done.stdout)["images"][0]
        for key in ("source", "name", "dive"):  # dive counts links by the order of the entries
            del image[key]
        for layer in image["layers"]:
            del layer["digest"], layer["size"]
        image["owners"] = at_any_name(image["owners"])
        return {key: json.dumps(in_order(part), sort_keys=True) for key, part in image.items()}

    def compare(self, name, archive):
        """Returns what is wrong; "" for nothing, None if flatten refuses the archive."""
        same = self.run("verify", "--most=9", name, archive)
        if same.returncode > 1:
            return None if "verify: B: " in same.stderr else same.stderr
        found = [d for d in differences(same.stdout) if not implies_directory(d)]
        if found:
            return "\n".join(sum(found, []))
        here, there = self.figures(name), self.figures(archive)
        return "\n".join("%s: %s, not %s" % (key, here.get(key), there.get(key))
                         for key in sorted(here.keys() | there.keys()) if here.get(key) != there.get(key))

    def judge(self, one):
        """As compare; None also for a case that dockerd does not load."""
        name = "%s:latest" % os.path.basename(self.work.new("oracle")).lower()
        archive = images.write_docker_old(self.work.new("save") + ".tar", images.tars_of(one.layers), name=name)
        loaded = engines.run(["docker", "-H", self.docker.socket, "load", "-q", "-i", archive])
        return None if loaded.returncode else self.compare(name, archive)


def verdict_on(one, wrong):
    if wrong is None:
        return "said nothing"
    if one.name in KNOWN:
        return "known to differ" if wrong else "failed"
    if wrong and one.name in SOMETIMES:
        return "known to differ"
    return "failed" if wrong else "same"


def judge_all(place, cases):
    counts, pool = {}, ThreadPoolExecutor(PARALLEL)
    try:
        for one, wrong in zip(cases, pool.map(place.judge, cases)):
            verdict = verdict_on(one, wrong)
            if verdict == "failed":
                print("%s:\n%s" % (one.name, wrong or "is in KNOWN and does not differ"))
            counts[verdict] = counts.get(verdict, 0) + 1
    finally:
        pool.shutdown(cancel_futures=True)
    print(", ".join("%d %s" % (number, name) for name, number in sorted(counts.items())))
    return "failed" not in counts and counts.get("same", 0) > 0


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--flatten", required=True)
    parser.add_argument("cases", nargs="*")
    args = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    work = engines.Workspace()
    try:
        place = Place(os.path.abspath(args.flatten), work)
        try:
            cases = [one for one in case.load()
                     if (one.name in args.cases if args.cases else not one.own_only)]
            return 0 if judge_all(place, cases) else 1
        finally:
            place.docker.close()
    finally:
        work.close()


if __name__ == "__main__":
    sys.exit(main())
