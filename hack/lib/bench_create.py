#!/usr/bin/env python3
"""Measures the time that flatbed-runtime adds to create and start of a real container.

    bench_create.py PAIRS BUNDLE EDITED ASKED STAMP -- DIRECT... -- THROUGH...

Each pair creates, starts and deletes one container by DIRECT and one by THROUGH (a command and its
options), in alternating order, with equal config.json: DIRECT gets EDITED, the result of THROUGH
with ASKED; that is checked. Deleting is not timed. Create and start vary by a quarter, so the difference
of both is only known to a millisecond after hundreds of pairs; it is printed with the interval that
holds its median in 95 of 100 cases (order statistics). What varies little is when the low-level runtime
begins: in both cases a program appends the time to STAMP and then starts it. The delay of
that start through the shim, with the processor's caches as the last container left them, is the time
that the shim adds.
"""
import os
import shutil
import statistics
import struct
import sys
import time

PAUSE = 0.02  # the kernel takes a container's namespaces and groups apart after it is deleted


def run(words):
    """(start, duration) of a command, in seconds."""
    quiet = [(os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0)]
    start = time.clock_gettime(time.CLOCK_MONOTONIC)
    child = os.posix_spawn(words[0], words, os.environ, file_actions=quiet)
    status = os.waitpid(child, 0)[1]
    end = time.clock_gettime(time.CLOCK_MONOTONIC)
    if status:
        raise SystemExit("bench: failed: " + " ".join(words))
    return start, end - start


def stamped(path):
    with open(path, "rb") as file:
        return struct.unpack("qq", file.read(16))


def container(command, low, bundle, config, stamp):
    """Milliseconds until the low-level runtime began, and of create and start."""
    name = "bench-%d" % os.getpid()
    shutil.copyfile(config, os.path.join(bundle, "config.json"))
    open(stamp, "w").close()
    time.sleep(PAUSE)
    begun, create = run(command + ["create", "--bundle", bundle, name])
    seconds, nanoseconds = stamped(stamp)
    start = run(low + ["start", name])[1]
    run(low + ["delete", "--force", name])
    return (seconds + nanoseconds / 1e9 - begun) * 1e3, (create + start) * 1e3


def interval(values):
    """The median, and the order statistics that enclose it in 95 of 100 cases."""
    values = sorted(values)
    reach = 0.98 * len(values) ** 0.5  # 1.96 standard deviations of a binomial of 1/2
    middle = (len(values) - 1) / 2
    return (statistics.median(values), values[max(0, int(middle - reach))],
            values[min(len(values) - 1, int(middle + reach + 1))])


def differences(through, direct, column):
    return interval([a[column] - b[column] for a, b in zip(through, direct)])


def report(direct, through):
    whole = statistics.median([total for _, total in direct])
    print("create + start: %.2f ms called directly (half of them %.1f to %.1f)" % (
        whole, *statistics.quantiles([total for _, total in direct], n=4)[::2]))
    for label, column in (("until the low-level runtime begins", 0), ("until it has started", 1)):
        middle, low, high = differences(through, direct, column)
        print("through the shim, %-34s %+.3f ms (%+.3f to %+.3f): %+.1f %% (%+.1f to %+.1f)" % (
            label, middle, low, high, *(100 * value / whole for value in (middle, low, high))))


def main():
    pairs, bundle, edited, asked, stamp = int(sys.argv[1]), *sys.argv[2:6]
    middle = sys.argv.index("--", 7)
    direct, through = sys.argv[7:middle], sys.argv[middle + 1:]
    results = {"direct": [], "through": []}

    def by_shim():
        results["through"].append(container(through, direct, bundle, asked, stamp))
        with open(edited, "rb") as one, open(os.path.join(bundle, "config.json"), "rb") as other:
            if one.read() != other.read():
                raise SystemExit("bench: the shim made another config.json than before")

    def by_hand():
        results["direct"].append(container(direct, direct, bundle, edited, stamp))

    for pair in range(pairs):
        for turn in (by_shim, by_hand) if pair % 2 else (by_hand, by_shim):
            turn()
    report(results["direct"], results["through"])


main()
