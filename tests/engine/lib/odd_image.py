#!/usr/bin/env python3
"""odd_image.py OUT NAME: an image (docker-archive) of two layers that holds what a tree can hold."""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../oracle"))

import images  # noqa: E402
from cases_metadata import ACL, CAP  # noqa: E402
from tarball import blk, chr_, d, f, fifo, h, s, wh, opq  # noqa: E402

LOWER = [
    d("./", mode=0o711, uid=5), d("d", mode=0o2750, uid=3_000_000, gid=2_500_000, mtime=10**18 + 7),
    f("d/plain", "1", mtime=1_234_567_890_987_654_321), f("d/gone", "1"), f("d/empty"),
    f("d/ping", "bin", mode=0o4755, xattrs={"security.capability": CAP}),
    f("d/xattrs", "1", mode=0o750, xattrs={"user.a": b"\0\xff", "trusted.b": b"2", "system.posix_acl_access": ACL}),
    f(b"d/not-utf8-\xff\xfe", "1"), f("d/" + "n" * 255, "1"), s("d/link", b"\xff/nowhere"),
    s("d/link-xattr", "x", xattrs={"trusted.x": b"1"}), chr_("d/null", dev=(1, 3)), blk("d/loop", dev=(7, 300)),
    fifo("d/fifo", uid=9), f("d/holes", b"\0" * (1 << 20) + b"data" + b"\0" * (1 << 20)),
    f("d/one", "shared"), h("d/two", "d/one"), d("d/sub"), h("d/sub/three", "d/one"), h("d/null2", "d/null"),
    f("d/hidden", "kept by its other name"), h("d/other", "d/hidden"), d("opaque"), f("opaque/old", "1"),
    d("many")] + [f("many/%04d" % i, "%d" % i, mtime=10**18 + i) for i in range(3000)]
UPPER = [
    d("d", mode=0o751, uid=1, mtime=10**18 + 9), wh("d/gone"), wh("d/hidden"), f("d/empty", "now not"), d("opaque"),
    opq("opaque"), f("opaque/new", "1"), d("alone"), wh("alone/nothing"), f("alone/x", "1"), wh("nothing")]

images.write_docker_old(sys.argv[1], images.tars_of([LOWER, UPPER]), name=sys.argv[2])
