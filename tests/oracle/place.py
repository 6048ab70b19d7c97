#!/usr/bin/env python3
"""place.py --flatten PATH [CASE...]: an image that flatten reads in dockerd's store against the same as an archive.

Each case that dockerd loads is flattened by name, with a TMPDIR that does not exist, so that docker save is no way
out. `flatten verify` compares the result with the archive, which the other oracles are for. The known differences:
dockerd itself loses or changes something when it unpacks, or makes a directory that no entry describes, dated now.
"""
import argparse
import os
import shutil
import signal
import subprocess
import sys

import case
import daemons
import engines
import images

DATED_NOW = "a directory without an entry is dated by the unpacking"
KNOWN = {}


def implies_directory(difference):
    """True if the two sides are directories that differ only in their time."""
    sides = [line.split(": ", 1)[1].split(" mtime ") for line in difference[1:]]
    return len(sides) == 2 and sides[0][0] == sides[1][0] and sides[0][0].startswith("directory mode 0755 owner 0:0")


def differences(text):
    lines = [line for line in text.splitlines() if line]
    return [lines[i:i + 3] for i in range(0, len(lines) - len(lines) % 3, 3)]


class Place:
    def __init__(self, flatten, work):
        self.flatten, self.work, self.docker = flatten, work, daemons.Docker(work)
        self.env = dict(os.environ, DOCKER_HOST=self.docker.socket, TMPDIR="/nonexistent")

    def run(self, *words, **kw):
        return subprocess.run([self.flatten, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                              errors="backslashreplace", env={**self.env, **kw}, check=False)

    def judge(self, one):
        """Returns what is wrong; "" for nothing, None for a case that says nothing."""
        archive = images.write_docker_old(self.work.new("save") + ".tar", images.tars_of(one.layers))
        layout = self.work.new("layout")
        loaded = engines.run(["docker", "-H", self.docker.socket, "load", "-q", "-i", archive])
        try:
            if loaded.returncode or self.run("-n", archive).returncode:
                return None
            done = self.run("-q", "oracle:latest", "oci:" + layout)
            if done.returncode:
                return done.stderr
            again = self.run("-q", "oracle:latest", "oci:" + layout + "2")
            if again.stdout != done.stdout:
                return "a second run gives another image"
            same = self.run("verify", "--most=9", "oci:" + layout, archive, TMPDIR="/tmp")
            found = [d for d in differences(same.stdout) if not implies_directory(d)]
            return "\n".join(sum(found, [])) or (same.stderr if same.returncode > 1 else "")
        finally:
            engines.run(["docker", "-H", self.docker.socket, "rmi", "-f", "oracle:latest"])
            os.remove(archive)
            shutil.rmtree(layout, ignore_errors=True)
            shutil.rmtree(layout + "2", ignore_errors=True)


def judge_all(place, cases):
    counts = {"same": 0, "said nothing": 0, "known": 0, "failed": 0}
    for one in cases:
        wrong = place.judge(one)
        verdict = "said nothing" if wrong is None else "same" if not wrong else "failed"
        if verdict == "failed" and one.name in KNOWN:
            verdict = "known"
        if verdict == "failed":
            print("%s:\n%s" % (one.name, wrong))
        counts[verdict] += 1
    print(", ".join("%d %s" % (number, name) for name, number in counts.items()))
    return counts["failed"] == 0 and counts["same"] > 0


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
            cases = [one for one in case.load() if not args.cases or one.name in args.cases]
            return 0 if judge_all(place, cases) else 1
        finally:
            place.docker.close()
    finally:
        work.close()


if __name__ == "__main__":
    sys.exit(main())
