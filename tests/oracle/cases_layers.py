"""Cases about layers over layers: whiteouts, opaque markers, changes of type,
implied parents."""
from case import Either, Group, Same
from tarball import d, f, fifo, h, opq, s, wh

A_OLD = [d("a"), f("a/old", "old"), d("a/sub"), f("a/sub/deep", "deep")]

g = Group("Whiteouts")
g("plain-one-layer", [d("a"), f("a/x", "1"), s("l", "a/x"), h("a/y", "a/x")])
g("plain-two-layers", [f("x", "1"), f("y", "1")], [f("y", "2"), f("z", "2")])
g("whiteout-file", [f("x", "1"), f("y", "1")], [wh("x")])
g("whiteout-dir", A_OLD + [f("k", "1")], [wh("a")])
g("whiteout-file-in-dir", A_OLD, [d("a"), wh("a/old")])
g("whiteout-nested-dir", A_OLD, [d("a"), wh("a/sub")])
g("whiteout-symlink-not-target", [f("x", "1"), s("l", "x")], [wh("l")])
g("whiteout-nothing", [f("x", "1")], [wh("nope")])
g("whiteout-nothing-in-dir", A_OLD, [d("a"), wh("a/nope")])
g("whiteout-below-nothing", [f("x", "1")], [wh("no/such/nope")])
g("whiteout-in-first-layer", [wh("x"), f("y", "1")])
g("whiteout-then-again", [f("x", "1")], [wh("x")], [f("x", "3")])
g("whiteout-twice", [f("x", "1"), f("y", "1")], [wh("x")], [wh("x")])
g("whiteout-dir-then-again", A_OLD, [wh("a")], [d("a"), f("a/new", "3")])
g("whiteout-implied-dir-exists", [d("d", mode=0o700, uid=7, gid=8), f("d/x", "1"),
                                  f("d/y", "1")], [wh("d/x")],
  overlay=("storage", "containerd"))
g("whiteout-implied-dir-missing", [f("k", "1")], [wh("d/x")])
g("whiteout-with-content", [f("x", "1")], [f(".wh.x", "payload")])
g("whiteout-is-dir", [f("x", "1"), f("y", "1")], [d(".wh.x")])
g("whiteout-is-symlink", [f("x", "1"), f("y", "1")], [s(".wh.x", "y")])
g("whiteout-below-lower-file", [f("x", "1")], [wh("x/y")])
g("whiteout-through-lower-symlink", [d("a"), f("a/x", "1"), s("l", "a")], [wh("l/x")])
g("whiteout-of-whiteout", [f("x", "1")], [wh("x"), wh(".wh.x")])
g("whiteout-inside-hidden-dir", A_OLD, [wh("a"), wh("a/old")])
g("whiteout-inside-dir-hidden-after", A_OLD, [wh("a/old"), wh("a")],
  overlay=Either([A_OLD, [wh("a")]]))
g("name-with-wh-inside", [f("a.wh.b", "1"), f("x.wh.", "1"), f("wh.x", "1")])
g("only-whiteouts", [f("x", "1")], [wh("x")])

g = Group("A whiteout and the same path in one layer")


def kept(low, brought):
    """If the engines refuse: an error, or the layer's own entries stay and
    the entries below are hidden (the specification) or merged."""
    return Either([low, [wh("a")], brought], [low, brought])


DIR_NEW = [d("a"), f("a/new", "new")]
FILE_OLD, FILE_NEW = [f("a", "old", mode=0o600)], [f("a", "new")]
g("wh-dir-then-dir-new", A_OLD, [wh("a"), d("a"), f("a/new", "new")])
g("dir-new-then-wh-dir", A_OLD, DIR_NEW + [wh("a")], overlay=kept(A_OLD, DIR_NEW))
g("wh-dir-then-implied-new", A_OLD, [wh("a"), f("a/new", "new")],
  overlay=kept(A_OLD, [f("a/new", "new")]))
g("implied-new-then-wh-dir", A_OLD, [f("a/new", "new"), wh("a")],
  overlay=kept(A_OLD, [f("a/new", "new")]))
g("wh-file-then-file", FILE_OLD, [wh("a")] + FILE_NEW)
g("file-then-wh-file", FILE_OLD, FILE_NEW + [wh("a")], overlay=kept(FILE_OLD, FILE_NEW))
g("wh-file-then-dir", [f("a", "old")], [wh("a"), d("a"), f("a/new", "new")])
g("dir-then-wh-file", FILE_OLD, DIR_NEW + [wh("a")], overlay=kept(FILE_OLD, DIR_NEW))
g("wh-dir-then-file", A_OLD, [wh("a"), f("a", "new")])
g("file-then-wh-dir", A_OLD, FILE_NEW + [wh("a")], overlay=kept(A_OLD, FILE_NEW))
g("wh-dir-then-symlink", A_OLD + [d("b")], [wh("a"), s("a", "b")])
g("symlink-then-wh-dir", A_OLD + [d("b")], [s("a", "b"), wh("a")],
  overlay=kept(A_OLD + [d("b")], [s("a", "b")]))
g("wh-subdir-then-subdir", A_OLD, [d("a"), wh("a/sub"), d("a/sub"), f("a/sub/n", "n")])
g("wh-nothing-then-file", [f("k", "1")], [wh("a"), f("a", "new")])
g("file-then-wh-nothing", [f("k", "1")], FILE_NEW + [wh("a")], overlay=kept([f("k", "1")], FILE_NEW))
g("wh-and-file-far-apart", [f("a", "old")], [f("b", "1"), wh("a"), f("c", "1"), f("a", "new")])
g("wh-dir-same-layer-only", DIR_NEW + [wh("a")], overlay=Either([DIR_NEW]))

g = Group("Opaque directories")
g("opaque-first", A_OLD, [d("a"), opq("a"), f("a/new", "new")])
g("opaque-last", A_OLD, [d("a"), f("a/new", "new"), opq("a")])
g("opaque-middle", A_OLD, [d("a"), f("a/m", "m"), opq("a"), f("a/new", "new")])
g("opaque-before-dir", A_OLD, [opq("a"), d("a", mode=0o700), f("a/new", "new")])
g("opaque-implied-dir", A_OLD, [opq("a"), f("a/new", "new")])
g("opaque-alone", A_OLD, [d("a"), opq("a")])
g("opaque-keeps-own-subdir", A_OLD, [d("a"), d("a/sub"), f("a/sub/n", "n"), opq("a")])
g("opaque-subdir-entry-after", A_OLD, [opq("a"), d("a/sub"), f("a/sub/n", "n")])
g("opaque-nested", A_OLD, [d("a"), d("a/sub"), opq("a/sub"), f("a/sub/n", "n")])
g("opaque-and-whiteout", A_OLD, [d("a"), opq("a"), wh("a/old"), f("a/new", "new")])
g("opaque-then-same-name", A_OLD, [d("a"), opq("a"), f("a/old", "again")])
g("opaque-same-name-then-marker", A_OLD, [d("a"), f("a/old", "again"), opq("a")])
g("opaque-at-root", A_OLD + [f("k", "1")], [opq(), f("new", "new")])
g("opaque-at-root-last", A_OLD + [f("k", "1")], [f("new", "new"), opq()])
g("opaque-on-missing-dir", [f("k", "1")], [opq("d"), f("d/x", "1")])
g("opaque-over-lower-file", [f("a", "1")], [d("a"), opq("a"), f("a/x", "1")])
g("opaque-two-layers", A_OLD, [d("a"), opq("a"), f("a/2", "2")],
  [d("a"), opq("a"), f("a/3", "3")])
g("opaque-then-merge-above", A_OLD, [d("a"), opq("a"), f("a/2", "2")], [f("a/3", "3")])
g("opaque-in-first-layer", [d("a"), opq("a"), f("a/x", "1")])
g("opaque-through-lower-symlink", [d("b"), f("b/x", "1"), s("a", "b")],
  [opq("a"), f("a/new", "n")])

g = Group("Changes of type")
DIR = [d("a"), f("a/x", "x"), d("a/s"), f("a/s/y", "y")]
g("file-to-dir", [f("a", "1")], DIR)
g("dir-to-file", DIR, [f("a", "2")])
g("dir-to-symlink", DIR + [d("b")], [s("a", "b")])
g("dir-to-fifo", DIR, [fifo("a")])
g("symlink-to-dir", [d("b"), f("b/k", "1"), s("a", "b")], [d("a"), f("a/n", "n")])
g("symlink-to-file", [f("b", "1"), s("a", "b")], [f("a", "n")])
g("dangling-symlink-to-dir", [s("a", "nowhere")], [d("a"), f("a/n", "n")])
g("symlink-to-symlink", [f("b", "1"), s("a", "b")], [s("a", "c")])
g("file-dir-file-dir", [f("a", "1")], DIR, [f("a", "3")], [d("a"), f("a/z", "4")])
g("dir-file-dir", DIR, [f("a", "2")], [d("a"), f("a/n", "3")])
g("dir-file-implied-dir", DIR, [f("a", "2")], [f("a/n", "3")], spec=Same([[f("a/n", "3")]]))
g("dir-symlink-dir", DIR + [d("b"), f("b/k", "1")], [s("a", "b")], [d("a"), f("a/n", "3")])
g("dir-whiteout-dir", DIR, [wh("a")], [d("a"), f("a/n", "3")])
g("dir-whiteout-implied-dir", DIR, [wh("a")], [f("a/n", "3")])
g("dir-whiteout-file-dir", DIR, [wh("a")], [f("a", "3")], [d("a")])
g("dir-to-file-to-gone", DIR, [f("a", "2")], [wh("a")])
g("implied-dir-over-lower-file", [f("a", "1"), f("k", "1")], [f("a/n", "2")],
  spec=Same([[f("k", "1"), f("a/n", "2")]]))
g("implied-dirs-over-lower-file", [f("a", "1")], [f("a/b/c/n", "2")],
  spec=Same([[f("a/b/c/n", "2")]]))
g("subdir-to-file", DIR, [d("a"), f("a/s", "2")])
g("subdir-to-file-implied", DIR, [f("a/s", "2")])
g("file-over-file-attributes", [f("a", "1", mode=0o4755, uid=3, xattrs={"user.x": b"1"})],
  [f("a", "2", mode=0o640, gid=4)])

g = Group("Directories over directories")
g("dir-over-dir", [d("a", mode=0o700, uid=1), f("a/x", "1")],
  [d("a", mode=0o1777, gid=2, mtime=10**18)])
g("dir-over-dir-drops-xattrs", [d("a", xattrs={"user.low": b"1", "user.both": b"1"})],
  [d("a", xattrs={"user.both": b"2"})])
g("dir-over-dir-entry-after-children", [d("a"), f("a/x", "1")], [f("a/y", "2"), d("a", mode=0o711)])
g("entry-after-children", [f("a/y", "2"), d("a", mode=0o711, mtime=10**18)])
g("readonly-dir-with-children", [d("a", mode=0o555), f("a/x", "1")], [d("a", mode=0o0), f("a/y", "2")])

g = Group("Implied parents")
BOTH = ("storage", "containerd")
g("implied-nothing-below", [f("p/q/x", "1")])
g("implied-over-0700", [d("d", mode=0o700, uid=7, gid=8), f("d/x", "1")], [f("d/y", "2")],
  overlay=BOTH)
g("implied-over-1777", [d("tmp", mode=0o1777), f("tmp/x", "1")], [f("tmp/y", "2")], overlay=BOTH)
g("implied-over-xattr", [d("d", xattrs={"user.x": b"1"})], [f("d/y", "2")], overlay=BOTH)
g("implied-two-levels", [d("d", mode=0o700), d("d/e", mode=0o711, gid=3)], [f("d/e/y", "2")],
  overlay=BOTH)
g("implied-in-the-middle", [d("d", mode=0o700)], [d("d", mode=0o710), f("d/e/y", "2")])
g("implied-then-explicit-above", [d("d", mode=0o700)], [f("d/y", "2")], [d("d", mode=0o711)])
g("implied-twice", [d("d", mode=0o700)], [f("d/y", "2")], [f("d/z", "3")], overlay=BOTH)
g("implied-by-subdir", [d("d", mode=0o700)], [d("d/e")], overlay=BOTH)
g("implied-by-symlink", [d("d", mode=0o700)], [s("d/l", "x")], overlay=BOTH)
g("implied-over-setgid", [d("d", mode=0o2755, gid=9)], [f("d/y", "2")], overlay=BOTH)
g("implied-file-replaced", [d("d", mode=0o700), f("d/y", "1")], [f("d/y", "2")], overlay=BOTH)
g("implied-over-symlink-to-dir", [d("t"), s("d", "t")], [f("d/e/y", "2")])

g = Group("Stacks")
g("empty-layer-only", [])
g("empty-layers-around", [], [f("x", "1")], [], [f("y", "2")], [])
g("layer-twice", [d("a"), f("a/x", "1")], [wh("a")], [d("a"), f("a/x", "1")])
g("layer-twice-adjacent", [d("a"), f("a/x", "1")], [d("a"), f("a/x", "1")])
g("whiteout-layer-twice", [f("x", "1")], [wh("x")], [f("x", "2")], [wh("x")])
g("layers-126", *[[d("a"), f("a/%d" % i, str(i)), f("a/top", str(i))] +
                  ([wh("a/%d" % (i - 2))] if i % 5 == 2 else []) for i in range(126)],
  overlay=("storage",), note="moby's limit is 125")
