#!/usr/bin/env python3
"""family.py --flatten FLATTEN [--first N] [--count N]: random images of a family, carved together.

Each image has some of the same paths, with one of few contents, headers and names. Every one must be exact, within the
number of layers, without whiteouts, and have the same layers whatever the order of the sources.
"""
import argparse
import json
import os
import random
import subprocess
import sys
import tempfile

import images
from tarball import d, f, h, s

DIRS = ["a", "a/b", "a/b/c", "x", "x/y", "usr", "usr/bin", "usr/lib", "e", "e/e2"]
OPTIONS = [[], ["--layers=1"], ["--layers=2"], ["--layers=5"], ["--layers=20"], ["--layer-size=1k"],
           ["--layer-size=4k"], ["--layers=6", "--layer-size=2k"], ["--layers=9", "--layer-size=2k"]]


def path_in(directory, name):
    return f"{directory}/{name}" if directory else name


def random_dirs(rng):
    """Directories whose headers often differ; the root directory has an entry in some images only."""
    made = [d(".", mode=rng.choice([0o755, 0o711]))] if rng.random() < 0.4 else []
    names = {""}
    for name in DIRS:
        if os.path.dirname(name) in names and rng.random() < 0.85:
            names.add(name)
            made.append(d(name, mode=rng.choice([0o755, 0o755, 0o755, 0o700]), mtime=rng.choice([1, 1, 1, 5]) * 10**9))
    return made, sorted(names)


def random_file(rng, name):
    kind = rng.choice([0, 0, 0, 1, 2])
    return f(name, f"{name}{kind}" * rng.choice([1, 100]) if kind else name * 50,
             mode=rng.choice([0o644, 0o644, 0o644, 0o600]), mtime=rng.choice([7, 7, 7, 8]) * 10**9,
             xattrs={"user.k": "v"} if rng.random() < 0.1 else {})


def random_image(rng):
    entries, dirs = random_dirs(rng)
    files = [random_file(rng, path_in(name, f"f{i}")) for name in dirs for i in range(rng.choice([0, 3, 6]))
             if rng.random() < 0.75]
    links = [h(path_in(rng.choice(dirs), f"l{i}"), rng.choice(files).name.decode()) for i in range(rng.choice([0, 0, 2, 4]))
             if files]
    return entries + files + links + [s("link", rng.choice(["a", "b"]))]


def run(arguments, *words):
    return subprocess.run([arguments.flatten, *words], capture_output=True, text=True, check=False)


def blobs(layout):
    return set(os.listdir(f"{layout}/blobs/sha256"))


def check(arguments, seed, where):
    """Returns what is wrong, or None."""
    rng = random.Random(seed)
    sources = []
    for i in range(rng.choice([2, 2, 3, 4, 6])):
        images.write_oci(f"{where}/{i}", images.tars_of([random_image(rng)]), tag=f"t{i}")
        sources.append(f"oci:{where}/{i}")
    options = rng.choice(OPTIONS)
    carve = ["carve", "--family", "--json", *options]
    result = run(arguments, *carve, "--verify", *sources, f"oci:{where}/out")
    if result.returncode:
        return f"{options}: {result.stderr}"
    most = next((int(o.split("=")[1]) for o in options if o.startswith("--layers=")), 60)
    for image in json.loads(result.stdout)["images"]:
        if image["layers"]["out"] > most or image["entries"]["whiteouts"]:
            return f"{options}: {image['layers']}"
    for i, source in enumerate(sources):
        if run(arguments, "verify", "-q", source, f"oci:{where}/out:t{i}").returncode:
            return f"{options}: image {i} differs"
    rng.shuffle(sources)
    run(arguments, *carve, *sources, f"oci:{where}/turned")
    return None if blobs(f"{where}/out") == blobs(f"{where}/turned") else f"{options}: the order of the sources matters"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--flatten", required=True)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--count", type=int, default=12)
    arguments = parser.parse_args()
    failed = 0
    for seed in range(arguments.first, arguments.first + arguments.count):
        with tempfile.TemporaryDirectory() as where:
            wrong = check(arguments, seed, where)
        if wrong:
            failed += 1
            print(f"seed {seed}: {wrong}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
