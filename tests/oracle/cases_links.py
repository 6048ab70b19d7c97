"""Cases about hardlinks, symlinks and duplicates."""
from case import CONTAINERD, Either, Group, Same
from tarball import d, f, fifo, h, opq, s, wh

g = Group("Hardlinks in one layer")
PAIR = [f("a", "old", mode=0o640), h("b", "a", mode=0o640)]
THREE = PAIR + [h("c", "a", mode=0o640)]
g("link-pair", PAIR)
g("link-three", THREE)
g("link-chain", PAIR + [h("c", "b", mode=0o640)])
g("link-target-replaced", PAIR, [f("a", "new")])
g("link-target-deleted", PAIR, [wh("a")])
g("link-link-deleted", PAIR, [wh("b")])
g("link-link-replaced", PAIR, [f("b", "new")])
g("link-both-replaced", PAIR, [f("a", "new"), f("b", "new2")])
g("link-both-replaced-by-pair", PAIR, [f("a", "new"), h("b", "a")])
g("link-three-first-replaced", THREE, [f("a", "new")])
g("link-three-first-deleted", THREE, [wh("a")])
g("link-three-two-deleted", THREE, [wh("a"), wh("b")])
g("link-chain-first-deleted", PAIR + [h("c", "b", mode=0o640)], [wh("a")])
g("link-chain-middle-deleted", PAIR + [h("c", "b", mode=0o640)], [wh("b")])
g("link-target-replaced-twice", PAIR, [f("a", "new")], [f("a", "newer")])
g("link-target-to-dir", PAIR, [d("a"), f("a/x", "1")])
g("link-target-dir-deleted", [d("d"), f("d/a", "old"), h("b", "d/a")], [wh("d")])
g("link-target-dir-opaque", [d("d"), f("d/a", "old"), h("b", "d/a")],
  [d("d"), opq("d"), f("d/n", "n")])
g("link-target-dir-to-file", [d("d"), f("d/a", "old"), h("b", "d/a")], [f("d", "n")])
g("link-survivor-in-later-dir", [f("a", "old"), d("z"), d("z/y"), h("z/y/l", "a")], [wh("a")])
g("link-survivors-order", [f("a", "old"), h("z", "a"), h("b", "a")], [wh("a")])
g("link-to-symlink", [f("t", "1"), s("a", "t"), h("b", "a", mode=0o777)])
g("link-to-symlink-target-deleted", [f("t", "1"), s("a", "t"), h("b", "a", mode=0o777)], [wh("a")])
g("link-to-fifo", [fifo("a"), h("b", "a", mode=0o600)])
g("link-to-empty-file", [f("a", ""), h("b", "a")], [wh("a")])
g("link-attributes-differ", [f("a", "1", mode=0o600, uid=1, gid=1),
                             h("b", "a", mode=0o4755, uid=2, gid=3, mtime=10**18)])
g("link-attributes-differ-hidden", [f("a", "1", mode=0o600, uid=1, gid=1),
                                    h("b", "a", mode=0o755, uid=2, mtime=10**18)], [wh("a")])
g("link-attributes-chain", [f("a", "1", mode=0o600), h("b", "a", mode=0o640),
                            h("c", "a", mode=0o644)], [wh("c")])
g("link-xattrs-differ", [f("a", "1", xattrs={"user.a": b"1"}),
                         h("b", "a", xattrs={"user.b": b"2"})])
g("link-of-capability", [f("a", "1", mode=0o755, xattrs={
    "security.capability": b"\1\0\0\2\0\x20\0\0\0\0\0\0\0\0\0\0\0\0\0\0"}),
    h("b", "a", mode=0o755)], note="chown of the link clears the capability in some engines")
g("link-of-setuid", [f("a", "1", mode=0o4755), h("b", "a", mode=0o4755)])
g("link-with-data", [f("a", "1"), h("b", "a", data=b"1")],
  overlay=Either([[f("a", "1"), h("b", "a")]]), spec=Either([[f("a", "1"), h("b", "a")]]))
g("link-absolute-target", [d("d"), f("d/a", "1"), h("b", "/d/a")])
g("link-dot-target", [d("d"), f("d/a", "1"), h("b", "./d/a")])
g("link-unclean-target", [d("d"), f("d/a", "1"), h("b", "d//./a")])
g("link-before-target", [h("b", "a"), f("a", "1")],
  overlay=Either([[f("a", "1"), h("b", "a")]]), spec=Either([[f("a", "1"), h("b", "a")]]))
g("link-dangling", [f("x", "1"), h("b", "nope")], overlay="refuse", spec="refuse")
g("link-to-dir", [d("a"), h("b", "a")], overlay="refuse", spec="refuse")
g("link-to-itself", [f("x", "1"), h("a", "a")], overlay="refuse", spec="refuse")
g("link-in-both-layers", PAIR, [f("a", "new"), h("b", "a")], [wh("a")])

g = Group("Hardlinks to lower layers")
g("cross-link", [f("a", "old", mode=0o640)], [h("b", "a", mode=0o640)],
  overlay=Same([PAIR]), spec=Same([PAIR]))
g("cross-link-target-replaced-above", [f("a", "old", mode=0o640)], [h("b", "a", mode=0o640)],
  [f("a", "new")], overlay=Same([PAIR, [f("a", "new")]]), spec=Same([PAIR, [f("a", "new")]]))
g("cross-link-target-deleted-same-layer", [f("a", "old")], [h("b", "a"), wh("a")],
  overlay=Either([[f("b", "old")]]))
g("cross-link-deleted-then-linked", [f("a", "old")], [wh("a"), h("b", "a")],
  overlay=Either([[f("b", "old")]], [[]]), spec=Either([[f("b", "old")]]),
  note="the overlay engines make b a second link of the whiteout device")
g("cross-link-to-deleted", [f("a", "old")], [wh("a")], [h("b", "a")],
  overlay="refuse", spec="refuse")
g("cross-link-to-lower-group", PAIR, [h("c", "b", mode=0o640)],
  overlay=Same([THREE]), spec=Same([THREE]))
g("cross-link-twice", [f("a", "old", mode=0o640)],
  [h("b", "a", mode=0o640), h("c", "b", mode=0o640)], overlay=Same([THREE]), spec=Same([THREE]))

g = Group("Symlinks and what is below them")
USR = [d("usr"), d("usr/lib"), f("usr/lib/old", "1"), s("lib", "usr/lib")]
g("below-lower-symlink-implied", USR, [f("lib/foo", "2")])
g("below-lower-symlink-explicit", USR, [d("lib"), f("lib/foo", "2")])
g("below-lower-symlink-explicit-after", USR, [f("lib/foo", "2"), d("lib")])
g("dir-over-lower-symlink-alone", USR, [d("lib", mode=0o711)])
g("below-lower-symlink-deep", USR, [f("lib/a/b/foo", "2")])
g("below-lower-absolute-symlink", [d("usr"), s("lib", "/usr")], [f("lib/foo", "2")])
g("below-lower-symlink-to-file", [f("t", "1"), s("lib", "t")], [f("lib/foo", "2")],
  spec=Either([[f("t", "1"), f("lib/foo", "2")]]))
g("below-lower-dangling-symlink", [s("lib", "nowhere")], [f("lib/foo", "2")])
g("below-lower-symlink-chain", [d("t"), s("m", "t"), s("lib", "m")], [f("lib/foo", "2")])
g("below-lower-symlink-two-layers", USR, [f("lib/foo", "2")], [f("lib/bar", "3")])
g("below-lower-symlink-target-deleted", USR, [wh("usr"), f("lib/foo", "2")])
g("below-same-layer-symlink-before", USR[:3] + [s("lib", "usr/lib"), f("lib/foo", "2")],
  note="every engine follows it: within a layer a symlink is real")
g("below-same-layer-symlink-after", USR[:3] + [f("lib/foo", "2"), s("lib", "usr/lib")])
g("dir-over-same-layer-symlink", USR + [d("lib", mode=0o711), f("lib/foo", "2")],
  overlay=(CONTAINERD,))
g("below-same-layer-symlink-out-of-layer", [d("usr"), f("usr/x", "1")],
  [s("lib", "usr"), f("lib/foo", "2")], overlay=Either([[d("usr"), f("usr/x", "1")],
                                                         [s("lib", "usr"), f("usr/foo", "2")]]))
g("symlink-over-lower-symlink-same", USR, [s("lib", "usr/lib", mtime=10**18)])
g("symlink-absolute-target", [s("l", "/etc/passwd"), s("m", "/../../x")])
g("symlink-loop", [s("a", "b"), s("b", "a"), s("self", "self")])
g("below-symlink-loop", [s("a", "b"), s("b", "a")], [f("a/x", "1")],
  overlay=("storage",), spec=Either([[d("a"), f("a/x", "1"), s("b", "a")]]))
g("link-through-lower-symlink", USR, [f("x", "1"), h("lib/foo", "x")])
g("link-target-through-symlink", USR + [h("b", "lib/old")])

g = Group("One path twice in a layer")
LAST = {"overlay": (CONTAINERD,)}  # the last wins; moby and containers/storage refuse
g("dup-file-file", [f("a", "1", mode=0o600, xattrs={"user.x": b"1"}), f("a", "2")], **LAST)
g("dup-file-file-apart", [f("a", "1"), f("b", "1"), f("a", "22")], **LAST)
g("dup-file-over-lower", [f("a", "0")], [f("a", "1"), f("a", "2")], **LAST)
g("dup-dir-dir", [d("a", mode=0o700), f("a/x", "1"), d("a", mode=0o711)], **LAST)
g("dup-dir-dir-xattrs", [d("a", xattrs={"user.low": b"1", "user.both": b"1"}),
                         d("a", xattrs={"user.both": b"2"})], overlay=(CONTAINERD, "umoci"))
g("dup-dir-dir-over-lower", [d("a"), f("a/x", "0")],
  [d("a", mode=0o700), f("a/y", "1"), d("a", mode=0o711)], **LAST)
g("dup-file-dir", [f("a", "1"), d("a"), f("a/x", "1")], **LAST)
g("dup-dir-file", [d("a"), f("a/x", "1"), f("a", "2")], **LAST)
g("dup-dir-symlink", [d("t"), d("a"), f("a/x", "1"), s("a", "t")], **LAST)
g("dup-symlink-file", [f("t", "1"), s("a", "t"), f("a", "2")], **LAST)
g("dup-symlink-symlink", [s("a", "1"), s("a", "2")], **LAST)
g("dup-dot-slash", [d("etc"), f("etc/x", "1"), f("./etc/x", "2")], **LAST)
g("dup-absolute", [d("etc"), f("etc/x", "1"), f("/etc/x", "2")], **LAST)
g("dup-double-slash", [d("etc"), f("etc/x", "1"), f("etc//x", "2")], **LAST)
g("dup-dir-no-slash", [d("etc", mode=0o700), f("etc/x", "1"), d("./etc", mode=0o711)], **LAST)
g("dup-link-target-rewritten", [f("a", "1"), h("b", "a"), f("a", "2")], **LAST)
g("dup-link-rewritten", [f("a", "1"), h("b", "a"), f("b", "2")], **LAST)
g("dup-link-twice", [f("a", "1"), h("b", "a"), h("b", "a")], **LAST)
g("dup-link-moved", [f("a", "1"), f("c", "3"), h("b", "a"), h("b", "c")], **LAST)
g("dup-file-then-link", [f("a", "1"), f("b", "2"), h("b", "a")], **LAST)
g("dup-target-then-deleted", [f("a", "1"), h("b", "a"), f("a", "2")], [wh("a")], **LAST)
g("dup-whiteout", [f("a", "1"), f("b", "1")], [wh("a"), wh("a")],
  overlay=Either([[f("b", "1")]]))
g("dup-opaque", [d("a"), f("a/x", "1")], [d("a"), opq("a"), opq("a"), f("a/y", "1")], **LAST)
