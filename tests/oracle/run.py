#!/usr/bin/env python3
"""Compares `flatten squash`, or `flatten carve`, with independent programs. Needs root.

    run.py --flatten PATH [--carve] [--case NAME]... [--every K] [--semantics overlay|spec] [--jobs N]
    run.py --flatten PATH [--carve] --random N --seed S [--keep-base]

One line a case; exit status 1 if one fails. case.py describes the expected results,
engines.py the oracles.
"""
import argparse
import concurrent.futures
import os
import shutil
import signal
import subprocess
import sys
import threading
import time

import case
import daemons
import engines
import gaps
import images
import published
import trees

SOURCES = (("oci", "gzip"), ("old", "none"), ("oci", "zstd"), ("new", "none"), ("oci", "none"))


class Failure(Exception):
    """A case failed: the lines of its report."""

    def __init__(self, *lines):
        super().__init__(*lines)
        self.lines = lines


class Oracles:
    """The engines, started on first use, and their results."""
    makers = {case.UMOCI: engines.Umoci, case.STORAGE: engines.Storage,
              case.DOCKER: daemons.Docker, case.CONTAINERD: daemons.Containerd}

    def __init__(self, work):
        self.work, self.running, self.lock = work, {}, threading.Lock()
        self.newer = time.time_ns() - 10**9

    def engine(self, name):
        with self.lock:
            if name not in self.running:
                self.running[name] = self.makers[name](self.work)
            return self.running[name]

    def original(self, name, layers):
        return self.engine(name).unpack(layers, self.newer)

    def accepted(self, expected, layers, semantics):
        """(acceptable trees, may flatten refuse)"""
        default = case.UMOCI if semantics == "spec" else case.STORAGE
        if expected == case.REFUSE:
            return [], True
        if isinstance(expected, case.Either):
            asked = [(default, choice) for choice in expected.choices]
        elif isinstance(expected, case.Same):
            asked = [(default, expected.layers)]
        else:
            asked = [(name, layers) for name in expected]
        try:
            found = [(name, self.original(name, some)) for name, some in asked]
        except engines.Refused as refusal:
            raise Failure("harness: an oracle refuses the case: %s" % refusal) from refusal
        return found, isinstance(expected, case.Either)

    def close(self):
        for engine in self.running.values():
            engine.close()


def write_source(work, tars, which):
    """(reference, configuration) of a new image on disk"""
    form, compression = SOURCES[which % len(SOURCES)]
    config = images.config_of(tars)
    path = work.new("source")
    if form == "oci":
        images.write_oci(path, tars, config, compression=compression)
        return "oci:" + path + ":latest", config
    write = images.write_docker_old if form == "old" else images.write_docker_new
    write(path + ".tar", tars, config, compression=compression)
    return "docker-archive:" + path + ".tar:oracle:latest", config


class Result:
    """One run of flatten, in a directory of its own."""
    command = ("squash",)

    def __init__(self, flatten, work, source, semantics, kind="oci", more=()):
        self.home, self.kind = work.new("result"), kind
        os.mkdir(self.home)
        self.path = self.home + ("/flat" if kind == "oci" else "/flat.tar")
        tail = ":latest" if kind == "oci" else ":oracle:flat"
        self.reference = kind + ":" + self.path + tail
        self.done = subprocess.run(
            [flatten, *self.command, *more, "--semantics", semantics, source, self.reference],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=1800)
        self.message = self.done.stderr.decode(errors="backslashreplace").strip()

    def check_refusal(self):
        lines = []
        if self.done.returncode < 0:
            lines.append("killed by signal %d" % -self.done.returncode)
        if not self.message:
            lines.append("refused without a message")
        if "AddressSanitizer" in self.message or "runtime error" in self.message:
            lines.append("sanitizer: " + self.message[:2000])
        if os.listdir(self.home):
            lines.append("refused, but left %s" % os.listdir(self.home))
        if lines:
            raise Failure(*lines)

    def read(self):
        try:
            return published.read(self.kind, self.path)
        except published.Broken as error:
            raise Failure("the result cannot be read: %s" % error) from error


def has_root_entry(layers):
    names = [e.name for layer in layers if not isinstance(layer, bytes) for e in layer]
    return any(not name.strip(b"./") and b".." not in name for name in names)


def nearest(wanted, got, ignore_root):
    """The differences from the most similar acceptable tree."""
    best = None
    for name, tree in wanted:
        lines = trees.diff(tree, got, ignore_root)
        if not lines:
            return []
        if best is None or len(lines) < len(best):
            best = ["against " + name + ":"] + lines
    return best


class Judge:
    def __init__(self, flatten, work):
        self.flatten, self.work, self.oracles = flatten, work, Oracles(work)

    def compare(self, result, tars, wanted, semantics, one):
        """Both kinds of engine must show the result as the oracle shows the original."""
        storage, umoci = (self.oracles.engine(n) for n in (case.STORAGE, case.UMOCI))
        store = self.work.new("cs")
        try:
            got = [("through the overlay", semantics == "overlay",
                    storage.unpack_reference(result.reference, store)),
                   ("through umoci", semantics == "spec", umoci.unpack_tars(tars))]
        except engines.Refused as refusal:
            raise Failure("an engine refuses the result: %s" % refusal) from refusal
        finally:
            shutil.rmtree(store, ignore_errors=True)
        # Overlay engines do not apply "./" (moby applies "/"), so only umoci's root counts.
        root = semantics == "spec" and has_root_entry(one.layers)
        for title, own, tree in got:
            lines = nearest(wanted, tree, not (own and root))
            if lines and (own or not one.own_only):
                raise Failure(title, *lines)

    def judge(self, one, semantics, number):
        expected = one.overlay if semantics == "overlay" else one.spec
        wanted, may_refuse = self.oracles.accepted(expected, one.layers, semantics)
        source, config = write_source(self.work, images.tars_of(one.layers), number)
        kind = "docker-archive" if number % 3 == 2 else "oci"
        result = Result(self.flatten, self.work, source, semantics, kind)
        if result.done.returncode:
            result.check_refusal()
            if not may_refuse:
                raise Failure("refused: " + result.message[:500])
            return "refused: " + result.message.splitlines()[-1]
        if not wanted:
            raise Failure("accepted, but must be refused")
        after, tars, problems = result.read()
        problems += published.check_config(config, after, tars)
        for tar in tars:
            problems += published.check_layer(tar)
        problems += self.check_again(result, source, semantics)
        if problems:
            raise Failure(*problems)
        self.compare(result, tars, wanted, semantics, one)
        return ""

    def check_again(self, result, source, semantics):
        problems = []
        again = Result(self.flatten, self.work, source, semantics, result.kind)
        if again.done.returncode or published.bytes_of(result.path) != published.bytes_of(again.path):
            problems.append("a second run gives other bytes")
        return problems


def report(ok, title, lines):
    word = {True: "ok  ", False: "FAIL", None: "gap "}[ok]
    print("%s %s%s" % (word, title, " (%s)" % lines[0] if ok is not False and lines else ""))
    if ok is False:
        for line in lines[:40]:
            print("       " + line)
    sys.stdout.flush()


def run_one(judge, one, semantics, number):
    """The arguments of report(); True: passed, False: failed, None: a known gap."""
    title = "%s [%s]" % (one.name, semantics)
    gap = gaps.GAPS.get((one.name, semantics))
    try:
        note = judge.judge(one, semantics, number)
    except Failure as failure:
        return (None, title, [gap]) if gap else (False, title, failure.lines)
    if gap:
        return False, title, ["passes, but gaps.py lists it as a known gap"]
    return True, title, [note] if note else []


def chosen(args):
    for number, one in enumerate(case.load()):
        if args.case and one.name not in args.case or number % args.every:
            continue
        for semantics in args.semantics or ("overlay", "spec"):
            if getattr(one, semantics) != case.UNJUDGED:
                yield one, semantics, number


def run_cases(args, work):
    """Runs several cases at a time, as they mostly wait for disks and daemons."""
    judge, results = Judge(args.flatten, work), []
    pool = concurrent.futures.ThreadPoolExecutor(args.jobs)
    try:
        for found in pool.map(lambda one: run_one(judge, *one), chosen(args)):
            report(*found)
            results.append(found[0])
    finally:
        pool.shutdown(cancel_futures=True)
        judge.oracles.close()
    return results.count(True), results.count(False)


def arguments():
    parser = argparse.ArgumentParser()
    parser.add_argument("--flatten", required=True)
    parser.add_argument("--carve", action="store_true", help="flatten carve, with tiny layers")
    parser.add_argument("--case", action="append")
    parser.add_argument("--every", type=int, metavar="K", default=1, help="one case of K, as a sample")
    parser.add_argument("--semantics", action="append", choices=("overlay", "spec"))
    parser.add_argument("--jobs", type=int, metavar="N", default=2 * os.cpu_count(), help="cases at a time")
    parser.add_argument("--random", type=int, metavar="N")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--real", action="store_true",
                        help="with --random: containers/storage is the oracle (slower)")
    parser.add_argument("--keep-base", action="store_true",
                        help="with --random: the oldest layers stay as they are")
    args = parser.parse_args()
    args.flatten = os.path.abspath(args.flatten)
    if args.carve:
        Result.command = ("carve", "--layer-size=2k", "--layers=20")
    return args


def main():
    args = arguments()
    if os.geteuid():
        sys.exit("run.py: needs root: owners, devices, overlay mounts")
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # a test's timeout: clean up
    work = engines.Workspace()
    try:
        if args.random:
            import above
            import stacks
            make = above.AboveTest if args.keep_base else stacks.RandomTest
            passed, failed = stacks.run(args, work, Result, write_source, report, make=make)
        else:
            passed, failed = run_cases(args, work)
    finally:
        work.close()
    print("%d passed, %d failed" % (passed, failed))
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
