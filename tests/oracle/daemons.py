"""The oracles that are daemons: private ones, on sockets of their own."""
import os
import shutil
import subprocess
import tarfile
import threading

import images
import trees
from engines import check, read_overlay, run, stop, wait_for

CONTAINERD_CONFIG = """version = 2
root = "{dir}/root"
state = "{dir}/state"
disabled_plugins = ["io.containerd.grpc.v1.cri", "io.containerd.snapshotter.v1.btrfs",
  "io.containerd.snapshotter.v1.zfs", "io.containerd.snapshotter.v1.aufs",
  "io.containerd.snapshotter.v1.devmapper"]
[grpc]
address = "{dir}/sock"
[ttrpc]
address = "{dir}/ttrpc"
"""


def start_containerd(work):
    """(process, address)"""
    home = work.new("ctd")
    os.mkdir(home)
    with open(home + "/config.toml", "w") as out:
        out.write(CONTAINERD_CONFIG.format(dir=home))
    with open(home + "/log", "w") as log:
        process = subprocess.Popen(["containerd", "--config", home + "/config.toml"],
                                   stdout=log, stderr=log)
    wait_for(["ctr", "-a", home + "/sock", "version"], process)
    return process, home + "/sock"


class Containerd:
    """containerd with its overlayfs snapshotter."""
    name = "containerd"

    def __init__(self, work):
        self.work, self.lock = work, threading.Lock()
        self.process, self.address = start_containerd(work)

    def _ctr(self, *args):
        return check(["ctr", "-a", self.address, *args])

    def unpack(self, layers, newer=None):
        with self.lock:  # removing an image also removes layers that another one shares
            return self.unpack_tars(images.tars_of(layers), newer)

    def unpack_tars(self, tars, newer=None):
        path = self.work.new("oci")
        oci = images.write_oci(path, tars, tag=os.path.basename(path))
        tag = "oracle.test/%s:latest" % os.path.basename(path)
        archive, point = oci + ".tar", self.work.new("ctr")
        os.mkdir(point)
        with tarfile.open(archive, "w") as out:
            out.add(oci, ".")
        try:
            self._ctr("images", "import", "--snapshotter", "overlayfs", archive)
            self._ctr("images", "mount", "--snapshotter", "overlayfs", tag, point)
            tree = trees.read(point, newer)
            self._ctr("images", "unmount", "--rm", point)
            return tree
        finally:
            run(["ctr", "-a", self.address, "images", "rm", "--sync", tag])
            shutil.rmtree(oci)
            os.remove(archive)

    def close(self):
        stop(self.process)


class Docker:
    """dockerd with overlay2, fed by `docker load`."""
    name = "dockerd"

    def __init__(self, work):
        self.work, self.lock = work, threading.Lock()
        self.containerd, address = start_containerd(work)
        self.home = work.new("dockerd")
        os.mkdir(self.home)
        self.socket = "unix://" + self.home + "/sock"
        with open(self.home + "/log", "w") as log:
            self.process = subprocess.Popen(
                ["dockerd", "--containerd", address, "-H", self.socket,
                 "--data-root", self.home + "/root", "--exec-root", self.home + "/exec",
                 "-p", self.home + "/pid", "--bridge=none", "--iptables=false",
                 "--ip6tables=false", "--storage-driver=overlay2"],
                stdout=log, stderr=log)
        wait_for(["docker", "-H", self.socket, "version"], self.process)

    def _docker(self, *args):
        return check(["docker", "-H", self.socket, *args])

    def unpack(self, layers, newer=None):
        with self.lock:  # all images have one name
            return self.unpack_tars(images.tars_of(layers), newer)

    def unpack_tars(self, tars, newer=None):
        archive = images.write_docker_old(self.work.new("save") + ".tar", tars)
        try:
            self._docker("load", "-q", "-i", archive)
            merged = self._docker("image", "inspect", "-f", "{{.GraphDriver.Data.UpperDir}}",
                                  "oracle:latest").strip()
            home, top = os.path.split(os.path.dirname(merged))
            return read_overlay(self.work, home, top, newer)
        finally:
            os.remove(archive)
            run(["docker", "-H", self.socket, "rmi", "-f", "oracle:latest"])

    def close(self):
        stop(self.process)
        stop(self.containerd)
