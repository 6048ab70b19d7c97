#!/usr/bin/env python3
"""Times commands, interleaved: bench_run.py RUNS FILE

FILE has a line a command, "LABEL<TAB>SHELL", run in turn by `bash -ec` with $OUT, a new directory that
is removed afterwards. Preparations before a line `: START` do not count. Prints
"LABEL<TAB>wall<TAB>cpu<TAB>peak RSS in MB<TAB>temporary disk in MB<TAB>output in MB", each with the values of
all turns, separated by commas: bench_report.py reads them.
A command whose label starts with "-" is slow and runs only once.
"""
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time


def used(directory):
    """Bytes in use on the file system of a directory: unnamed files count."""
    stat = os.statvfs(directory)
    return (stat.f_blocks - stat.f_bfree) * stat.f_frsize


class DiskWatch(threading.Thread):
    """The maximum in use, sampled: the writes of other programs count, too."""

    def __init__(self, directory):
        super().__init__(daemon=True)
        self.directory, self.start_used, self.peak = directory, used(directory), 0
        self.over = threading.Event()

    def run(self):
        while not self.over.wait(0.05):
            self.peak = max(self.peak, used(self.directory) - self.start_used)


def size_of(directory):
    return sum(os.lstat(os.path.join(base, name)).st_blocks * 512
               for base, _, names in os.walk(directory) for name in names)


def measure(shell):
    out = tempfile.mkdtemp(prefix="out.", dir=os.environ["BENCH_DIR"])
    prepare, _, timed = shell.rpartition(": START;")
    env = {**os.environ, "OUT": out, "TMPDIR": out}
    try:
        if prepare:
            subprocess.run(["bash", "-ec", prepare], env=env, check=True, stdout=subprocess.DEVNULL)
        os.sync()
        watch = DiskWatch(out)
        watch.start()
        start = time.monotonic()
        child = subprocess.Popen(["bash", "-ec", timed], env=env, stdout=subprocess.DEVNULL,
                                 stderr=None if timed.startswith("\"$FLATTEN\"") else subprocess.DEVNULL)
        _, status, usage = os.wait4(child.pid, 0)
        wall = time.monotonic() - start
        child.returncode = os.waitstatus_to_exitcode(status)
        watch.over.set()
        watch.join()
        if child.returncode:
            raise SystemExit("bench: failed: " + timed)
        made = size_of(out)
        return (wall, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024,
                max(0, watch.peak - made) / 1e6, made / 1e6)
    finally:
        shutil.rmtree(out, ignore_errors=True)


def main():
    runs = int(sys.argv[1])
    with open(sys.argv[2]) as file:
        lines = [line.rstrip("\n").split("\t", 1) for line in file]
    results = {label: [] for label, _ in lines}
    for turn in range(runs):
        for label, shell in lines:
            if turn and label.startswith("-"):
                continue
            results[label].append(measure(shell))
    for label, rows in results.items():
        print("\t".join([label.lstrip("-")] + [",".join("%.3f" % value for value in column)
                                               for column in zip(*rows)]))


if __name__ == "__main__":
    main()
