#!/usr/bin/env python3
"""Runs a checker over the files that have not passed it before: passed.py KEY CACHE PROCESSES BATCH COMMAND... < FILES

A file has passed when COMMAND FILE... ended with 0. The directory CACHE remembers that by the digest of
KEY (the tool's version, its configuration) and of the file's content. A line "FILE<TAB>TEXT" gives the
content as a digest instead. PROCESSES batches of BATCH files run at a time. Exit status 1 if one fails.
"""
import concurrent.futures
import hashlib
import os
import subprocess
import sys


def stamp_of(key, line):
    name, _, content = line.partition("\t")
    digest = hashlib.sha256(key.encode() + b"\0" + name.encode() + b"\0")
    if content:
        digest.update(content.encode())
    else:
        with open(name, "rb") as file:
            digest.update(file.read())
    return name, digest.hexdigest()


def main():
    key, cache, processes, batch = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
    command = sys.argv[5:]
    os.makedirs(cache, exist_ok=True)
    todo = [pair for pair in (stamp_of(key, line.rstrip("\n")) for line in sys.stdin)
            if not os.path.exists(os.path.join(cache, pair[1]))]

    def check(pairs):
        done = subprocess.run(command + [name for name, _ in pairs], text=True, capture_output=True)
        if done.returncode == 0:
            for _, stamp in pairs:
                open(os.path.join(cache, stamp), "w").close()
        return done

    batches = [todo[i:i + batch] for i in range(0, len(todo), batch)]
    failed = False
    with concurrent.futures.ThreadPoolExecutor(processes) as pool:
        for done in pool.map(check, batches):
            if done.returncode != 0:
                failed = True
                print(done.stdout + done.stderr, end="", file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
