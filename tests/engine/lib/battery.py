#!/usr/bin/env python3
"""battery.py TABLE VERSION PARALLEL COMMAND...: runs each variant of a table of tests/engine/battery, and prints those
with another verdict than the table says.

COMMAND has the words "{id}", a file for the container's ID, "{arguments}", those of the variant, "{after}", the image
and the probe, which a variant may replace, and "{probe}". The head of battery/docker.txt describes a table. VERSION is that of
the engine, for lines behind "since VERSION". $BATTERY_DIRECTORIES lists directories where nothing may keep the name of
a container that has ended."""
import concurrent.futures
import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile
import time

VERDICTS = ("allowed", "refused", "engine", "never", "host")
OURS = re.compile(r"flatbed: ")
RAN = "battery-ran"
PROBE = ["sh", "-c", os.environ.get("PROBE", "")]


class Variant:
    def __init__(self, place, verdict, arguments, text):
        self.place, self.verdict, self.arguments, self.text = place, verdict, arguments, text
        self.status, self.output, self.seconds, self.id = None, "", 0, ""

    def words(self):
        words = [os.path.expandvars(word) for word in shlex.split(self.arguments)]
        at = words.index("--") if "--" in words else len(words)
        return words[:at], words[at + 1:] or [os.environ["FB_IMAGE"]] + PROBE

    def run(self, command, directory):
        """Runs it; once more if all output is lost, as happens to dockerd under load."""
        self.run_once(command, directory)
        if self.status == 0 and not self.output:
            self.run_once(command, directory)
        return self

    def run_once(self, command, directory):
        id_file = pathlib.Path(directory, str(self.place))
        id_file.unlink(missing_ok=True)
        arguments, after = self.words()
        parts = {"{id}": [str(id_file)], "{arguments}": arguments, "{after}": after, "{probe}": PROBE}
        words = [word for part in command for word in parts.get(part, [part])]
        start = time.monotonic()
        try:
            done = subprocess.run(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                  timeout=120, check=False)
            self.status, self.output = done.returncode, done.stdout.decode(errors="replace")
        except subprocess.TimeoutExpired as late:
            self.output = (late.stdout or b"").decode(errors="replace") + "\n(no end after 120 s)"
        self.seconds = time.monotonic() - start
        if id_file.exists():
            self.id = id_file.read_text().strip()

    def came(self):
        """Returns the verdict that came."""
        if OURS.search(self.output):
            return "refused"
        return "allowed" if self.status == 0 and RAN in self.output else "engine"

    def fits(self):
        came, ran = self.came(), RAN in self.output
        if self.verdict == "host":
            return came != "refused"
        if self.verdict == "never":
            return came != "allowed" and not ran and self.status != 0
        return (came == self.verdict and ran == (came == "allowed") and
                (came == "allowed") == (self.status == 0) and self.text.lower() in self.output.lower())


def read(path, version):
    """Returns the variants of the table that this version of the engine has."""
    variants, since = [], 0
    with open(path) as table:
        for number, line in enumerate(table, 1):
            line = line.strip()
            if not line or line.startswith("#"):
                continue
            if line.startswith("since "):
                since = int(line.split()[1])
                continue
            verdict, arguments, text = (re.split(r"\s{2,}", line) + ["", ""])[:3]
            if verdict not in VERDICTS or len(re.split(r"\s{2,}", line)) > 3 or (not text and verdict not in ("never", "host")):
                sys.exit(f"{path}:{number}: {line}?")
            if version >= since:
                variants.append(Variant(number, verdict, arguments, text))
    return variants


def left(variants):
    """Returns a line for each file that has the ID of an ended container, after ten seconds for slow engines."""
    directories = os.environ.get("BATTERY_DIRECTORIES", "").split()
    by_id = {variant.id: variant for variant in variants if variant.id}
    for _ in range(20):
        found = [(by_id[name], os.path.join(path, name))
                 for directory in directories for path, below, files in os.walk(directory)
                 for name in below + files if name in by_id]
        if not found:
            break
        time.sleep(0.5)
    return [f"{variant.place}: {variant.arguments}\n    left {path}" for variant, path in found]


def report(variants, files, name, seconds):
    wrong = [variant for variant in variants if not variant.fits()]
    for variant in wrong:
        lines = variant.output.strip().splitlines()
        print(f"{name}:{variant.place}: {variant.arguments}\n    expected: {variant.verdict}, {variant.text}\n"
              f"    came:     {variant.came()}, status {variant.status}")
        print("".join(f"        {line[:600]}\n" for line in lines[:60] if line), end="")
    for line in files:
        print(f"{name}:{line}")
    counts = ", ".join(f"{sum(v.verdict == verdict for v in variants)} {verdict}" for verdict in VERDICTS)
    print(f"{name}: {len(variants)} variants in {seconds:.0f} s ({counts}); {len(wrong)} wrong, {len(files)} files left")
    return not wrong and not files


def main(table, version, parallel, *command):
    variants = read(table, int(version))
    start = time.monotonic()
    with tempfile.TemporaryDirectory() as directory, \
            concurrent.futures.ThreadPoolExecutor(int(parallel)) as pool:
        os.chmod(directory, 0o1777)  # an engine without root writes its IDs there
        list(pool.map(lambda variant: variant.run(command, directory), variants))
    ok = report(variants, left(variants), os.path.basename(table), time.monotonic() - start)
    sys.exit(0 if ok else 1)


main(*sys.argv[1:])
