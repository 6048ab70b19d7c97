"""arriving_image.py LAYOUT COMPRESSION [MB]: writes an OCI layout of three layers of some megabytes that do not compress.

flatten warns of the first entry of the newest layer: the warning shows that it reads the layer. With MB, the newest layer
has that many instead, and shows the layers below.
"""
import random
import sys

import images
from tarball import d, f, opq, wh

path, compression = sys.argv[1:3]
large = [int(word) for word in sys.argv[3:]]
random.seed(1)
layers = [
    [d("base"), f("base/large", random.randbytes(3_000_000)), f("base/gone", random.randbytes(500_000))],
    [f("middle", random.randbytes(1_500_000)), wh("base/gone")],
    [opq(), f("top", random.randbytes(4_000_000)), f("base/large", "small")],
]
if large:
    layers[2] = [f("top", random.randbytes(large[0] * 1_000_000))]
images.write_oci(path, images.tars_of(layers), tag="v1", compression=compression)
