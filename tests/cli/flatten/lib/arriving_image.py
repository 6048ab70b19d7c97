"""arriving_image.py LAYOUT COMPRESSION: writes an OCI layout of three layers of some megabytes that do not compress.

flatten warns of the first entry of the newest layer: the warning shows that it reads the layer.
"""
import random
import sys

import images
from tarball import d, f, opq, wh

path, compression = sys.argv[1:]
random.seed(1)
layers = [
    [d("base"), f("base/large", random.randbytes(3_000_000)), f("base/gone", random.randbytes(500_000))],
    [f("middle", random.randbytes(1_500_000)), wh("base/gone")],
    [opq(), f("top", random.randbytes(4_000_000)), f("base/large", "small")],
]
images.write_oci(path, images.tars_of(layers), tag="v1", compression=compression)
