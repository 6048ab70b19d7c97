"""memory.py FLATTEN [PATHS]: peak memory is at most 64 MiB and 256 bytes a path; for carve, 300 bytes a path.

The limit is for both processes together, with images of many paths, in every way that keeps the paths
differently, and for carve with as many threads as can be used, at zstd's level 3.
"""
import gzip
import os
import shutil
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import measured  # noqa: E402
from quick_images import directory, header, layer, link, padded, save, whiteout  # noqa: E402

BASE, A_PATH, A_CARVED_PATH = 64 << 20, 256, 300  # bytes


def spread(n):
    """Small files in many directories."""
    return [layer([directory(b"usr/lib/python3/dist-packages/package-%d" % i) +
                   b"".join(header(b"usr/lib/python3/dist-packages/package-%d/module_%d.py" % (i, j)) for j in range(99))
                   for i in range(n // 100)])]


def farm(n):
    """Hard links to one file."""
    return [layer([header(b"f")] + [link(b"links/l%d" % i, b"f") for i in range(n)])]


def one_directory(n):
    """Files in one directory; a newer layer deletes half of them."""
    return [layer([directory(b"d")] + [header(b"d/file-%d" % i) for i in range(n)]),
            layer([whiteout(b"d/file-%d" % i) for i in range(0, n, 2)])]


def large(n):
    """Few files, which fill the buffers of all threads."""
    return [layer([header(b"usr/lib/lib%d.so" % i, size=LARGE) + os.urandom(LARGE) for i in range(n)])]


def mixed(n):
    """Files that are compressed early, and others, in layers that are unpacked side by side."""
    digits = bytes(range(48, 64)) * 16
    return [layer([header(b"srv/%d/%d" % (i, j), size=size) + padded(os.urandom(size).translate(digits))
                   for j, size in enumerate([LARGE] * 2 + [60_000] * (n // 8 - 2))]) for i in range(8)]


def directories(n):
    return [layer([directory(b"d/%d" % i) for i in range(n)])]


LARGE = 9 << 20  # bytes
CARVE = ["carve", "--threads=16", "--layer-size=32m", "--compression=zstd:3"]
SHAPES = [(spread, 1, [[], ["--verify"], CARVE]), (farm, 3, [[], ["--verify"]]),
          (directories, 1, [[], ["--semantics=spec"], CARVE]),
          (one_directory, 1, [[], ["--semantics=spec"], ["--keep-base=1"], ["--verify"], ["--compression=zstd:3"]]),
          (large, 10_000, [CARVE]), (mixed, 150, [CARVE])]


def main():
    program, paths = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 300_000
    bad = 0
    with tempfile.TemporaryDirectory(dir="/var/tmp") as work:
        image = os.path.join(work, "image.tar")
        for shape, part, ways in SHAPES:
            n = paths // part
            pack = (lambda data: gzip.compress(data, 1)) if shape is mixed else bytes
            measured.in_child(lambda: save(image, shape(n), pack=pack))
            for words in ways:
                carved = words[:1] == ["carve"]
                # Only a layout takes several layers at the same time.
                out = "oci:" + os.path.join(work, "out") if carved else "docker-archive:" + os.path.join(work, "out.tar")
                got = measured.run(work, program, *words, image, out)
                if got.status:
                    raise SystemExit("status %d: %s" % (got.status, got.message))
                most = BASE + (A_CARVED_PATH if carved else A_PATH) * n
                print("%s %d %s: %.1f MiB of %.1f, %.2f s" %
                      (shape.__name__, n, " ".join(words), got.peak / 2**20, most / 2**20, got.cpu), flush=True)
                bad += got.peak > most
                if carved:
                    shutil.rmtree(os.path.join(work, "out"))
    sys.exit(1 if bad else 0)


main()
