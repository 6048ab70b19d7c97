#!/usr/bin/env python3
"""Random work in a real overlay, compared with what `flatbed copyups MOUNTPOINT --json` says of it.

    copyups_model.py FLATBED DIRECTORY SEED [OPTION...]

DIRECTORY is on a file system that takes upper directories. The layers are made by overlays of their own, so that their
whiteouts and opaque directories are the kernel's. The model knows what became of each path by what it did there; the
layer of a path is found by looking at whole paths, layer after layer.
"""

import json
import os
import random
import shutil
import stat
import subprocess
import sys

NAMES = ["a", "b", "c", "with space", "\u00fc", "-n", "\x1b[2Jx", "new\nline"]
CHANGES = ["copied", "metadata", "replaced", "new"]


class Overlay:
    """The mount, and what was done in it: `state` has the change of every path that is no directory."""

    def __init__(self, base, lowers, number, options):
        self.lowers = lowers  # topmost first
        self.upper, work, self.point = (os.path.join(base, f"{kind}{number}") for kind in ("u", "w", "m"))
        for path in (self.upper, work, self.point):
            os.mkdir(path)
        words = [f"upperdir={self.upper}", f"workdir={work}", "lowerdir=" + ":".join(lowers or [os.path.join(base, "empty")])]
        subprocess.run(["mount", "-t", "overlay", "none", self.point, "-o", ",".join(words + options)], check=True)
        self.state, self.opaque = {}, set()
        self.below = {path: os.path.isdir(path) and not os.path.islink(path) for path in self.paths()}

    def paths(self):
        for top, dirs, files in os.walk(self.point):
            for name in dirs + files:
                yield os.path.join(top, name)

    def hides(self, path):
        """Returns true if a layer has the path, and no directory above it was emptied."""
        at = os.path.dirname(path)
        while at != self.point:
            if at in self.opaque:
                return False
            at = os.path.dirname(at)
        return path in self.below

    def forget(self, path):
        for known in [p for p in self.state if p == path or p.startswith(path + "/")]:
            del self.state[known]
        self.opaque = {p for p in self.opaque if p != path and not p.startswith(path + "/")}

    def made(self, path):
        self.state[path] = "replaced" if self.hides(path) else "new"

    def touched(self, path):
        if path not in self.state:
            self.state[path] = "copied"

    def step(self, rng):
        dirs = [self.point] + [p for p in self.paths() if os.path.isdir(p) and not os.path.islink(p)]
        files = [p for p in self.paths() if os.path.islink(p) or not os.path.isdir(p)]
        fresh = os.path.join(rng.choice(dirs), rng.choice(NAMES))
        old = rng.choice(files) if files else None
        what = rng.randrange(12)
        if what < 3 and not os.path.lexists(fresh):
            with open(fresh, "wb") as out:
                out.write(os.urandom(rng.choice([0, 1, 5000, 70000])))
            self.made(fresh)
        elif what == 3 and not os.path.lexists(fresh):
            os.mkdir(fresh)
            if self.hides(fresh):
                self.opaque.add(fresh)
        elif what == 4 and not os.path.lexists(fresh):
            os.symlink(rng.choice(["/etc", "..", "nowhere"]), fresh)
            self.made(fresh)
        elif what == 5 and not os.path.lexists(fresh):
            os.mkfifo(fresh)
            self.made(fresh)
        elif what == 6 and old and os.path.isfile(old) and not os.path.islink(old):
            with open(old, "r+b") as out:
                out.seek(0, os.SEEK_END)
                out.write(b"more" * rng.randrange(3000))
            self.touched(old)
        elif what == 7 and old:
            os.lchown(old, rng.randrange(1000), 0)
            self.touched(old)
        elif what == 8 and old:
            os.unlink(old)
            self.forget(old)
        elif what == 9 and len(dirs) > 3:
            gone = rng.choice(dirs[1:])
            shutil.rmtree(gone)
            self.forget(gone)
        elif what == 10 and old:
            temporary = os.path.join(os.path.dirname(old), ".temporary")
            with open(temporary, "wb") as out:
                out.write(os.urandom(9000))
            os.rename(temporary, old)
            self.forget(old)
            self.made(old)
        elif what == 11 and old and not os.path.lexists(fresh) and not self.hides(fresh):
            os.link(old, fresh, follow_symlinks=False)  # elsewhere it would be a copy in place of a file: either is right
            self.touched(old)
            self.made(fresh)

    # ---- what is expected ----

    def find(self, path):
        """Returns the number of the layer that has the path, from the bottom."""
        names = os.path.relpath(path, self.point).split("/")
        for i, lower in enumerate(self.lowers):
            at, last = lower, False
            for depth, name in enumerate(names):
                at = os.path.join(at, name)
                try:
                    st = os.lstat(at)
                except FileNotFoundError:
                    break
                if depth == len(names) - 1:
                    return len(self.lowers) - i
                if not stat.S_ISDIR(st.st_mode):
                    return None
                last = last or mark(at, "opaque") == b"y"
            if last:
                return None
        return None

    def expected(self):
        result = {c: {"files": 0, "size": 0, "bytes": 0} for c in CHANGES}
        result.update(whiteouts=0, opaque=len(self.opaque), entries=0, directories=0, bytes=0, unread=0)
        layers = {}
        seen, files = set(), []
        for path in sorted(self.state):
            st = os.lstat(self.upper + path[len(self.point):])
            first = (st.st_dev, st.st_ino) not in seen
            seen.add((st.st_dev, st.st_ino))
            change = self.state[path]
            size = st.st_size if stat.S_ISREG(st.st_mode) else 0
            size, blocks = (size, st.st_blocks * 512) if first else (0, 0)
            add(result[change], size, blocks)
            if change == "copied":
                add(layers.setdefault(self.find(path), {"files": 0, "size": 0, "bytes": 0}), size, blocks)
            if change != "new":
                files.append((path[len(self.point):], change, self.find(path)))
            result["bytes"] += blocks
        for top, dirs, names in os.walk(self.upper):
            result["entries"] += len(dirs) + len(names)
            for name in dirs + names:
                st = os.lstat(os.path.join(top, name))
                if stat.S_ISDIR(st.st_mode):
                    result["directories"] += 1
                    result["bytes"] += st.st_blocks * 512
                result["whiteouts"] += stat.S_ISCHR(st.st_mode) and st.st_rdev == 0
        return result, layers, sorted(files)


def mark(path, name):
    try:
        return os.getxattr(path, "trusted.overlay." + name, follow_symlinks=False)
    except OSError:
        return None


def add(to, size, blocks):
    to["files"] += 1
    to["size"] += size
    to["bytes"] += blocks


def shown(path):
    return path.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def whole_names(overlay):
    """Checks the model itself: everything that is in the upper directory was done by it."""
    found = set()
    for top, _, names in os.walk(overlay.upper):
        for name in names:
            path = os.path.join(top, name)
            if not (stat.S_ISCHR(os.lstat(path).st_mode)):
                found.add(overlay.point + path[len(overlay.upper):])
    for top, dirs, _ in os.walk(overlay.upper):
        found |= {overlay.point + os.path.join(top, d)[len(overlay.upper):] for d in dirs if os.path.islink(os.path.join(top, d))}
    assert found == set(overlay.state), (found ^ set(overlay.state))


def compare(flatbed, overlay):
    out = subprocess.run([flatbed, "copyups", "--json", "--top=1000", overlay.point], check=True, stdout=subprocess.PIPE)
    got = json.loads(out.stdout)["containers"]
    assert len(got) == 1, got
    got = got[0]
    whole_names(overlay)
    want, layers, files = overlay.expected()
    for key, value in want.items():
        if key in CHANGES:  # which name of a file comes first is not known
            links = sum(os.lstat(overlay.upper + p[len(overlay.point):]).st_nlink > 1 for p in overlay.state)
            assert got[key]["files"] == value["files"], (key, got[key], value)
            assert links or got[key] == value, (key, got[key], value)
        else:
            assert got[key] == value, (key, got[key], value)
    for layer in got["layers"]:
        assert layer["files"] == layers.get(layer["layer"], {"files": 0})["files"], (layer, layers)
    assert sorted((shown(f["path"]), f["change"], f["layer"]) for f in got["files"]) == [(shown(p), c, n) for p, c, n in files]
    total = sum(got[c]["bytes"] for c in CHANGES)
    assert total == sum(want[c]["bytes"] for c in CHANGES)
    check_directories(overlay, got["largest"])


def check_directories(overlay, got):
    """The files' blocks below each directory, but for those whose largest directory has nine tenths of them."""
    if any(os.lstat(overlay.upper + p[len(overlay.point):]).st_nlink > 1 for p in overlay.state):
        return
    sums = {}
    for path in overlay.state:
        blocks = os.lstat(overlay.upper + path[len(overlay.point):]).st_blocks * 512
        at = path
        while at != overlay.point:
            at = os.path.dirname(at)
            sums[at] = sums.get(at, 0) + blocks
    want = []
    for path, total in sums.items():
        inner = max([n for p, n in sums.items() if os.path.dirname(p) == path and p != path], default=0)
        if total and inner < total - total // 10:
            want.append((shown(path[len(overlay.point):] or "/"), total))
    assert sorted((shown(d["path"]), d["bytes"]) for d in got) == sorted(want), (got, want)


def main():
    flatbed, base, seed, *options = sys.argv[1:]
    rng = random.Random(int(seed))
    os.mkdir(os.path.join(base, "empty"))
    lowers, overlay = [], None
    for number in range(rng.randrange(2, 6)):
        overlay = Overlay(base, lowers, number, [])
        for _ in range(40):
            overlay.step(rng)
        subprocess.run(["umount", overlay.point], check=True)
        clean(overlay.upper)
        lowers = [overlay.upper] + lowers
    overlay = Overlay(base, lowers, "top", options)
    for _ in range(120):
        overlay.step(rng)
    subprocess.run(["sync", "-f", base], check=True)
    compare(flatbed, overlay)
    subprocess.run(["umount", overlay.point], check=True)


def clean(layer):
    """Makes of an upper directory a layer as engines unpack them: files of one name, without the kernel's marks."""
    for top, dirs, names in os.walk(layer):
        for name in dirs + names:
            path = os.path.join(top, name)
            for key in os.listxattr(path, follow_symlinks=False):
                if key != "trusted.overlay.opaque":
                    os.removexattr(path, key, follow_symlinks=False)
            st = os.lstat(path)
            if st.st_nlink > 1 and not stat.S_ISDIR(st.st_mode) and not stat.S_ISCHR(st.st_mode):
                os.unlink(path)
                with open(path, "wb") as out:
                    out.write(b"one name")


if __name__ == "__main__":
    main()
