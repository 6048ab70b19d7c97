"""memory.py FLATTEN [PATHS]: peak memory is at most 64 MiB and 256 bytes a path.

The limit is for both processes together, with images of many paths, in every way that keeps the paths
differently.
"""
import os
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import measured  # noqa: E402
from quick_images import directory, header, layer, link, save, whiteout  # noqa: E402

BASE, A_PATH = 64 << 20, 256  # bytes


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


def directories(n):
    return [layer([directory(b"d/%d" % i) for i in range(n)])]


SHAPES = [(spread, 1, [[], ["--verify"]]), (farm, 3, [[], ["--verify"]]), (directories, 1, [[], ["--semantics=spec"]]),
          (one_directory, 1, [[], ["--semantics=spec"], ["--keep-base=1"], ["--verify"], ["--compression=zstd:3"]])]


def main():
    program, paths = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 300_000
    bad = 0
    with tempfile.TemporaryDirectory(dir="/var/tmp") as work:
        image = os.path.join(work, "image.tar")
        for shape, part, ways in SHAPES:
            n = paths // part
            measured.in_child(lambda: save(image, shape(n)))
            for words in ways:
                got = measured.run(work, program, *words, image, "docker-archive:" + os.path.join(work, "out.tar"))
                if got.status:
                    raise SystemExit("status %d: %s" % (got.status, got.message))
                most = BASE + A_PATH * n
                print("%s %d %s: %.1f MiB of %.1f, %.2f s" %
                      (shape.__name__, n, " ".join(words), got.peak / 2**20, most / 2**20, got.cpu), flush=True)
                bad += got.peak > most
    sys.exit(1 if bad else 0)


main()
