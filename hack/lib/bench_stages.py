#!/usr/bin/env python3
"""Shows where flatten's CPU seconds go: bench_stages.py COMMAND...

Runs the command under perf(1) and prints a table: CPU seconds of each stage, those of its busiest thread,
and the least wall time on 2, 8 and 32 processors. Two things bound it: all CPU seconds divided by the
processors, and the busiest thread of all. Threads that follow each other, such as one for each layer that
is inflated while it is read, are counted one by one, although they never run at the same time: without an
unpacker (fewer than 6 processors) all of "inflate" is one chain.
"""
import collections
import os
import re
import subprocess
import sys
import tempfile

HZ = 499
STAGES = [  # the first that matches "LIBRARY SYMBOL"
    ("SHA-256", r"sha256|libcrypto|(one|two)_stream"),
    ("inflate", r"libisal.*(inflate|decode|huff|header)|isal_inflate|decode_huffman|crc32_gzip|libisal"),
    ("zstd", r"libzstd|ZSTD_|HUF_|FSE_"),
    ("file data, by the kernel", r"\[k"),
    ("tar, merge", r"libarchive|flatten"),
    ("copies in memory", r"libc"),
    ("other", r""),
]


def record(command, data):
    subprocess.run(["perf", "record", "-q", "-e", "cpu-clock", "-F", str(HZ), "-o", data, "--"] + command, check=True,
                   stdout=subprocess.DEVNULL)
    return subprocess.run(["perf", "script", "-i", data, "-F", "tid,ip,sym,dso"], check=True, capture_output=True,
                          text=True, errors="replace").stdout


def stage_of(text):
    return next(name for name, pattern in STAGES if re.search(pattern, text))


def count(text):
    """{stage: {thread: samples}}"""
    samples = collections.defaultdict(collections.Counter)
    for line in text.splitlines():
        match = re.match(r"\s*(\d+)\s+[0-9a-f]+ (.*) \((.*)\)$", line)
        if match:
            thread, symbol, library = match.groups()
            samples[stage_of(os.path.basename(library) + " " + symbol)][thread] += 1
    return samples


def main():
    with tempfile.TemporaryDirectory() as directory:
        samples = count(record(sys.argv[1:], directory + "/perf.data"))
    threads = sum(samples.values(), collections.Counter())
    print("%-28s %8s %16s %8s" % ("", "CPU s", "busiest thread s", "threads"))
    for name, _ in STAGES:
        each = samples[name]
        if each:
            print("%-28s %8.2f %16.2f %8d" % (name, sum(each.values()) / HZ, max(each.values()) / HZ,
                                              sum(1 for n in each.values() if n >= HZ / 20)))
    total, busiest = sum(threads.values()) / HZ, max(threads.values()) / HZ
    print("%-28s %8.2f %16.2f %8d" % ("all", total, busiest, sum(1 for n in threads.values() if n >= HZ / 20)))
    for thread, samples_of in threads.most_common(8):
        parts = ["%s %.2f" % (name, samples[name][thread] / HZ) for name, _ in STAGES if samples[name][thread] > HZ / 20]
        print("  thread %s: %.2f s: %s" % (thread, samples_of / HZ, ", ".join(parts)))
    for processors in (2, 8, 32):
        print("%2d processors: at least %.2f s" % (processors, max(total / processors, busiest)))


main()
