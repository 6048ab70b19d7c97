"""Cases about names: spellings, names that leave the root, odd bytes."""
from case import Either, Group, REFUSE, UNJUDGED
from tarball import DIR, Entry, d, f, h, opq, s, wh

g = Group("Spellings of a name")
g("root-entry", [d("./", mode=0o711, uid=3, gid=4, mtime=10**18), f("x", "1")])
g("root-entry-upper", [d("./", mode=0o711)], [d("./", mode=0o700, uid=5), f("x", "1")])
g("root-entry-upper-none", [d("./", mode=0o711)], [f("x", "1")])
g("root-entry-slash", [d("/", mode=0o711), f("x", "1")])
g("root-entry-dot", [d(".", mode=0o711), f("x", "1")])
g("root-xattr", [d("./", xattrs={"user.x": b"1"}), f("x", "1")])
g("root-is-file", [f(".", "1"), f("x", "1")], overlay=Either([[f("x", "1")]]),
  spec=Either([[f("x", "1")]]))
g("dot-slash-names", [d("./"), d("./etc"), f("./etc/x", "1")], [wh("./etc/x")])
g("dot-slash-upper", [d("etc"), f("etc/x", "1")], [f("./etc/x", "2")])
g("dot-slash-lower", [d("./etc"), f("./etc/x", "1")], [f("etc/x", "2"), wh("etc/y")])
g("absolute-names", [d("/etc"), f("/etc/x", "1")], [f("etc/x", "2")])
g("absolute-whiteout", [d("etc"), f("etc/x", "1"), f("k", "1")], [wh("/etc/x")])
g("double-slash-upper", [d("etc"), f("etc/x", "1")], [f("etc//x", "2")])
g("dots-inside", [d("etc"), f("etc/x", "1")], [f("etc/./x", "2"), f("etc/../y", "3")])
g("dotdot-over-other", [d("a"), f("b", "1")], [f("a/../b", "2")])
g("dotdot-whiteout", [d("a"), f("b", "1")], [wh("a/../b")])
g("dotdot-implied", [f("b/k", "1")], [f("a/../b/x", "2")])
g("opaque-dot-slash", [d("a"), f("a/x", "1")], [d("./a"), opq("./a"), f("./a/y", "2")])
g("file-with-slash", [f("x/", "")], note="type 0: Go says a file, libarchive a directory")
g("v7-dir-with-slash", [Entry(b"x/", b"\0", mode=0o755, mtime=10**18, version=b"\0" * 8), f("x/y", "1")],
  note="how a tar of 1979 says a directory")
g("dir-without-slash", [Entry(b"x", DIR, mode=0o755), f("x/y", "1")])

g = Group("Names that leave the root")
g("escape-dotdot", [f("x", "1")], [f("../escape", "2")],
  overlay=Either([[f("x", "1"), f("escape", "2")]]), spec=Either([[f("x", "1"), f("escape", "2")]]))
g("escape-deep", [d("a"), f("a/../../escape", "2")],
  overlay=Either([[d("a"), f("escape", "2")]]), spec=Either([[d("a"), f("escape", "2")]]))
g("escape-many", [f("../../../../../../../../tmp/oracle-escape", "2")],
  overlay=Either([[f("tmp/oracle-escape", "2")]]), spec=Either([[f("tmp/oracle-escape", "2")]]))
g("escape-absolute-dotdot", [f("/../escape", "2")],
  overlay=Either([[f("escape", "2")]]), spec=Either([[f("escape", "2")]]))
g("escape-whiteout", [f("x", "1")], [wh("../x")],
  overlay=Either([[f("x", "1")], [wh("x")]]), spec=Either([[f("x", "1")], [wh("x")]]))
g("escape-dotdot-itself", [f("x", "1"), d("..")], overlay=Either([[f("x", "1")]]),
  spec=Either([[f("x", "1")]]))
g("escape-link-target", [f("x", "1"), h("b", "../x")],
  overlay=Either([[f("x", "1"), h("b", "x")]]), spec=Either([[f("x", "1"), h("b", "x")]]))
g("escape-link-host", [h("b", "/../../../../../../../../etc/hostname")],
  overlay=REFUSE, spec=REFUSE)
g("escape-symlink-then-write", [s("up", "../../../../../../tmp"), f("up/oracle-escape", "2")],
  overlay=Either([[s("up", "../../../../../../tmp"), f("tmp/oracle-escape", "2")]]),
  spec=Either([[s("up", "../../../../../../tmp"), f("tmp/oracle-escape", "2")]]))
g("escape-symlink-lower-then-write", [s("up", "../../../../tmp")], [f("up/oracle-escape", "2")])
g("escape-absolute-symlink-lower", [s("up", "/")], [f("up/x", "2")],
  spec=Either([[s("up", "/"), f("x", "2")]]))

g = Group("Whiteouts with odd names")
ODD = [d("a"), f("a/x", "1"), f("k", "1")]
g("wh-empty-name", ODD, [f(".wh.", "")], overlay=Either([ODD]), spec=Either([ODD]))
g("wh-empty-name-in-dir", ODD, [d("a"), f("a/.wh.", "")], overlay=Either([ODD]), spec=Either([ODD]))
g("wh-dot", ODD, [f(".wh..", "")], overlay=Either([ODD]), spec=Either([ODD]))
g("wh-dot-in-dir", ODD, [d("a"), f("a/.wh..", "")], overlay=Either([ODD]), spec=Either([ODD]))
g("wh-dotdot", ODD, [f(".wh...", "")], overlay=Either([ODD]), spec=Either([ODD]))
g("wh-dotdot-in-dir", ODD, [d("a"), f("a/.wh...", "")], overlay=Either([ODD]), spec=Either([ODD]))
g("wh-opq-misspelt", ODD, [d("a"), f("a/.wh..wh..opqx", "")], overlay=Either([ODD]),
  spec=Either([ODD]))
g("wh-plnk", ODD, [d(".wh..wh.plnk"), f(".wh..wh.plnk/1.2", "aufs")], overlay=Either([ODD]),
  spec=Either([ODD]), note="aufs left these in images")
g("wh-aufs", ODD, [f(".wh..wh.aufs", ""), d(".wh..wh.orph")], overlay=Either([ODD]),
  spec=Either([ODD]))
g("wh-dir-component", ODD, [f(".wh.a/x", "1")], overlay=Either([ODD]), spec=Either([ODD]))
g("opq-is-dir", ODD, [d("a"), d("a/.wh..wh..opq")], overlay=Either([ODD, [d("a"), opq("a")]]),
  spec=Either([ODD, [d("a"), opq("a")]]))

g = Group("Bytes of a name")
LONG = "long-" + "n" * 150
DEEP = "/".join("dir%02d" % i + "x" * 20 for i in range(12))
g("non-utf8", [d(b"d\xff"), f(b"d\xff/\xe9\x80", "1"), s(b"l\xfe", b"t\xff")],
  [f(b"d\xff/\xe9\x81", "2")])
g("non-utf8-long", [f(b"\xff" * 120, "1"), s(b"l", b"\xfe" * 120), h(b"h", b"\xff" * 120)])
g("non-utf8-whiteout", [f(b"\xff\xfe", "1"), f("k", "1")], [wh(b"\xff\xfe")])
g("utf8", [f("naïve-文字-😀", "1")], [f("naïve-文字-é", "2")])
g("utf8-go", [f("文字", "1", fmt="go"), s("s", "文字", fmt="go"), s("d文/s", "字x", fmt="go"),
             h("h", "文字", fmt="go"), d("目", fmt="go"), f("目/文", "2", fmt="go")],
  note="Go's writer leaves what is not ASCII out of the header, so a symlink's target may be empty there")
g("odd-characters", [f("new\nline", "1"), f("tab\t", "1"), f(" space ", "1"), f("back\\slash", "1"),
                     f("per%cent", "1"), f("quote'\"", "1")])
g("long-name-pax", [f(LONG, "1"), h("l", LONG), s("s", LONG * 3)], [wh("l")])
g("long-name-gnu", [f(LONG, "1", fmt="gnu"), h("l", LONG, fmt="gnu"),
                    s("s", LONG * 3, fmt="gnu")], [wh("l")])
g("deep-path-pax", [f(DEEP + "/x", "1")], [wh(DEEP + "/x"), f(DEEP + "/y", "2")])
g("deep-path-gnu", [f(DEEP + "/x", "1", fmt="gnu")], [f(DEEP + "/y", "2", fmt="gnu")])
g("name-255", [f("n" * 255, "1")])
g("name-256", [f("k", "1"), f("n" * 256, "1")], overlay=UNJUDGED, spec=UNJUDGED)
g("empty-name", [f("k", "1"), f("", "1")], overlay=Either([[f("k", "1")]]), spec=Either([[f("k", "1")]]))
g("pax-path-wins", [f("short", "1", pax={"path": b"from/pax"})])
g("pax-path-nul", [f("k", "1"), f("short", "1", pax={"path": b"a\0b"})], overlay=REFUSE, spec=REFUSE)
g("decomposed-unicode", [f("cafe\u0301", "nfd"), f("caf\u00e9", "nfc"), s("l", "cafe\u0301")],
  note="two names: nobody may compose the first")
g("many-children", [d("m")] + [f("m/%03d" % i, str(i)) for i in range(300)],
  [wh("m/%03d" % i) for i in range(0, 300, 3)] + [d("m")])
