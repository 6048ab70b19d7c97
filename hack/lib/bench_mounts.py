"""Lookups in mounts of an image's layers, for hack/bench-carve --lookups: files without their content. Needs root."""
import json
import os
import shutil
import stat
import subprocess
import tarfile

import lookup_times

WHITEOUT, OPAQUE = ".wh.", ".wh..wh..opq"


def blob(layout, descriptor):
    return layout + "/blobs/sha256/" + descriptor["digest"].removeprefix("sha256:")


def manifest(layout):
    """The manifest of a layout's first image."""
    with open(layout + "/index.json", encoding="utf-8") as file:
        entry = json.load(file)["manifests"][0]
    with open(blob(layout, entry), encoding="utf-8") as file:
        return json.load(file)


def layers(layout):
    """Yields each layer's tar archive, the oldest first."""
    for descriptor in manifest(layout)["layers"]:
        path = blob(layout, descriptor)
        reader = "zstd" if descriptor["mediaType"].endswith("+zstd") else "pigz"
        with subprocess.Popen([reader, "-dc", path], stdout=subprocess.PIPE) as archive:
            with tarfile.open(fileobj=archive.stdout, mode="r|") as entries:
                yield entries
            archive.stdout.read()  # what is behind the archive's end
        if archive.returncode:
            raise SystemExit("cannot read " + path)


def stand_in(home, info):
    """Makes what overlayfs has for an entry of a layer."""
    parent, name = os.path.split(os.path.normpath(info.name))
    parent = os.path.join(home, parent)
    os.makedirs(parent, exist_ok=True)
    path = os.path.join(parent, name)
    if name == OPAQUE:
        os.setxattr(parent, "trusted.overlay.opaque", b"y")
    elif name.startswith(WHITEOUT):
        os.mknod(os.path.join(parent, name.removeprefix(WHITEOUT)), stat.S_IFCHR, 0)
    elif info.isdir():
        os.makedirs(path, exist_ok=True)
    else:
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT, 0o644))


def merged(stack):
    """The stack with the paths that its mount shows."""
    directories, files = [], []
    with lookup_times.overlay(stack) as point:
        for base, below, names in os.walk(point):
            directories += [os.path.relpath(os.path.join(base, name), point) for name in below]
            files += [os.path.relpath(os.path.join(base, name), point) for name in names]
    return stack._replace(directories=directories, files=files)


def unpacked(home, layout):
    os.makedirs(home + "/none")
    for count, archive in enumerate(layers(layout), 1):
        layer = "%s/%d" % (home, count - 1)
        os.mkdir(layer)
        for info in archive:
            stand_in(layer, info)
    return merged(lookup_times.Stack(home, count, [], []))


def measure(home, layouts, runs):
    """Yields (caches, label, {kind: times those of the last layout}) of {label: layout}, all with the same tree."""
    os.mkdir(home)
    try:
        stacks = {label: unpacked("%s/%d" % (home, n), layout) for n, (label, layout) in enumerate(layouts.items())}
        if len({frozenset(stack.directories + stack.files) for stack in stacks.values()}) != 1:
            raise SystemExit("the layers of %s have different trees" % ", ".join(stacks))
        for caches, cold in (("fresh mount", False), ("dropped", True)):
            times = lookup_times.measure(stacks, runs, cold)
            base = times[list(stacks)[-1]]
            for label, some in times.items():
                yield caches, label, {kind: seconds / base[kind] for kind, seconds in some.items()}
    finally:
        shutil.rmtree(home)
