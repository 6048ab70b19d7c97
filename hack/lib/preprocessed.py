#!/usr/bin/env python3
"""Digests of preprocessed sources: preprocessed.py BUILD < FILES prints "FILE<TAB>DIGEST" for each file.

The digest is that of the preprocessed text with its comments (NOLINT is one), by BUILD/compile_commands.json: it
changes with the file, its headers and its flags.
"""
import concurrent.futures
import hashlib
import json
import os
import shlex
import subprocess
import sys


def main():
    with open(os.path.join(sys.argv[1], "compile_commands.json")) as file:
        commands = {os.path.realpath(entry["file"]): entry for entry in json.load(file)}

    def digest(name):
        entry = commands.get(os.path.realpath(name))
        if not entry:
            return f"{name}\t{name} is not built"
        words = shlex.split(entry["command"])
        words = words[1:] if os.path.basename(words[0]) == "ccache" else words
        words = words[: words.index("-o")] + ["-E", "-C", entry["file"]]
        done = subprocess.run(words, cwd=entry["directory"], capture_output=True)
        return f"{name}\t{hashlib.sha256(done.stdout).hexdigest()}"

    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for line in pool.map(digest, [line.rstrip("\n") for line in sys.stdin]):
            print(line)


if __name__ == "__main__":
    main()
