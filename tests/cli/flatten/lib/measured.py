"""Runs flatten and returns the CPU seconds of both processes and their peak memory."""
import multiprocessing
import os
import time
from dataclasses import dataclass


@dataclass
class Run:
    status: int
    cpu: float  # seconds, user and system
    peak: int  # bytes: of the larger process, and of the other
    message: str


def in_child(function, *args):
    """Calls it in a separate process, because a program inherits the peak memory of its parent."""
    child = multiprocessing.Process(target=function, args=args)
    child.start()
    child.join()
    if child.exitcode:
        raise SystemExit("%s failed" % function.__name__)


def peak_of(pid):
    try:
        with open("/proc/%d/status" % pid) as status:
            return next((int(line.split()[1]) << 10 for line in status if line.startswith("VmHWM")), 0)
    except (FileNotFoundError, ProcessLookupError):
        return 0


def run(work, program, *words):
    """`work` is a directory for its output."""
    said = os.path.join(work, "stderr")
    write = os.O_WRONLY | os.O_CREAT | os.O_TRUNC
    actions = [(os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0), (os.POSIX_SPAWN_OPEN, 2, said, write, 0o600)]
    pid = os.posix_spawn(program, [program, *words, "-q"], os.environ, file_actions=actions)
    keeper = 0
    while True:
        keeper = max(keeper, peak_of(pid))
        done, status, usage = os.wait4(pid, os.WNOHANG)
        if done:
            break
        time.sleep(0.02)
    with open(said, errors="replace") as text:
        message = text.read()
    return Run(os.waitstatus_to_exitcode(status), usage.ru_utime + usage.ru_stime, (usage.ru_maxrss << 10) + keeper,
               message)
