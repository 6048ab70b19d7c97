"""growth.py FLATTEN: an image twice as large may take twice the time, not four times.

Images made to be slow: each shape is built for n and 2n, and flattened in every way that reads it
differently. The CPU seconds of both processes are compared.
"""
import os
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import measured  # noqa: E402
from quick_images import directory, header, layer, link, save, symlink, whiteout, with_records  # noqa: E402

MOST_RATIO = 3  # 2 is linear, 4 quadratic
NOISE = 0.08  # seconds too short to compare
INDEXED = ["--semantics=spec"]
KEPT = ["--keep-base=1"]
VERIFY = ["--verify"]


def names(count, pattern=b"d/%d"):
    return [header(pattern % i) for i in range(count)]


def farm(n):
    """Many hard links to one file."""
    return [layer([header(b"f")] + [link(b"l%d" % i, b"f") for i in range(n)])]


def chain(n):
    """Each a hard link to the one before."""
    return [layer([header(b"l0")] + [link(b"l%d" % (i + 1), b"l%d" % i) for i in range(n)])]


def dressed(n):
    """Links to a file with 900 extended attributes, which each link then has."""
    xattrs = [(b"SCHILY.xattr.user.%d" % i, b"1") for i in range(900)]
    return [layer([header(b"f"), with_records(xattrs, b"l", b"1", link=b"f")] +
                  [link(b"l%d" % i, b"f") for i in range(n)])]


def hidden(n):
    """Links whose file is hidden by a newer layer."""
    return [farm(n)[0], layer([whiteout(b"f")])]


def deep(n):
    """Files n directories deep, reached by a short name."""
    path = b"d/" * n
    return [layer([with_records([(b"path", path)], b"x", b"5"),
                   with_records([(b"linkpath", path)], b"s", b"2", link=b"x")] + names(4000, b"s/%d"))]


def up_and_down(n):
    """A link that goes up and down again at its end, n directories deep."""
    path = b"d/" * n
    target = path + b"../d/" * 200
    return [layer([with_records([(b"path", path)], b"x", b"5"),
                   with_records([(b"linkpath", target)], b"s", b"2", link=b"x")] + names(4000, b"s/%d"))]


def links_on_the_way(n):
    """Files reached through n symbolic links."""
    return [layer([directory(b"d")] + [symlink(b"s%d" % i, b"s%d" % (i - 1) if i else b"d") for i in range(n)] +
                  names(8000, b"s%d/%%d" % (n - 1)))]


def files(n):
    return [layer([directory(b"d")] + names(n)), layer([whiteout(b"d/%d" % i) for i in range(0, n, 2)])]


def layers_over_many(n):
    """Small layers over many paths."""
    return [layer([directory(b"d")] + names(100_000))] + [layer([header(b"t%d" % i)]) for i in range(n)]


def whiteouts(n):
    """Layers that each delete every file of the lowest."""
    gone = [whiteout(b"d/%d" % i) for i in range(10_000)]
    return [layer([directory(b"d")] + names(10_000))] + [layer(gone + [header(b"t%d" % i)]) for i in range(n)]


def opaque(n):
    """Layers that each replace a directory whole."""
    return [layer([directory(b"d"), header(b"d/.wh..wh..opq")] + names(4000) + [header(b"t%d" % i)]) for i in range(n)]


SHAPES = [(farm, 30_000, [[], INDEXED, VERIFY]), (chain, 30_000, [[], INDEXED]), (dressed, 1_000, [[], VERIFY]),
          (hidden, 30_000, [[], INDEXED]), (deep, 500, [[], INDEXED]), (up_and_down, 500, [[], INDEXED]),
          (links_on_the_way, 16, [[], INDEXED]), (files, 40_000, [[], INDEXED, KEPT, VERIFY]),
          (layers_over_many, 150, [[], INDEXED, KEPT]), (whiteouts, 15, [[], INDEXED, KEPT]),
          (opaque, 30, [[], INDEXED])]


def many_members(n):
    """900 layers among n members of the archive."""
    return [layer([header(b"t%d" % i)]) for i in range(900)], [(b"m%d" % i, b"") for i in range(n)]


def build(work, shape, n):
    image = shape(n)
    save(os.path.join(work, "image.tar"), *(image if isinstance(image, tuple) else (image,)))


def seconds(work, program, words):
    out = os.path.join(work, "out.tar")
    got = measured.run(work, program, *words, os.path.join(work, "image.tar"), "docker-archive:" + out)
    if got.status:
        raise SystemExit("status %d: %s" % (got.status, got.message))
    return got.cpu


def times(work, program, shape, n, ways):
    build(work, shape, n)
    return [seconds(work, program, words) for words in ways]


def grows(work, program, shape, n, ways):
    """Returns a line for each way that is too slow three times in a row, as the machine may be busy."""
    for _ in range(3):
        bad = []
        for words, once, twice in zip(ways, times(work, program, shape, n, ways),
                                      times(work, program, shape, 2 * n, ways)):
            line = "%s %d %s: %.2f s, of twice as much %.2f s" % (shape.__name__, n, " ".join(words), once, twice)
            print(line, flush=True)
            if twice > MOST_RATIO * max(once, NOISE):
                bad.append(line)
        if not bad:
            return []
    return bad


def refused(work, program):
    """Each link adds an attribute: the sum of attributes is limited."""
    save(os.path.join(work, "image.tar"),
         [layer([header(b"f")] + [with_records([(b"SCHILY.xattr.user.%d" % i, b"1")], b"l%d" % i, b"1", link=b"f")
                                  for i in range(20_000)])])
    out = os.path.join(work, "out.tar")
    got = measured.run(work, program, os.path.join(work, "image.tar"), "docker-archive:" + out)
    print("attributes that add up: status %d, %.2f s: %s" % (got.status, got.cpu, got.message.strip()))
    fine = got.status == 7 and "l1000: more than 1000 extended attributes" in got.message and got.cpu < 5
    return [] if fine and sorted(os.listdir(work)) == ["image.tar", "stderr"] else ["attributes that add up"]


def main():
    program = sys.argv[1]
    with tempfile.TemporaryDirectory() as work:
        bad = refused(work, program)
        for shape, n, ways in SHAPES + [(many_members, 24_000, [[]])]:
            bad += grows(work, program, shape, n, ways)
    for line in bad:
        print("too slow:", line)
    sys.exit(1 if bad else 0)


main()
