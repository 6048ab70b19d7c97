"""The oracles: independent programs that unpack the same image.

Each engine has `unpack(layers, newer)`, which returns the tree of an image or
raises Refused with the engine's message. `umoci` stands for the specification,
the others for the view of a container through the kernel's overlay.
"""
import itertools
import os
import re
import shutil
import subprocess
import tempfile
import time

import images
import overlay
import trees


class Refused(Exception):
    """The engine would not unpack the image."""


class Workspace:
    """A temporary directory; its removal includes the mounts below it."""

    def __init__(self):
        self.path = tempfile.mkdtemp(prefix="oracle-")
        os.chmod(self.path, 0o755)
        self.serial = itertools.count(1)

    def new(self, prefix="x"):
        return os.path.join(self.path, "%s%d" % (prefix, next(self.serial)))

    def mounts(self):
        with open("/proc/self/mounts") as table:
            points = [line.split()[1] for line in table]
        return [p for p in points if p.startswith(self.path + "/")]

    def close(self):
        for point in sorted(self.mounts(), reverse=True):
            subprocess.run(["umount", "-l", point], check=False)
        for _ in range(5):  # a lazy unmount may take a moment
            shutil.rmtree(self.path, ignore_errors=True)
            if not os.path.exists(self.path):
                return
            time.sleep(0.2)


def run(args, **kw):
    return subprocess.run(args, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          text=True, errors="backslashreplace", **kw)


NOISE = (  # text that differs from run to run, or that every message has
    (r'time="[^"]*" level=\w+ msg=|\\?"time=.*?\\n(?=\))', ""),
    (r"/[^ ]*/oracle-[a-z0-9_]+(/ctd\d+/root/[^ ]*?/(fs|containerd-?mount\d+)|/bundle\d+/rootfs)?", ""),
    (r"sha256:[0-9a-f]{64}|\b[0-9a-f]{64}\b", "<id>"),
    (r"mount callback failed on [^ ]*: |failed to extract layer <id>: |^ctr: |: unknown$", ""),
    (r"^\s*⨯ create runtime bundle: unpack rootfs: unpack layer: ", ""),
    (r'.*blob \\"<id>\\": processing tar file(.*)"$', r"\1"),
    (r".*\\n(?=\))", ""),
    (r"\b\d{9,}\b", "<n>"))


def reason(done, hide=()):
    """The last line of an engine's output, without text that differs from run to run."""
    text = (done.stderr.strip() or done.stdout.strip() or "status %d" % done.returncode)
    text = text.splitlines()[-1]
    for path in hide:
        text = text.replace(path, "")
    for pattern, new in NOISE:
        text = re.sub(pattern, new, text)
    return text[-200:]


def check(args, hide=(), **kw):
    done = run(args, **kw)
    if done.returncode:
        raise Refused(reason(done, hide))
    return done.stdout


class Umoci:
    """The specification, as umoci understands it."""
    name = "umoci"

    def __init__(self, work):
        self.work = work

    def unpack(self, layers, newer=None):
        return self.unpack_tars(images.tars_of(layers), newer)

    def unpack_tars(self, tars, newer=None):
        oci = images.write_oci(self.work.new("oci"), tars)
        bundle = self.work.new("bundle")
        try:
            check(["umoci", "unpack", "--image", oci + ":latest", bundle])
            return trees.read(os.path.join(bundle, "rootfs"), newer)
        finally:
            shutil.rmtree(oci, ignore_errors=True)
            shutil.rmtree(bundle, ignore_errors=True)

    def close(self):
        pass


def read_overlay(work, home, top, newer):
    """The tree of layer `top` of an overlay store at `home` (moby's and
    containers/storage's have one form), mounted through its short links."""
    with open(os.path.join(home, top, "link")) as link:
        lower = ["l/" + link.read()]
    if os.path.exists(os.path.join(home, top, "lower")):
        with open(os.path.join(home, top, "lower")) as rest:
            lower += rest.read().split(":")
    return read_mounted(work, home, lower, newer)


def read_mounted(work, cwd, lower, newer):
    """The tree of lower directories (topmost first), relative to `cwd`."""
    empty, point = work.new("empty"), work.new("mnt")
    os.mkdir(empty)
    os.mkdir(point)
    if len(lower) == 1:  # the kernel needs two
        lower = lower + [empty]
    done = overlay.mount("ro,lowerdir=" + ":".join(lower), point, cwd)
    if done.returncode:
        raise Refused(reason(done))
    try:
        return trees.read(point, newer)
    finally:
        subprocess.run(["umount", point], check=True)
        os.rmdir(point)
        os.rmdir(empty)


class Storage:
    """containers/storage (podman, buildah, CRI-O) through skopeo."""
    name = "containers/storage"

    def __init__(self, work):
        self.work = work

    def unpack(self, layers, newer=None):
        return self.unpack_tars(images.tars_of(layers), newer)

    def unpack_tars(self, tars, newer=None):
        oci, root = images.write_oci(self.work.new("oci"), tars), self.work.new("cs")
        try:
            return self.unpack_reference("oci:" + oci + ":latest", root, newer)
        finally:
            shutil.rmtree(oci, ignore_errors=True)
            shutil.rmtree(root, ignore_errors=True)

    def unpack_reference(self, reference, root, newer=None):
        store = "containers-storage:[overlay@%s/root+%s/run]oracle:latest" % (root, root)
        check(["skopeo", "--insecure-policy", "copy", "-q", reference, store], hide=[root])
        with open(root + "/root/overlay-images/images.json") as table:
            top = re.search(r'"layer":"([0-9a-f]{64})"', table.read())
        home = root + "/root/overlay"
        if not top:
            return {}
        return read_overlay(self.work, home, top.group(1), newer)

    def close(self):
        for point in self.work.mounts():
            if point.endswith("/root/overlay"):
                subprocess.run(["umount", point], check=False)


def wait_for(probe, process, seconds=300):
    deadline = time.monotonic() + seconds
    while run(probe).returncode:
        if process.poll() is not None or time.monotonic() > deadline:
            raise RuntimeError("%s did not start" % probe[0])
        time.sleep(0.1)


def stop(process):
    process.terminate()
    try:
        process.wait(60)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
