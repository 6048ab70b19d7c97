#!/usr/bin/env python3
"""Versions of the image of bench_debian.py, for hack/bench-carve.

    bench_versions.py DIR GIGABYTES CACHE SCHEDULE VERSION

writes DIR/oci, and DIR/owned: the paths, in the image's last layer that has them, of the packages that are not as they
were one version before, as a list with NUL behind each. Version 1 is the image of bench_debian.py. After it, by SCHEDULE:

    update    version 2: a tenth of the packages upgraded, the application and two frameworks changed, two of the three
              shards of the weights trained again, the steps of pip in another order
    lineage   each version: 2 % of the packages upgraded, the application and a framework changed

dpkg's list changes with each upgrade. A changed package has every file changed: another byte in each 4 KB, and a later
time. Which packages change follows from their names: the same call gives the same bytes.
"""
import hashlib
import io
import os
import sys

from bench_apt import members
from bench_debian import Debian
from bench_image import write

DAY = 86400
SCHEDULES = {"update": (10, 2, 2), "lineage": (50, 1, 0)}  # one package in N upgraded, frameworks, shards


def shifted(data, by):
    data = bytearray(data)
    data[::4096] = bytes((byte + by) & 255 for byte in data[::4096])
    return bytes(data)


class Version(Debian):
    """An image some versions after that of Debian."""

    def __init__(self, directory, gigabytes, cache, schedule, version):
        super().__init__(directory, gigabytes, cache)
        self.version, self.owned = version, []
        self.share, self.frameworks, self.shards = SCHEDULES[schedule]
        self.always = {*self.debs["app"], *self.debs["torch"][:self.frameworks]}
        if schedule == "update" and version > 1:
            self.steps = (2, 0, 3, 1)

    def edition(self, deb):
        """The last version at which the package changed."""
        name = os.path.basename(deb).split("_")[0]
        upgrades = (number for number in range(self.version, 1, -1) if deb in self.always or
                    int(hashlib.sha256(b"%s %d" % (name.encode(), number)).hexdigest(), 16) % self.share == 0)
        return next(upgrades, 1)

    def files(self, deb):
        edition = self.edition(deb)
        for info, file in members(deb, "fsys"):
            info.mtime += (edition - 1) * DAY
            if file and edition > 1:
                file = io.BytesIO(shifted(file.read(), edition - 1))
            yield info, file

    def control(self, deb, text):
        return super().control(deb, b"%s\nX-Edition: %d\n" % (text.rstrip(b"\n"), self.edition(deb)))

    def unpack(self, layer, deb, prefix="", linked=""):
        before = set(layer.names)
        names = super().unpack(layer, deb, prefix, linked)
        if self.version > 1 and self.edition(deb) == self.version:
            self.owned += sorted(layer.names - before)
        return names

    def trained(self, shard, data):
        if self.version == 1 or shard >= self.shards:
            return data
        self.owned.append("opt/models/shard-%d.safetensors" % shard)
        return shifted(data, self.version)


def main():
    directory, gigabytes, cache, schedule, version = sys.argv[1:]
    image = Version(directory, float(gigabytes), cache, schedule, int(version))
    image.build()
    write(image, archive=False)
    with open(directory + "/owned", "wb") as file:
        file.writelines(os.fsencode(name) + b"\0" for name in image.owned)


main()
