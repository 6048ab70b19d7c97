#!/usr/bin/env python3
"""Reads the lines of bench_run.py and prints a table, then the ratios that flatten is judged by.

A ratio is that of two commands in the same turn: the median of the turns, and in brackets the least and the
greatest. The ratio of CPU times says less about the machine's other users.
"""
import statistics
import sys

ARCHIVE, OCI = "flatten archive -> archive", "flatten oci gzip -> oci zstd-3"
REGISTRY = "flatten registry -> registry"
IMPORT = "docker import of the live bytes"
TOGETHER = "igzip and zstd together"
RATIOS = [
    ("archive -> archive, in the bound", ARCHIVE, ["bound of archive -> archive"]),
    ("archive -> archive, in SHA-256 of the live bytes", ARCHIVE, ["sha256 of the live bytes"]),
    ("archive -> archive, in copies of the live bytes", ARCHIVE, ["copy of the live bytes"]),
    ("gzip -> zstd-3, in igzip and zstd run together", OCI, [TOGETHER]),
    ("gzip -> zstd-3, in igzip, zstd and SHA-256 together", OCI, ["igzip, zstd and SHA-256 together"]),
    ("registry -> registry, in max(transfer, work)", REGISTRY, ["transfer of the blobs", OCI]),
    ("docker export | import, in archive -> archive", "docker export | docker import", [ARCHIVE]),
    ("archive -> daemon, in docker import of the live bytes", "flatten archive -> daemon", [IMPORT]),
    ("daemon -> daemon, in docker import of the live bytes", "flatten daemon -> daemon", [IMPORT]),
    ("daemon -> daemon, in docker export | docker import", "flatten daemon -> daemon", ["docker export | docker import"]),
    ("daemon -> registry, in tar and zstd of the tree", "flatten daemon -> registry", ["tar and zstd -3 -T0 of the tree"]),
    ("umoci, in gzip -> zstd-3", "umoci unpack and repack", [OCI]),
    ("buildah commit --squash, in gzip -> zstd-3", "buildah commit --squash", [OCI]),
    ("skopeo copy, in gzip -> zstd-3", "skopeo copy oci gzip -> oci", [OCI]),
]


def column(text):
    return [float(value) for value in text.split(",")]


def ratio(numbers, limits):
    """(median, least, greatest) of the turns that all have."""
    turns = [top / max(bottom) for top, *bottom in zip(numbers, *limits)]
    return statistics.median(turns), min(turns), max(turns)


def main():
    rows = [line.rstrip("\n").split("\t") for line in sys.stdin]
    print("%-36s %9s %9s %9s %12s %10s" % ("", "wall s", "CPU s", "RSS MB", "temp disk MB", "made MB"))
    for row in rows:
        wall, cpu, memory, temporary, made = (statistics.median(column(text)) for text in row[1:])
        print("%-36s %9.2f %9.2f %9.0f %12.0f %10.0f" % (row[0], wall, cpu, memory, temporary, made))
    wall, cpu = ({row[0]: column(row[i]) for row in rows} for i in (1, 2))
    print()
    for text, top, bottoms in RATIOS:
        if top not in wall or any(bottom not in wall for bottom in bottoms):
            continue
        print("%-52s %6.2f (%.2f to %.2f)" % (text, *ratio(wall[top], [wall[b] for b in bottoms])), end="")
        print("" if len(bottoms) > 1 else "; of CPU %.2f" % ratio(cpu[top], [cpu[b] for b in bottoms])[0])


main()
