"""Times of lookups in overlay mounts, for hack/bench-lookups and hack/bench-carve. Needs root."""
import collections
import contextlib
import os
import subprocess
import tempfile
import time

KINDS = ("stat", "missing", "readdir")

# Unpacked layers home/0 (the oldest) to home/count-1, an empty directory home/none, and the paths that they have together
# (a directory after its parent).
Stack = collections.namedtuple("Stack", "home count directories files")


@contextlib.contextmanager
def overlay(stack):
    lower = ":".join([str(n) for n in reversed(range(stack.count))] + ["none"])
    point = tempfile.mkdtemp(dir=stack.home, prefix="mount.")
    try:
        subprocess.run(["mount", "-t", "overlay", "overlay", "-o", "ro,lowerdir=" + lower, point], cwd=stack.home,
                       check=True)
        try:
            yield point
        finally:
            subprocess.run(["umount", point], check=True)
    finally:
        os.rmdir(point)


def each(call, paths):
    """Processor time for one of them: other processes do not count."""
    start = time.process_time()
    for path in paths:
        try:
            call(path)
        except FileNotFoundError:
            pass
    return (time.process_time() - start) / len(paths)


def timed(stack, kind, cold):
    """Seconds for one name, over a fresh mount of the layers."""
    with overlay(stack) as point:
        directories, files = ([point + "/" + name for name in names] for names in (stack.directories, stack.files))
        if cold:
            with open("/proc/sys/vm/drop_caches", "w", encoding="ascii") as drop:
                drop.write("2")
        if kind == "stat":
            return each(os.lstat, directories + files)
        each(os.lstat, directories)  # the lookups of directories are not timed
        return each(os.listdir, directories) if kind == "readdir" else each(os.lstat, [path + "?" for path in files])


def measure(stacks, runs, cold):
    """{name: {kind: seconds}} of {name: stack}: the minimum of interleaved runs, since noise only adds."""
    times = {name: {kind: [] for kind in KINDS} for name in stacks}
    for _ in range(runs + 1):  # the first warms the layers' own dentries
        for name, stack in stacks.items():
            for kind, seconds in times[name].items():
                seconds.append(timed(stack, kind, cold))
    return {name: {kind: min(seconds[1:]) for kind, seconds in some.items()} for name, some in times.items()}
