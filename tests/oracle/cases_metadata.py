"""Cases about attributes, special files and their forms in a tar."""
import struct

import tarball
from case import Either, Group, REFUSE
from tarball import Entry, blk, chr_, d, f, fifo, h, s, sparse, wh

CAP = b"\1\0\0\2\0\x20\0\0\0\0\0\0\0\0\0\0\0\0\0\0"


def acl(*entries):
    """system.posix_acl_access: version 2, then tag, permission, id."""
    return struct.pack("<I", 2) + b"".join(struct.pack("<HHI", *e) for e in entries)


NOID = 0xFFFFFFFF
ACL = acl((1, 7, NOID), (2, 5, 1000), (4, 5, NOID), (16, 5, NOID), (32, 0, NOID))

g = Group("Attributes")
g("capability", [f("ping", "bin", mode=0o755, xattrs={"security.capability": CAP})],
  [f("other", "1")])
g("capability-replaced", [f("ping", "bin", mode=0o755, xattrs={"security.capability": CAP})],
  [f("ping", "bin2", mode=0o755)])
g("user-xattrs", [f("a", "1", xattrs={"user.one": b"1", "user.bin": b"\0\xff\n="})])
g("xattr-empty-value", [f("a", "1", xattrs={"user.empty": b""})], overlay=("storage", "containerd"),
  own_only=True, note="Go readers take an empty record as none")
g("xattr-odd-name", [f("a", "1", xattrs={"user.a=b": b"1"}), f("b", "1", xattrs={"user.ü": b"2"})],
  note="a PAX key ends at the first '='")
g("trusted-xattr", [f("a", "1", xattrs={"trusted.other": b"1"})])
g("acl-access", [f("a", "1", mode=0o750, xattrs={"system.posix_acl_access": ACL})])
g("acl-default", [d("a", mode=0o750, xattrs={"system.posix_acl_default": ACL,
                                             "system.posix_acl_access": ACL}), f("a/x", "1")],
  own_only=True, note="the engines let a/x inherit while they unpack")
g("acl-default-parent", [d("a", xattrs={"system.posix_acl_default": ACL})], [f("a/b/x", "1", mode=0o666)],
  overlay=("storage", "containerd"), own_only=True)
ACL_TEXT = b"user::rw-,user:daemon:rw-:1,group::r--,mask::rw-,other::r--"
g("acl-record", [f("a", "1", mode=0o664, pax={"SCHILY.acl.access": ACL_TEXT}),
                 f("suid", "1", mode=0o4775, pax={"SCHILY.acl.access": ACL_TEXT}),
                 d("d", mode=0o2775, pax={"SCHILY.acl.access": ACL_TEXT, "SCHILY.acl.default": ACL_TEXT}),
                 f("d/x", "1")], note="GNU tar's --acls and bsdtar; the engines know xattrs alone")
g("xattr-on-symlink", [s("l", "x", xattrs={"trusted.x": b"1"})])
g("xattr-on-dir", [d("a", xattrs={"user.x": b"1"}), f("a/x", "1")])
g("xattr-libarchive", [f("a", "1", pax={"LIBARCHIVE.xattr.user.x": b"MQ=="})],
  note="Go readers know SCHILY alone")
g("xattr-both-forms", [f("a", "1", pax={"LIBARCHIVE.xattr.user.x": b"MQ==", "SCHILY.xattr.user.x": b"2"})])
g("xattr-rht-selinux", [f("a", "1", pax={"RHT.security.selinux": b"system_u:object_r:etc_t:s0"})])
g("pax-across-blocks", [f("f%03d" % i, bytes([i % 251]) * (7 * i % 4096 + 1), mtime=10**18 + i)
                        for i in range(1, 900)], note="headers fall across every buffer's edge")
g("mtime-ns", [f("a", "1", mtime=1_234_567_890_987_654_321), d("d", mtime=1_111_111_111_000_000_001),
               s("l", "a", mtime=1_222_222_222_222_222_222)])
g("mtime-negative", [f("a", "1", mtime=-1_500_000_000)], own_only=True,
  note="the overlay engines make it 0")
g("mtime-negative-fraction", [f("a", "1", mtime=-500_000_000), f("b", "1", mtime=-1),
                              f("c", "1", mtime=-2_000_000_001), f("k", "1", mtime=-10**10)],
  own_only=True, note="the overlay engines make them 0")
g("mtime-zero", [f("a", "1", mtime=0), d("d", mtime=0)])
g("mtime-far", [f("a", "1", mtime=7_258_118_400 * 10**9)])
g("mtime-after-children", [d("d", mtime=10**18), f("d/x", "1"), d("d/e", mtime=10**18), f("d/e/y", "1")])
g("mtime-dir-child-deleted", [d("d", mtime=10**18), f("d/x", "1"), f("d/y", "1")],
  [d("d", mtime=11 * 10**17), wh("d/x")])
g("mtime-long-fraction", [f("a", "1", pax={"mtime": "1234567890.123456789123"})])
g("pax-atime-ctime", [f("a", "1", pax={"atime": "1.5", "ctime": "2.5"})])
g("modes", [f("suid", "1", mode=0o4755), f("sgid", "1", mode=0o2755), f("all", "1", mode=0o7777),
            f("none", "1", mode=0), d("t", mode=0o1777), d("g", mode=0o2770)])
g("setuid-chown", [f("suid", "1", mode=0o6755, uid=10, gid=20)])
g("mode-with-type-bits", [f("a", "1", mode=0o100644), d("d", mode=0o40755)])
g("uid-large-pax", [f("a", "1", uid=3_000_000, gid=4_000_000_000)], [f("b", "1", uid=2097151)])
g("uid-large-gnu", [f("a", "1", uid=3_000_000, gid=2_100_000_000, fmt="gnu")])
g("uname-ignored", [f("a", "1", pax={"uname": b"daemon", "gname": b"daemon"})])
g("symlink-mode-owner", [s("l", "x", mode=0o777, uid=5, gid=6)])
g("unknown-pax-record", [f("a", "1", pax={"COMMENT": b"hi", "VENDOR.x": b"y"})])
g("pax-size", [f("a", "12345", pax={"size": "5"})])
g("gnu-format", [d("a", fmt="gnu", mtime=10**18), f("a/x", "1", fmt="gnu", mtime=10**18)])
g("v7-format", [d("a", version=b"\0" * 8, mtime=10**18), f("a/x", "1", version=b"\0" * 8, mtime=10**18)])
g("type-nul-regular", [Entry(b"a", b"\0", data=b"1")])
g("type-contiguous", [Entry(b"a", b"7", data=b"1")], overlay=Either([[f("a", "1")]]),
  spec=Either([[f("a", "1")]]))
g("type-unknown", [f("a", "1"), Entry(b"b", b"Q", data=b"1")], overlay=Either([[f("a", "1")]]),
  spec=Either([[f("a", "1")]]))

g = Group("Special files")
g("devices", [chr_("null"), blk("loop", uid=3), fifo("p", gid=4), chr_("big", dev=(300, 70000))])
g("device-over-file", [f("x", "1")], [chr_("x", dev=(5, 1))])
g("device-whiteout", [chr_("x"), fifo("p")], [wh("x")])
g("device-link", [chr_("a"), h("b", "a", mode=0o666)])
g("device-0-0", [f("x", "1"), f("y", "1")], [chr_("x", dev=(0, 0))],
  overlay=Either([[f("y", "1")]], [[f("x", "1"), f("y", "1")]]),
  spec=Either([[f("y", "1")]], [[f("x", "1"), f("y", "1")]]),
  note="overlay's own whiteout")
g("device-0-0-new", [f("y", "1")], [chr_("n", dev=(0, 0))], overlay=Either([[f("y", "1")]]),
  spec=Either([[f("y", "1")]]))
g("block-0-0", [blk("b", dev=(0, 0))])
g("overlay-opaque-xattr", [d("a"), f("a/x", "1")],
  [d("a", xattrs={"trusted.overlay.opaque": b"y"}), f("a/y", "2")],
  overlay=Either([[d("a"), f("a/x", "1"), f("a/y", "2")]]),
  spec=Either([[d("a"), f("a/x", "1"), f("a/y", "2")]]))
g("overlay-redirect-xattr", [d("secret"), f("secret/x", "1")],
  [d("a", xattrs={"trusted.overlay.redirect": b"/secret"})],
  overlay=Either([[d("secret"), f("secret/x", "1"), d("a")]]),
  spec=Either([[d("secret"), f("secret/x", "1"), d("a")]]))
g("overlay-metacopy-xattr", [f("x", "123")], [f("x", "", xattrs={"trusted.overlay.metacopy": b""})],
  overlay=Either([[f("x", "")]]), spec=Either([[f("x", "")]]))
USER_OVERLAY = [d("a", xattrs={"user.overlay.opaque": b"y"}), f("a/x", "1")]
g("user-overlay-xattr", USER_OVERLAY, overlay=Either([USER_OVERLAY], [[d("a"), f("a/x", "1")]]),
  spec=Either([USER_OVERLAY], [[d("a"), f("a/x", "1")]]), note="rootless overlay's")

g = Group("Sparse files")
DATA = [(0, b"start"), (200_000, b"middle"), (400_000, b"")]
DENSE = (b"start" + b"\0" * 199_995 + b"middle").ljust(400_000, b"\0")
DENSE_EITHER = {"overlay": Either([[f("sp", DENSE)]]), "spec": Either([[f("sp", DENSE)]])}
WHOLE_SECOND = 1_500_000_000 * 10**9  # an old GNU header has whole seconds
OLD = Either([[f("sp", DENSE, mtime=WHOLE_SECOND)]])
g("sparse-old", [sparse("sp", "old", 400_000, DATA, mtime=WHOLE_SECOND)], overlay=OLD, spec=OLD)
g("sparse-0.1", [sparse("sp", "0.1", 400_000, DATA)], **DENSE_EITHER)
g("sparse-1.0", [sparse("sp", "1.0", 400_000, DATA)], **DENSE_EITHER)
g("sparse-1.0-replaced", [sparse("sp", "1.0", 400_000, DATA), f("k", "1")], [f("sp", "x")])
g("sparse-1.0-linked", [sparse("sp", "1.0", 400_000, DATA), h("l", "sp")], [wh("sp")],
  overlay=Either([[f("l", DENSE)]]), spec=Either([[f("l", DENSE)]]))
g("zeros-dense", [f("z", b"\0" * 100_000)])

g = Group("Archives that are not quite right")


def raw(entries, tail=b"\0" * 1024):
    return b"".join(map(tarball.entry_bytes, entries)) + tail


ONE = [d("a"), f("a/x", "1")]
ANY_ONE = {"overlay": Either([ONE]), "spec": Either([ONE])}
g("tar-no-end", raw(ONE, b""), **ANY_ONE)
g("tar-one-zero-block", raw(ONE, b"\0" * 512), **ANY_ONE)
g("tar-padded-10k", raw(ONE, b"\0" * 10240))
g("tar-trailing-garbage", raw(ONE, b"\0" * 1024 + b"garbage" * 100), **ANY_ONE)
g("tar-second-archive", raw(ONE, b"\0" * 1024 + raw([f("late", "1")])), **ANY_ONE)
g("tar-empty-file", b"", overlay=Either([[]]), spec=Either([[]]))
g("tar-cut-header", raw(ONE, b"x" * 100), overlay=REFUSE, spec=REFUSE)
g("tar-cut-payload", raw([d("a"), f("a/x", "1" * 2000)])[:-1024 - 1500], overlay=REFUSE, spec=REFUSE)
SECOND = f("b", "1", mtime=10**18)
g("tar-bad-checksum", raw(ONE, b"") + raw([SECOND]).replace(b"b\0", b"c\0", 1),
  overlay=REFUSE, spec=REFUSE)
g("tar-global-header", raw([Entry(b"pax_global_header", b"g", fmt="ustar",
                                  data=b"19 comment=abcdefg\n")] + ONE), spec=Either([ONE]))
