"""growing_image.py DIR VERSIONS: layouts DIR/0, DIR/1 and so on, each with one more small package of dpkg.

All packages share thirty directories: layers cost many lookups.
"""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "..", "oracle"))
import images  # noqa: E402
from tarball import f  # noqa: E402

BASE, DIRECTORIES = 20, 30


def version(number):
    names = ["package%d" % i for i in range(BASE + number)]
    status = "".join("Package: %s\nStatus: install ok installed\nVersion: 1\n\n" % name for name in names)
    entries = [f("var/lib/dpkg/status", status)]
    for i, name in enumerate(names):
        paths = ["usr/lib/d%d/%s-%d" % ((i * 7 + k * 3) % DIRECTORIES, name, k) for k in range(30 if i < BASE else 3)]
        entries += [f(path, name * 200) for path in paths]
        entries.append(f("var/lib/dpkg/info/%s.list" % name, "".join("/%s\n" % path for path in paths)))
    return [entries]


for number in range(int(sys.argv[2])):
    images.write_oci(os.path.join(sys.argv[1], str(number)), images.tars_of(version(number)), tag="v")
