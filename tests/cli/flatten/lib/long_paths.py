"""long_paths.py DEEP LONG: writes images with one path of 5,000 bytes, and one name of 300."""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "..", "oracle"))
import images  # noqa: E402
import tarball  # noqa: E402

for path, name in zip(sys.argv[1:], ("d/" * 2500 + "f", "n" * 300)):
    tars = images.tars_of([[tarball.f(name, "1")]])
    images.write_docker_new(path, tars, images.config_of(tars), compression="none")
