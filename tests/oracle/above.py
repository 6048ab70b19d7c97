"""Random stacks whose oldest layers are kept: `flatten squash --keep-base --into`.

The kernel's overlay shows kept and merged layers as it shows the originals, and umoci
does, too, if it agrees with the overlay on the kept ones. The merged layer
has no whiteout without a target.
"""
import os
import random
import shutil

import engines
import images
import published
import stacks
import trees


def whiteouts_of(entries):
    """(paths hidden by whiteouts, directories with an opaque marker, all other paths)"""
    hidden, opaque, names = set(), set(), set()
    for entry in entries:
        parent, base = os.path.split(entry.name.strip(b"/"))
        if base == b".wh..wh..opq":
            opaque.add(parent)
        elif base.startswith(b".wh."):
            hidden.add(os.path.join(parent, base[4:]))
        else:
            names.add(entry.name.strip(b"/"))
    return hidden, opaque, names


def check_whiteouts(entries, kept):
    """Checks that each whiteout and marker hides a path of the tree `kept`, and occurs once."""
    hidden, opaque, names = whiteouts_of(entries)
    kept = {os.path.normpath(path) for path in kept}
    lines = ["whiteout of %r hides nothing" % path for path in sorted(hidden - kept)]
    lines += ["whiteout of %r, which the layer has" % path for path in sorted(hidden & names)]
    for path in sorted(opaque):
        below = {p for p in kept if os.path.dirname(p) == path}
        if len(below - names) < 2:
            lines.append("opaque marker in %r hides %d names" % (path, len(below - names)))
        if not path or path not in names:
            lines.append("opaque marker in %r, which the layer does not have" % path)
    return lines


class AboveTest(stacks.RandomTest):
    def __init__(self, args, work, helpers):
        super().__init__(args, work, helpers)
        self.umoci = engines.Umoci(work)

    def one(self, number):
        rng = random.Random("%d/%d/above" % (self.args.seed, number))
        layers = stacks.Stack(random.Random("%d/%d" % (self.args.seed, number))).layers()
        kept, into = rng.randint(0, len(layers)), rng.choice((1, 1, 2, 3))
        semantics = rng.choice(("overlay", "overlay", "spec"))
        before = images.tars_of(layers)
        source, config = self.write_source(self.work, before, number)
        result = self.result(self.args.flatten, self.work, source, semantics,
                             "docker-archive" if number % 4 == 3 else "oci",
                             ("--keep-base=%d" % kept, "--into=%d" % into, "--verify"))
        try:
            lines = self.judge(result, layers, before, config, (kept, into), semantics)
        finally:
            shutil.rmtree(result.home)
            stacks.remove(source)
        if lines:
            lines = lines + ["%d kept, into %d, %s" % (kept, into, semantics)] + stacks.described(layers)
        return lines

    def judge(self, result, layers, before, config, numbers, semantics):
        kept, into = numbers
        if result.done.returncode:
            return self.refused(result, layers, semantics)
        after, tars, lines = result.read()
        lines += published.check_config(config, after, tars)
        if tars[:kept] != before[:kept] or len(tars) > kept + into:
            return lines + ["the kept layers are not the image's oldest"]
        above = [stacks.parse_layer(tar) for tar in tars[kept:]]
        for number, (tar, entries) in enumerate(zip(tars[kept:], above)):
            lines += published.check_layer(tar, whiteouts=kept + number > 0)
            if not entries and kept + number > 0:
                lines.append("an empty layer")
        if lines:
            return lines
        if semantics == "spec":
            return self.by_spec(layers, layers[:kept] + above)
        return self.by_overlay(layers, kept, above)

    def refused(self, result, layers, semantics):
        try:
            if semantics == "spec":
                self.umoci.unpack(layers)
        except engines.Refused:
            return []
        return ["refused: " + result.message[:500]]

    def by_spec(self, layers, after):
        try:
            wanted = self.umoci.unpack(layers, self.newer)
        except engines.Refused:
            return []
        return trees.diff(wanted, self.umoci.unpack(after, self.newer), ignore_root=True)

    def by_overlay(self, layers, kept, above):
        lines = []
        for number, entries in enumerate(above):
            below = layers[:kept] + above[:number]
            base = stacks.overlay_tree(self.work, below, self.newer) if below else {}
            lines += check_whiteouts(entries, base)
        got = stacks.overlay_tree(self.work, layers[:kept] + above, self.newer)
        wanted = stacks.overlay_tree(self.work, layers, self.newer)
        lines += trees.diff(wanted, got, ignore_root=True)
        if not kept:
            return lines
        try:
            base = stacks.overlay_tree(self.work, layers[:kept], self.newer)
            if trees.diff(base, self.umoci.unpack(layers[:kept], self.newer), ignore_root=True):
                return lines
        except engines.Refused:
            return lines
        seen = self.umoci.unpack(layers[:kept] + above, self.newer)
        return lines + ["umoci: " + line for line in trees.diff(wanted, seen, ignore_root=True)]
