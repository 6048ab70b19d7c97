"""make_images.py DIRECTORY: writes the images of the tests of flatten (needs tests/oracle in its path).

Images that the same scripts have made before stay.
"""
import dataclasses
import hashlib
import importlib._bootstrap_external as pyc
import os
import random
import shutil
import sys

import images
import tarball
from tarball import chr_, d, f, h, opq, s, tar_bytes, wh

USUAL = [
    [d("etc"), f("etc/a", "old a", mode=0o600), f("etc/b", "b"), f("etc/gone", "x" * 5000),
     d("lib"), f("lib/l", "l" * 3000), h("lib/m", "lib/l"), s("lib/n", "l")],
    [d("etc"), wh("etc/gone"), f("etc/a", "new a", mode=0o640, uid=7), d("opt"), opq("opt"),
     f("opt/o", "o")],
    [wh("lib/l"), f("top", "top", xattrs={"user.k": "v"}), d("tmp", mode=0o1777)],
]
DIVERGENT = [[d("a"), f("a/old", "1"), f("k", "1")], [opq(), f("new", "2")]]
MANY = [[f("k", "1")], [e for i in range(30) for e in (f("n%d" % i, "x"), wh("n%d" % i))]]
INDEXED = [[d("a"), f("a/x", "low"), f("k", "1")],
           [f("twice", "1"), f("a/y", "y"), d("a", mode=0o711), f("twice", "2"), h("l", "a/x")]]
WASTE = [[d("d"), f("d/a", "a" * 1000), f("d/b", "b" * 200), f("d/c", "c" * 30), f("d/e", "e" * 4),
          f("keep", "k" * 90000)],
         [f("d/a", "a" * 1000, uid=9), f("d/b", "B" * 200), wh("d/c")],
         [d("d"), opq("d"), f("</script><b>\x1b[2J", "5" * 50)], [wh("</script><b>\x1b[2J")]]


def compiled(mtime, size):
    return bytes(pyc._code_to_timestamp_pyc(compile("1", "m", "exec"), mtime, size))


SOURCE = "x = 1\n"
PYTHON = [[f("lib/m.py", SOURCE, mtime=1000 * 10**9 + 5), f("lib/__pycache__/m.cpython-311.pyc", compiled(1000, 6)),
           f("lib/__pycache__/m.cpython-311.opt-1.pyc", compiled(1001, 6)),
           f("lib/n.py", SOURCE, mtime=1000 * 10**9), f("lib/__pycache__/n.cpython-39.pyc", compiled(1000, 7)),
           f("lib/__pycache__/gone.cpython-39.pyc", compiled(1000, 6)), f("lib/legacy.pyc", compiled(1, 1)),
           f("lib/o.py", SOURCE), f("lib/__pycache__/o.cpython-39.pyc",
                                    bytes(pyc._code_to_hash_pyc(compile("1", "m", "exec"), b"12345678")))],
          [f("lib/m.py", SOURCE, mtime=1000 * 10**9 + 7, uid=3)]]
def owned(version, tool, link="tool-link"):
    """Two layers of a small image with packages of dpkg and pip, and an application."""
    site = "usr/lib/python3/dist-packages/"
    files = {"libone": ["usr/lib/libone.so", "usr/share/doc/libone/copyright"],
             "tool": ["usr/bin/tool", "usr/share/doc/tool/copyright"]}
    status = "".join("Package: %s\nStatus: install ok installed\nVersion: %s\n\n" % (name, of)
                     for name, of in (("libone", "1.0"), ("tool", tool)))
    lists = [f("var/lib/dpkg/info/%s.list" % name, "".join("/%s\n" % path for path in paths))
             for name, paths in files.items()]
    base = [d("usr", mtime=10**18 * int(float(tool))), d("usr/lib"), d("usr/bin"), f("usr/lib/libone.so", "one" * 9000),
            f("usr/bin/tool", "tool %s" % tool * 2000, mode=0o755), h("usr/bin/" + link, "usr/bin/tool"),
            f("usr/share/doc/libone/copyright", "c"), f("usr/share/doc/tool/copyright", "c"),
            f("var/lib/dpkg/status", status), *lists]
    torch = site + "torch-2.7.0.dist-info/"
    return [base, [base[0], f(site + "torch/__init__.py", "import os\n" * 3000), f(torch + "METADATA", "Name: torch\nVersion: 2.7.0\n"),
                   f(torch + "RECORD", "torch/__init__.py,,\ntorch-2.7.0.dist-info/METADATA,,\n"),
                   d("empty", mode=0o1777), f("opt/app/main.py", "app %s\n" % version * 500), d("usr/bin")]]


def one_layer(size):
    """Packages of dpkg and pip and an application, each so large, in one layer."""
    site, large = "usr/lib/python3/dist-packages/", b"\0" * size
    return [[f("var/lib/dpkg/info/libone.list", "/usr/lib/libone.so\n/usr/lib/libone.so.1\n/usr/lib/link\n"),
             f("usr/lib/libone.so", large), h("usr/lib/libone.so.1", "usr/lib/libone.so"), s("usr/lib/link", "libone.so"),
             f(site + "torch/lib.so", large), f(site + "torch-2.7.0.dist-info/RECORD", "torch/lib.so,,\n"),
             f("opt/app/data", large), d("empty")]]


def removed():
    """Packages that are upgraded, changed and removed by newer layers, one with a hostile name."""
    info, site, evil = "var/lib/dpkg/info/", "usr/lib/python3/dist-packages/", "<img src=x><b>\x1b[2J"
    return [[f("usr/bin/tool", "t" * 1000), f("usr/lib/libone.so", "o" * 500), f("usr/share/doc/tool/README", "r" * 300),
             f(info + "tool.list", "/usr/bin/tool\n/usr/share/doc/tool\n/usr/share/doc/tool/README\n"),
             f(info + "libone.list", "/usr/lib/libone.so\n/usr/bin/tool\n"), f(info + evil + ".list", "/usr/bin/evil\n"),
             f(site + "torch/a.py", "a" * 40), f(site + "torch/old.py", "b" * 50),
             f(site + "torch-2.6.dist-info/RECORD", "torch/a.py,,\ntorch/old.py,,\n"),
             f("usr/bin/evil", "e" * 7), f("opt/app/one/x", "x" * 60), f("opt/app/two/y", "y" * 70), f("top", "p" * 9)],
            [f("usr/bin/tool", "t" * 1000, uid=9), wh("usr/lib/libone.so"), wh(info + "libone.list"), wh("usr/share/doc"),
             wh(site + "torch/old.py"), wh(site + "torch-2.6.dist-info"), f(site + "torch/a.py", "A" * 45),
             f(site + "torch-2.7.dist-info/RECORD", "torch/a.py,,\n"), wh("opt/app/two")]]


def lying():
    """Databases that are broken, or that lie."""
    info, lines = "var/lib/dpkg/info/", b"/../../a\n/a\0\n\n..\n/loop/x\n" + b"/a\n" * 1_000_000 + b"/" * 100_000 + b"\n/b"
    noise = random.Random(2).randbytes(60_000)
    return [[f("a", "a" * 1000), f("b", "b" * 200), s("loop", "loop"), f(info + "one.list", lines), f(info + "two.list", lines),
             f(info + "n" * 250 + ".list", b"/b\n"), f(info + ".list", b"/b\n"), f("var/lib/dpkg/status", noise),
             f("var/lib/dpkg/diversions", noise), f("var/lib/dpkg/status.d/x", "Package: \0\nVersion: 1\n"),
             f("lib/apk/db/installed", b"P:a\0b\nF:..\nR:../a\n" + noise), f("var/lib/rpm/rpmdb.sqlite", b"SQLite format 3\0" + noise),
             f("p-1.dist-info/RECORD", b'"a,,\n"""\n../a,,\n' + noise), f("conda-meta/c-1-1.json", b'{"files":' + b"[" * 50_000),
             f("node_modules/n/package.json", b'{"version":"' + b"9" * 70_000), f("node_modules/@/x/package.json", "{}")],
            [wh(info + "two.list"), f("a", "A" * 900)]]


def later(layers):
    """The same layers, built again: every time is another."""
    return [[dataclasses.replace(e, mtime=e.mtime + 3600 * 10**9 + 17) for e in entries] for entries in layers]


def timed(time, compiled_for, tool="tool"):
    """An image whose files have this time, in seconds: Python, compiled of a source of that time, and hard links."""
    at, hashed = time * 10**9, bytes(pyc._code_to_hash_pyc(compile("1", "m", "exec"), b"12345678"))
    cache = "lib/__pycache__/%s.cpython-311.pyc"
    return [[d("lib", mtime=at), f("lib/tied.py", SOURCE, mtime=at), f("lib/hashed.py", SOURCE, mtime=at),
             d("lib/__pycache__", mtime=at), f(cache % "tied", compiled(compiled_for, 6), mtime=at),
             f(cache % "hashed", hashed, mtime=at), f("note", "n", mtime=at), d("bin", mtime=at),
             f("bin/tool", tool, mtime=at), h("bin/tool-link", "bin/tool", mtime=at)]]


DIGITS = bytes(b"012345 "[i % 7] for i in range(256))
BAD = {
    "whiteout": [[f("a", "1")], [f("dir/.wh.", "")]],
    "dotdot": [[f("../escape", "1")]],
    "device": [[f("a", "1")], [f("b", "2"), chr_("dev/null", (0, 0))]],
    "escape": [[f("../\x1b[2J\nforged", "1")]],
    "dangling": [[h("b", "a")]],
}


STACKED = [
    [d("etc"), f("etc/a", "a"), f("etc/b", "b"), d("old"), f("old/x", "x"), f("old/y", "y")],
    [d("usr"), f("usr/u", "u" * 3000), d("tmp", mode=0o1777), f("tmp/t", "t")],
    [d("etc"), wh("etc/a"), f("etc/c", "c"), wh("old"), f("top", "1")],
    [d("old"), f("old/z", "z"), f("top", "2"), d("tmp", mode=0o1777), wh("tmp/t")],
]


def broken(path, what):
    """Writes layouts whose layer has a wrong digest or is cut off."""
    tars = images.tars_of(USUAL)
    images.write_oci(path, tars)
    blob = os.path.join(path, "blobs/sha256", images.digest(tars[1])[7:])
    with open(blob, "r+b") as out:
        if what == "cut":
            out.truncate(len(tars[1]) - 2048)
        else:
            out.seek(20 if what == "header" else 600)
            out.write(b"\xee")


def made_by():
    """Returns a digest of all that the images depend on."""
    digest = hashlib.sha256(sys.version.encode())
    for path in (__file__, images.__file__, tarball.__file__):
        with open(path, "rb") as script:
            digest.update(script.read())
    return digest.hexdigest()


def make(home):
    at = lambda *names: os.path.join(home, *names)
    tars = images.tars_of(USUAL)
    images.write_oci(at("layout"), tars, tag="v1")
    images.write_oci(at("zstd"), tars, tag="v1", compression="zstd")
    images.write_docker_old(at("old.tar"), tars, name="image:v1")
    images.write_docker_new(at("new.tar"), tars, name="image:v1")
    images.write_oci(at("divergent"), images.tars_of(DIVERGENT))
    images.write_oci(at("many"), images.tars_of(MANY))
    images.write_oci(at("indexed"), images.tars_of(INDEXED))
    images.write_oci(at("long-name"), images.tars_of(
        [[f("n" * 255, "1"), f("k", "1")], [wh("n" * 255), f("m", "2")]]))
    images.write_oci(at("twins"), images.tars_of([[f("a", "1")], [], [], [f("b", "2")]]))
    stacked = images.tars_of(STACKED)
    images.write_oci(at("stacked"), stacked, tag="v1", compression="gzip")
    images.write_oci(at("base"), stacked[:2], tag="v1", compression="gzip")
    images.write_oci(at("other-base"), stacked[:1] + tars[:1], tag="v1", compression="gzip")
    images.write_docker_new(at("stacked.tar"), stacked, name="stacked:v1")
    images.write_oci(at("undone"), stacked[:2] + images.tars_of([[f("n", "1")], [wh("n")]]))
    images.write_platforms(at("platforms"), {"amd64": stacked, "arm64": tars, "arm/v7": stacked[:2]})
    two = {"amd64": stacked, "arm64": tars}
    images.write_platforms(at("nested"), two, beside=[])
    images.write_platforms(at("nested-beside"), two, beside=[0])
    images.write_platforms(at("many-platforms"), {"a%d" % i: stacked[:1] for i in range(65)})
    images.write_several(at("several.tar"), {"one:v1": stacked, "two:v2": tars})
    images.write_several(at("crowd.tar"), {"app:1 app:one": tars, "app:2": tars, "base:1": stacked[:2],
                                           "top:1": stacked, "": stacked[:1]})
    images.write_several(at("named-twice.tar"), {"one:v1": stacked, "x:1 one:v1": tars})
    images.write_several(at("bad-second.tar"), {"one:v1": stacked, "two:v2": images.tars_of(BAD["whiteout"])})
    images.write_oci(at("bad-name"), tars, tag="a\nflatten: all is well")
    images.write_oci(at("owned"), images.tars_of(owned("1", "1.0")), tag="v1", compression="gzip")
    images.write_oci(at("owned2"), images.tars_of(owned("2", "1.0")), tag="v2", compression="gzip")
    images.write_oci(at("owned3"), images.tars_of(owned("1", "2.0")), tag="v3", compression="gzip")
    images.write_oci(at("owned-link"), images.tars_of(owned("1", "1.0", "tool-other")), tag="v4", compression="gzip")
    images.write_oci(at("owned-later"), images.tars_of(later(owned("1", "1.0"))), tag="v5", compression="gzip")
    images.write_docker_new(at("one-layer.tar"), images.tars_of(one_layer(20_000_000)), name="one:v1")
    images.write_oci(at("lying"), images.tars_of(lying()), compression="zstd")
    images.write_oci(at("removed"), images.tars_of(removed()), tag="v1", compression="gzip")
    images.write_oci(at("timed"), images.tars_of(timed(1000, 1000)), tag="v1")
    images.write_oci(at("timed-again"), images.tars_of(timed(2000, 2000, "tool 2")), tag="v2")
    images.write_oci(at("timed-both"), images.tars_of(timed(2000, 1000)), tag="v3")
    images.write_oci(at("implied"), images.tars_of([[f("%d/" % i + "d/" * 1000 + "f", "") for i in range(300)]]))
    images.write_oci(at("python"), images.tars_of(PYTHON), compression="zstd")
    images.write_oci(at("waste"), images.tars_of(WASTE), tag="v1")
    for name, layers in BAD.items():
        images.write_oci(at("bad-" + name), images.tars_of(layers))
    broken(at("bad-digest"), "digest")
    broken(at("bad-header"), "header")
    broken(at("bad-size"), "cut")
    images.write_oci(at("acl-record"), images.tars_of(
        [[f("a", "1", mode=0o664, pax={"SCHILY.acl.access": b"user::rw-,user:u:rw-:1,group::r--,mask::rw-,other::r--"}),
          d("d", pax={"SCHILY.acl.default": b"nonsense"}), f("d/x", "1")]]))
    for value in "vw":
        images.write_oci(at("xattr-" + value), images.tars_of(
            [[d("d"), f("d/a", "1", xattrs={"user.b": value * 2000, "user.a": "1"})]]))
    images.write_oci(at("126"), [tar_bytes([f("f%d" % i, "x")]) for i in range(126)])
    images.write_oci(at("129"), [tar_bytes([f("f%d" % i, "x")]) for i in range(129)])
    images.write_oci(at("deep"), [tar_bytes([f("f%d" % i, "x")]) for i in range(1001)])
    noise = random.Random(1)
    mixed = [[f("data/%d" % i, noise.randbytes(300_000)) for i in range(80)] +
             [f("text/%d" % i, noise.randbytes(195_000).translate(DIGITS)) for i in range(80)]]
    images.write_docker_new(at("mixed.tar"), images.tars_of(mixed), name="mixed:v1")
    images.write_oci(at("noise"), images.tars_of([[f("n%d" % i, noise.randbytes(400_000))] for i in range(3)]),
                     compression="gzip")
    images.write_oci(at("uneven"), images.tars_of([[f("noise", noise.randbytes(400_000))], [f("text", "t" * 400_000)]]),
                     compression="gzip")
    slow = [[f("slow", noise.randbytes(1_500_000).translate(DIGITS))]]  # seconds, with zstd:19
    images.write_docker_new(at("slow.tar"), images.tars_of(slow), name="slow:v1")
    big = [[f("big/%d-%d" % (n, i), noise.randbytes(5_000_000)) for i in range(10)] for n in (0, 1)]
    images.write_docker_new(at("big.tar"), images.tars_of(big), name="big:v1")


def main():
    home, mark = sys.argv[1], os.path.join(sys.argv[1], "made-by")
    if os.path.exists(mark):
        with open(mark) as by:
            if by.read() == made_by():
                return
    shutil.rmtree(home, ignore_errors=True)
    os.makedirs(home)
    make(home)
    with open(mark, "w") as by:
        by.write(made_by())


main()
