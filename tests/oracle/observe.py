#!/usr/bin/env python3
"""Runs every engine on every case and writes OBSERVED.md."""
import os
import sys
import time

import case
import daemons
import engines
import run
import tarball
import trees

HERE = os.path.dirname(os.path.abspath(__file__))
HEAD = """# Results of the engines

Made by `tests/oracle/observe.py` (as root): every engine unpacks every case; trees of overlay engines are
read through the kernel's overlay. `now`: the engine left the time of unpacking. Attributes are shown
unless they are 0644 or 0755, owned by root, and the usual mtime of the cases. The root directory is left
out if no layer has an entry for it. Versions: {versions}.

"""


def versions():
    found = []
    for args in (["umoci", "--version"], ["skopeo", "--version"], ["dockerd", "--version"],
                 ["containerd", "--version"], ["uname", "-r"]):
        words = engines.run(args).stdout.split("\n")[0].split(",")[0].split()
        found.append(" ".join(words[:1] + words[-1:] if len(words) > 1 else ["Linux"] + words))
    return ", ".join(found)


def outcome(engine, layers, newer):
    """The text of one cell of the table."""
    try:
        tree = engine.unpack(layers, newer)
    except engines.Refused as refusal:
        return "**refused**: " + str(refusal)
    return trees.brief(tree, tarball.T0, run.has_root_entry(layers))


def grouped(results):
    """Equal outcomes share a line."""
    lines = {}
    for name, text in results:
        lines.setdefault(text, []).append(name)
    return [(", ".join(names), text) for text, names in lines.items()]


def markdown(text):
    return text.replace("|", "\\|").replace("\n", "\\n").replace("<", "&lt;")


def main():
    work, newer = engines.Workspace(), time.time_ns() - 10**9
    makers = (engines.Umoci, engines.Storage, daemons.Docker, daemons.Containerd)
    table = [make(work) for make in makers]
    wanted, group = sys.argv[1:], None
    out = sys.stdout if wanted else open(os.path.join(HERE, "OBSERVED.md"), "w")
    try:
        out.write(HEAD.format(versions=versions()).rstrip("\n") + "\n")
        for one in case.load():
            if wanted and not any(w in one.name for w in wanted):
                continue
            if one.group != group:
                group = one.group
                out.write("\n## %s\n\n| case | engine | result |\n|---|---|---|\n" % group)
            results = [(e.name, outcome(e, one.layers, newer)) for e in table]
            for i, (names, text) in enumerate(grouped(results)):
                title = one.name if i == 0 else ""
                out.write("| %s | %s | %s |\n" % (title, names, markdown(text)))
            out.flush()
        return 0
    finally:
        for engine in table:
            engine.close()
        work.close()


if __name__ == "__main__":
    sys.exit(main())
