#!/usr/bin/env python3
"""The least work with these files: bench_bound.py [--copy FROM TO] FILE...

Computes SHA-256 of all bytes of the files and copies FROM to TO, in pieces, on all processors at the same
time. A real SHA-256 of a file is one chain, so no program can be sure to reach this.
"""
import hashlib
import os
import sys
from concurrent.futures import ThreadPoolExecutor

PIECE, STEP = 32 << 20, 1 << 20


def pieces(path):
    return range(0, os.path.getsize(path), PIECE)


def steps(source, start):
    """The bytes of a piece, in one buffer; hashlib and preadv let other threads run."""
    buffer = bytearray(STEP)
    for at in range(start, start + PIECE, STEP):
        count = os.preadv(source, [buffer], at)
        if count == 0:
            return
        yield at, memoryview(buffer)[:count]


def digest(source, start):
    sha = hashlib.sha256()
    for _, data in steps(source, start):
        sha.update(data)


def copy(source, start, to):
    for at, data in steps(source, start):
        os.pwrite(to, data, at)


def main():
    words, work = sys.argv[1:], []
    if words[0] == "--copy":
        source, to = os.open(words[1], os.O_RDONLY), os.open(words[2], os.O_WRONLY | os.O_CREAT, 0o644)
        work += [(copy, source, start, to) for start in pieces(words[1])]
        words = words[3:]
    for path in words:
        source = os.open(path, os.O_RDONLY)
        work += [(digest, source, start) for start in pieces(path)]
    with ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        for done in [pool.submit(*task) for task in work]:
            done.result()


main()
