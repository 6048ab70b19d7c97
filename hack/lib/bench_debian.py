#!/usr/bin/env python3
"""An image shaped like those of deep learning, of Debian packages, for hack/bench-flatten.

    bench_debian.py DIR GIGABYTES CACHE

writes DIR/image.tar and DIR/oci as bench_image.py does, and the packages it needs below CACHE; the same
packages give the same bytes. A layer has the files that packages install, with owners, modes, links and
the records of dpkg. main has no CUDA: the largest libraries of machine code stand for it. Only the weights are
synthetic. `apt-get upgrade`, `chown -R`, `chmod -R` and the newer framework repeat files of an older layer,
the first and the last with other bytes.
"""
import io
import os
import sys
import tarfile

from bench_apt import members, packages
from bench_image import MTIME, Content, Stack, write

FULL = 7.5
OTHER = bytes((byte + 1) & 255 for byte in range(256))
MERGED = ("bin", "sbin", "lib", "lib32", "lib64", "libx32")  # links into /usr, even if a package has a directory

# group: megabytes at full size, the most of them that one package may have, patterns
GROUPS = {
    "base": (170, 1, ["@required", "@important", "@standard", r"libc6|libc-l10n|locales|libstdc\+\+6", r"libperl5.*"]),
    "build": (330, 1, [r"perl-modules-[\d.]+", r"libc6-dev", r"linux-libc-dev",
                       r"(gcc|g\+\+|cpp|gfortran)-1\d(-x86-64-linux-gnu)?", r"lib(gcc|stdc\+\+)-1\d-dev",
                       r"binutils-x86-64-linux-gnu", r"libbinutils", r"git", r"cmake", r"vim-runtime",
                       r"libpython3\.\d+(-stdlib|-dev)?", r"clang-\d+"]),
    "docs": (260, .3, [r"python3?-.*-doc", r"lib.*-doc"]),
    "media": (330, .3, [r"libav(codec|format|filter|util)\d+", r"libx26[45]-\d+", r"libopencv-.*\d+d?", r"libvtk9.*",
                        r"libmagick.*-\d", r"libgl1-mesa-dri", r"libicu\d+", r"mesa-.*-(icd|drivers)", r"fonts-.*"]),
    "toolkit": (1000, 1, [r"libroc(blas|solver|fft|sparse|rand)\d+", r"lib(miopen|hip)\d+", r"libqt\dwebenginecore\d",
                          r"chromium", r"libllvm\d+", r"libopenblas0-(pthread|openmp)", r"libclang-cpp\d+",
                          r"firefox-esr", r"libwebkit2gtk.*"]),
    "headers": (430, .4, [r"libopencv.*-dev", r"libeigen3-dev", r"qt(base5|6-base)-dev", r"linux-headers-.*-common",
                          r"lib.*-dev"]),
    "conda": (560, .2, [r"python3-(numpy|scipy|pandas|sklearn|skimage|matplotlib|statsmodels)(-lib)?",
                        r"python3-(numba|llvmlite|h5py.*|pyarrow|pythran|sympy|networkx)",
                        r"lib(hdf5|protobuf|arrow|gdal|proj)-?\w+", r"python3-(py|vtk|qt|gdal|rdkit|cv|op).*"]),
    "torch": (780, .5, [r"libtorch[\d.]+", r"python3-torch.*", r"libtorch-(dev|test)",
                        r"lib(onnx|dnnl|xnnpack|gloo)\d*",
                        r"libgraphblas\d+", r"libopenfoam|libmlir-\d+|libwireshark\d+|paraview"]),
    "pip-0": (110, .05, [r"python3-[a-d].*"]),
    "pip-1": (110, .05, [r"python3-[e-j].*"]),
    "pip-2": (110, .05, [r"python3-[k-p].*"]),
    "pip-3": (110, .05, [r"python3-[q-z].*"]),
    "app": (300, .4, [r"blender|inkscape|gimp", r"node-.*", r"golang-.*-dev"]),
}


class Debian(Stack):
    """Layers and their merged tree: rejects files that conflict."""

    steps = range(4)  # of pip install, in order

    def __init__(self, directory, gigabytes, cache):
        super().__init__(directory)
        self.scale, self.debs = gigabytes / FULL, packages(cache, GROUPS, gigabytes, FULL)
        self.kinds, self.status = {}, b""

    def fits(self, layer, name, is_dir):
        """Asserts: no file below a file, no directory over a file, no path twice in a layer."""
        head = os.path.dirname(name)
        while head:
            if self.kinds.get(head, "dir") != "dir":
                return False
            self.kinds[head] = "dir"
            head = os.path.dirname(head)
        if is_dir:
            return self.kinds.get(name, "dir") == "dir" and name not in layer.dirs
        return self.kinds.get(name) != "dir" and name not in layer.names

    def put(self, layer, name, info, file, **change):
        """A member of another archive, under this name."""
        if not name or not self.fits(layer, name, info.isdir()):
            return False
        self.kinds[name] = "dir" if info.isdir() else "file"
        layer.parents(name, change.get("uid", 0))
        (layer.dirs if info.isdir() else layer.names).add(name)
        new = layer.add(name, info.type, info.mode, info.uid, info.linkname)
        new.gid, new.mtime, new.size, new.pax_headers = info.gid, info.mtime, info.size, info.pax_headers
        for key, value in change.items():
            setattr(new, key, value)
        layer.tar.addfile(new, file)
        return True

    @staticmethod
    def place(name, prefix=""):
        """The path of a package's file: in /usr if its first directory is one of MERGED, or below a prefix."""
        name = os.path.normpath(name).strip("/")
        if name == ".":
            return prefix
        if name.split("/")[0] in MERGED:
            name = "usr/" + name
        return prefix + "/" + name.removeprefix("usr/") if prefix else name

    def files(self, deb):
        """(TarInfo, file or None) of what a package installs."""
        return members(deb, "fsys")

    def control(self, deb, text):
        """The stanza of a package in dpkg's list."""
        del deb
        return text.rstrip(b"\n") + b"\nStatus: install ok installed\n\n"

    def unpack(self, layer, deb, prefix="", linked=""):
        """A package below its own prefix; `linked` repeats each of its files as a hard link. Returns the names."""
        names = []
        for info, file in self.files(deb):
            name = self.place(info.name, prefix)
            if info.issym() and os.path.normpath(info.name) in MERGED:
                continue  # base() has them
            if info.islnk():
                info.linkname = self.place(info.linkname, prefix)
                if info.linkname not in layer.names:
                    continue
            if not self.put(layer, name, info, file):
                continue
            names.append(name)
            if linked and not info.isdir():
                other = linked + name.removeprefix(prefix)
                if not info.issym():
                    info.type, info.linkname, info.size = tarfile.LNKTYPE, name, 0
                self.put(layer, other, info, None)
        return names

    def record(self, layer, debs):
        """The records of dpkg for {package's file: names of its files}, and its list of all, which each step of apt
        writes again."""
        for deb, names in debs.items():
            package = os.path.basename(deb).split("_")[0]
            layer.file("var/lib/dpkg/info/%s.list" % package, b"".join(b"/%s\n" % os.fsencode(name) for name in names))
            for info, file in members(deb, "ctrl"):
                name = os.path.normpath(info.name)
                if name == "control":
                    self.status += self.control(deb, file.read())
                elif file:
                    self.put(layer, "var/lib/dpkg/info/%s.%s" % (package, name), info, file)
        layer.file("var/lib/dpkg/status", self.status)

    def install(self, what, group, record=True, **where):
        layer = self.layer(what)
        names = {deb: self.unpack(layer, deb, **where) for deb in self.debs[group]}
        if record:
            self.record(layer, names)
        return layer

    def again(self, what, source, below, megabytes=None, other=False, **change):
        """Repeats files of a layer below a directory (up to an amount) in another layer, changed."""
        layer, left = self.layer(what), None if megabytes is None else megabytes * self.scale * 1e6
        with tarfile.open(source.path) as tar:
            for info in tar:
                if not (info.name + "/").startswith(below + "/") or (info.islnk() and info.linkname not in layer.names):
                    continue
                if left is not None and (left := left - info.size) < 0:
                    break
                file = tar.extractfile(info) if info.isreg() else None
                if file and other:
                    data = bytearray(file.read())
                    data[::4096] = data[::4096].translate(OTHER)
                    file, change = io.BytesIO(data), {**change, "mtime": MTIME}
                self.put(layer, info.name, info, file, **change)
        return layer

    def delete(self, what, names, opaque=()):
        layer = self.layer(what)
        for name in names:
            layer.whiteout(name)
        for name in opaque:
            layer.file(name + "/.wh..wh..opq", b"")
        gone = tuple(name + "/" for name in (*names, *opaque))
        self.kinds = {name: kind for name, kind in self.kinds.items()
                      if name not in names and not name.startswith(gone)}

    def cache(self, megabytes):
        """Incompressible files: the packages."""
        layer, left = self.layer("pip's cache"), megabytes * self.scale * 1e6
        for deb in (deb for group in ("torch", "toolkit", "conda", "media", *GROUPS) for deb in self.debs[group]):
            name = "root/.cache/pip/http/" + os.path.basename(deb)
            if os.path.getsize(deb) <= left and name not in layer.names:
                left -= os.path.getsize(deb)
                with open(deb, "rb") as file:
                    layer.file(name, file.read())
                layer.names.add(name)

    def weights(self):
        layer, content = self.layer("weights"), Content()
        for i in range(3):
            layer.file("opt/models/shard-%d.safetensors" % i, self.trained(i, content.weights(int(147e6 * self.scale))))
        return layer

    def trained(self, shard, data):
        """The weights of a shard."""
        del shard
        return data

    def conda(self):
        half = len(self.debs["conda"]) // 2
        for what, debs in (("conda", self.debs["conda"][:half]), ("conda, more", self.debs["conda"][half:])):
            layer = self.layer(what)
            for deb in debs:
                self.unpack(layer, deb, "opt/conda/pkgs/" + os.path.basename(deb).removesuffix(".deb"),
                            "opt/conda/envs/main")

    def base(self):
        layer = self.install("base system", "base")
        for name in MERGED:
            layer.symlink(name, "usr/" + name)
        layer.file("usr/local/bin/ping", b"\x7fELF" * 900, mode=0o755,
                   pax={"SCHILY.xattr.security.capability": "\x01\0\0\x02\0 \0\0" + 12 * "\0"})

    def build(self):
        self.base()
        self.install("apt-get install, compilers", "build")
        self.install("apt-get install, documentation", "docs")
        media = self.install("apt-get install, libraries", "media")
        self.install("toolkit, libraries", "toolkit")
        self.install("toolkit, headers", "headers")
        self.conda()
        torch = self.install("framework", "torch")
        self.cache(900)
        self.delete("rm -rf /root/.cache", ["root/.cache"])
        self.again("framework, newer", torch, "usr", other=True)
        self.again("apt-get upgrade", media, "usr/lib", 200, other=True)
        for i in self.steps:
            self.install("pip install, step %d" % i, "pip-%d" % i)
        weights = self.weights()
        app = self.install("application", "app", record=False, prefix="workspace/app")
        self.again("chown -R user /workspace", app, "workspace", uid=1000, gid=1000)
        self.again("chmod -R g+w /opt/models", weights, "opt/models", 294, mode=0o664)
        self.delete("rm -rf /usr/share/doc/* and the manual",
                    sorted(name for name in self.kinds if os.path.dirname(name) == "usr/share/doc"),
                    ["usr/share/man"])
        for i in range(3):
            last = self.layer("settings, step %d" % i)
            last.file("etc/app/settings-%d.json" % i, b"{}\n")
            self.record(last, {})


def main():
    stack = Debian(sys.argv[1], float(sys.argv[2]), sys.argv[3])
    stack.build()
    write(stack)


if __name__ == "__main__":
    main()
