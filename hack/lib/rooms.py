#!/usr/bin/env python3
"""Checks the rooms: rooms.py prints each violation and exits with 1 if there is one; --map prints the rooms.

A room is a directory whose CMakeLists.txt calls flatbed_room (cmake/Room.cmake). The rules:

  - a room includes its own headers and those that the rooms in its USES offer in include/ROOM/;
  - USES names no room that is not included, and has no circle;
  - include/ROOM/ holds no header that only ROOM includes;
  - shim and flatten use nothing of each other, flatbed-runtime and flatbed nothing of each other;
  - flatten's keeper reaches no room that parses what an image says; the rooms of the reader reach neither
    the keeper's rooms, nor networks; these rooms, and those of flatten that both share, open no file by name.
"""
import collections
import os
import re
import subprocess
import sys

TOP = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
PROGRAMS = ("shim/runtime", "shim/admin")
KEEPER = "flatten/keeper"
SHARED = ("flatten/stream", "flatten/name", "flatten/exchange", "flatten/wire")
READER = ("flatten/image", "flatten/layer", "flatten/merge", "flatten/squash", "flatten/carve", "flatten/analyze", "flatten/reader")
# Headers and functions of other projects that one side of the sandbox must not use.
KEEPER_HEADERS = re.compile(r"archive(_entry)?\.h|zstd\.h|lz4\.h|isa-l/.*")
READER_HEADERS = re.compile(r"curl/.*|sys/socket\.h|sys/un\.h|netdb\.h|netinet/.*|arpa/.*")
NO_HEADERS = re.compile(r"(?!)")
READER_CALLS = re.compile(
    r"(?<![\w.>])(open|openat|openat2|creat|fopen|freopen|opendir|stat|lstat|fstatat|statx|access|faccessat|"
    r"readlink|readlinkat|unlink|unlinkat|rename|renameat|renameat2|mkdir|mkdirat|link|linkat|symlink|symlinkat|"
    r"socket|connect|bind|listen|accept4?|getaddrinfo|exec\w+|posix_spawnp?|popen|system)\s*\(")


def tracked():
    words = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "base", "shim", "flatten", "include"]
    names = subprocess.run(words, text=True, capture_output=True, check=True).stdout.splitlines()
    return [name for name in names if os.path.exists(name)]


class Room:
    def __init__(self, name, text):
        call = re.search(r"^flatbed_room\((.*?)\)", text, re.S | re.M).group(1)
        self.name = name
        self.purpose = " ".join(re.findall(r"^# ?(.*)", text.split("flatbed_room(")[0], re.M)[:1])
        self.lists = collections.defaultdict(list)
        for word in re.sub(r"#.*", "", call).split():
            if word in ("SOURCES", "USES", "LIBRARIES"):
                key = word
            else:
                self.lists[key].append(word)
        self.uses = set(self.lists["USES"])
        self.files = []


def room_of(path):
    directory = os.path.dirname(path)
    return directory[len("include/"):] if directory.startswith("include/") else directory


def below(name, roots):
    return any(name == root or name.startswith(root + "/") for root in roots)


def plain(text):
    """The text without comments and strings, its lines kept."""
    return re.sub(r'/\*.*?\*/|//[^\n]*|"(\\.|[^"\\\n])*"', lambda m: "\n" * m.group().count("\n"), text, flags=re.S)


class House:
    def __init__(self):
        self.faults = []
        names = tracked()
        self.sources = [name for name in names if re.search(r"\.[ch]$", name)]
        self.rooms = {}
        for name in names:
            if os.path.basename(name) == "CMakeLists.txt":
                with open(name) as file:
                    text = file.read()
                if re.search(r"^flatbed_room\(", text, re.M):
                    self.rooms[os.path.dirname(name)] = Room(os.path.dirname(name), text)
        for path in self.sources:
            if room_of(path) in self.rooms:
                self.rooms[room_of(path)].files.append(path)
            else:
                self.faults.append(f"{path}: lies in no room")
        self.texts = {path: open(path, errors="replace").read() for path in self.sources}

    def included(self, path):
        known = set(self.sources)
        for name in re.findall(r'^\s*#\s*include "([^"]+)"', self.texts[path], re.M):
            found = next((p for p in ("include/" + name, name) if p in known), None)
            if found:
                yield found
            else:
                self.faults.append(f"{path}: includes {name}, which is not there")

    def reach(self, name, seen=None):
        seen = set() if seen is None else seen
        for used in self.rooms[name].uses & self.rooms.keys():
            if used not in seen:
                seen.add(used)
                self.reach(used, seen)
        return seen

    def check_includes(self):
        users = collections.defaultdict(set)
        for room in self.rooms.values():
            used = set()
            for path in room.files:
                for target in self.included(path):
                    other = room_of(target)
                    users[target].add(room.name)
                    if other == room.name:
                        continue
                    used.add(other)
                    if other not in room.uses:
                        self.faults.append(f"{path}: includes {target}, but {room.name} does not use {other}")
                    if not target.startswith("include/"):
                        self.faults.append(f"{path}: includes {target}, which belongs to {other} alone")
            for stale in sorted(room.uses - used):
                self.faults.append(f"{room.name}/CMakeLists.txt: uses {stale}, but includes nothing of it")
        for path in self.sources:
            if path.startswith("include/") and users[path] <= {room_of(path)}:
                self.faults.append(f"{path}: only {room_of(path)} includes it: it belongs beside its source")

    def check_arrows(self):
        for name, room in sorted(self.rooms.items()):
            reached = self.reach(name)
            if name in reached:
                self.faults.append(f"{name}: uses itself, by way of {' '.join(sorted(r for r in reached if name in self.reach(r)))}")
            for other in sorted(reached):
                mine = name.split("/")[0]
                if other.split("/")[0] not in (mine, "base"):
                    self.faults.append(f"{name}: reaches {other}")
                for program in PROGRAMS:
                    if below(other, [program]) and not below(name, [program]):
                        self.faults.append(f"{name}: reaches {other}, which is {program}'s")

    def check_sandbox(self):
        for name, room in sorted(self.rooms.items()):
            keeper, reader = below(name, [KEEPER]), below(name, READER)
            for other in sorted(self.reach(name)):
                if keeper and below(other, READER):
                    self.faults.append(f"{name}: the keeper reaches {other}, which parses images")
                if reader and below(other, [KEEPER]):
                    self.faults.append(f"{name}: the reader reaches {other}, which has files and networks")
            shared = below(name, SHARED)
            for path in room.files if keeper or reader or shared else ():
                text = plain(self.texts[path])
                wrong = KEEPER_HEADERS if keeper else READER_HEADERS if reader else NO_HEADERS
                for header in re.findall(r"#\s*include <([^>]+)>", text):
                    if wrong.fullmatch(header):
                        self.faults.append(f"{path}: includes <{header}> on the wrong side of the sandbox")
                for match in READER_CALLS.finditer(text) if reader or shared else ():
                    line = text.count("\n", 0, match.start()) + 1
                    self.faults.append(f"{path}:{line}: calls {match.group(1)} inside the sandbox")

    def check(self):
        self.check_includes()
        self.check_arrows()
        self.check_sandbox()
        return self.faults

    def map(self):
        depth = {}

        def level(name):
            if name not in depth:
                depth[name] = 0
                depth[name] = 1 + max((level(used) for used in self.rooms[name].uses), default=0)
            return depth[name]

        for name in sorted(self.rooms, key=lambda n: (n.split("/")[0] != "base", n.split("/")[0], level(n), n)):
            room = self.rooms[name]
            print(f"{name:24} {room.purpose}")
            print(f"{'':24} uses {' '.join(sorted(u for u in room.uses if not u.startswith('base'))) or '-'}")


def main():
    os.chdir(TOP)
    house = House()
    if "--map" in sys.argv:
        house.map()
        return 0
    faults = house.check()
    print("\n".join(sorted(set(faults))), end="\n" if faults else "", file=sys.stderr)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
