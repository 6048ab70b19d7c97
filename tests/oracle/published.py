"""Reads the image that flatten wrote, and checks the invariants of every image."""
import hashlib
import io
import json
import os
import subprocess
import tarfile

import images

ZSTD, GZIP = b"\x28\xb5\x2f\xfd", b"\x1f\x8b"


class Broken(Exception):
    """The image cannot even be read."""


def inflate(data):
    """The tar of a layer with any compression."""
    tool = {ZSTD: "zstd", GZIP: "gzip"}.get(data[:4]) or {GZIP: "gzip"}.get(data[:2])
    if not tool:
        return data
    return subprocess.run([tool, "-dcq"], input=data, stdout=subprocess.PIPE, check=True).stdout


class Directory:
    """The files of an OCI layout directory."""

    def __init__(self, path):
        self.path = path

    def read(self, name):
        with open(os.path.join(self.path, name), "rb") as source:
            return source.read()

    def names(self):
        return [os.path.relpath(os.path.join(top, name), self.path)
                for top, _, files in os.walk(self.path) for name in files]


class Archive:
    """The files of a docker archive."""

    def __init__(self, path):
        self.tar = tarfile.open(path)

    def read(self, name):
        return self.tar.extractfile(name).read()

    def names(self):
        return [member.name for member in self.tar if not member.isdir()]


def _blob(files, descriptor, problems):
    name = "blobs/" + descriptor["digest"].replace(":", "/")
    data = files.read(name)
    if images.digest(data) != descriptor["digest"]:
        problems.append("digest of %s is wrong" % name)
    if len(data) != descriptor["size"]:
        problems.append("size of %s is wrong" % name)
    return data


MAGIC = {"+gzip": GZIP, "+zstd": ZSTD, "": b""}


def _oci(files, problems):
    index = json.loads(files.read("index.json"))
    json.loads(files.read("oci-layout"))["imageLayoutVersion"]
    if len(index["manifests"]) != 1:
        problems.append("index.json has %d manifests" % len(index["manifests"]))
    manifest = json.loads(_blob(files, index["manifests"][0], problems))
    config = _blob(files, manifest["config"], problems)
    tars, wanted = [], {manifest["config"]["digest"], index["manifests"][0]["digest"]}
    for layer in manifest["layers"]:
        data = _blob(files, layer, problems)
        wanted.add(layer["digest"])
        suffix = layer["mediaType"].removeprefix(images.LAYER_TYPE)
        if suffix not in MAGIC or not data.startswith(MAGIC[suffix]):
            problems.append("media type %s of other bytes" % layer["mediaType"])
        tars.append(inflate(data))
    have = {"sha256:" + n.split("/")[-1] for n in files.names() if n.startswith("blobs/")}
    if have - wanted:
        problems.append("%d blobs that nothing refers to" % len(have - wanted))
    return config, tars


def _docker(files, problems):
    entries = json.loads(files.read("manifest.json"))
    if len(entries) != 1:
        problems.append("manifest.json has %d images" % len(entries))
    config = files.read(entries[0]["Config"])
    name = hashlib.sha256(config).hexdigest()
    if os.path.basename(entries[0]["Config"]).removesuffix(".json") != name:
        problems.append("name of the configuration is not its digest")
    tars = [inflate(files.read(layer)) for layer in entries[0]["Layers"]]
    if "index.json" in files.names():
        _oci(files, problems)
    return config, tars


def read(kind, path):
    """(configuration, tars, problems) of the image of that kind at `path`."""
    problems = []
    try:
        if kind == "oci":
            config, tars = _oci(Directory(path), problems)
        else:
            config, tars = _docker(Archive(path), problems)
        return json.loads(config), tars, problems
    except (OSError, KeyError, ValueError, tarfile.TarError, subprocess.SubprocessError) as error:
        raise Broken("%s: %s" % (type(error).__name__, error)) from error


def check_config(before, after, tars):
    """Only rootfs, history and created may differ."""
    lines = []
    for key in sorted(before.keys() | after.keys()):
        if key not in ("rootfs", "history", "created") and before.get(key) != after.get(key):
            lines.append("config: %s is %r, was %r" % (key, after.get(key), before.get(key)))
    if after["rootfs"].get("diff_ids") != [images.digest(tar) for tar in tars]:
        lines.append("config: diff_ids are not the digests of the layers")
    if after["rootfs"].get("type") != "layers":
        lines.append("config: rootfs.type is not layers")
    filled = [h for h in after.get("history", ()) if not h.get("empty_layer")]
    if len(filled) != len(tars):
        lines.append("config: %d history entries for %d layers" % (len(filled), len(tars)))
    return lines


def _clean(name):
    parts = [p for p in name.split("/") if p not in ("", ".")]
    return "/".join(parts)


class _Order:
    """Follows the members of a tar and notes wrong orders."""

    def __init__(self, whiteouts):
        self.kinds, self.lines, self.whiteouts = {"": b"5"}, [], whiteouts

    def say(self, text, name):
        self.lines.append("layer: %s: %s" % (name.encode("utf-8", "backslashreplace").decode(), text))

    def member(self, info):
        name = _clean(info.name)
        parent, _, base = name.rpartition("/")
        if info.name.startswith("/") or ".." in info.name.split("/"):
            self.say("name is absolute or has ..", info.name)
        if base.startswith(".wh.") and not self.whiteouts:
            self.say("whiteout", name)
        if name in self.kinds and name:
            self.say("twice", name)
        if self.kinds.get(parent) != b"5":
            self.say("parent directory does not precede", name)
        if info.islnk() and self.kinds.get(_clean(info.linkname), b"5") == b"5":
            self.say("link target %s does not precede" % info.linkname, name)
        if info.type == tarfile.CHRTYPE and (info.devmajor, info.devminor) == (0, 0):
            self.say("device 0:0", name)
        if any("trusted.overlay." in key for key in info.pax_headers):
            self.say("an xattr of overlay", name)
        self.kinds[name] = info.type


def check_layer(tar, whiteouts=False):
    """Checks the invariants of a fully squashed layer, or of one above kept layers."""
    order = _Order(whiteouts)
    if len(tar) % 512:
        order.lines.append("layer: not whole blocks")
    try:
        with tarfile.open(fileobj=io.BytesIO(tar), encoding="utf-8",
                          errors="surrogateescape") as archive:
            for info in archive:
                order.member(info)
    except tarfile.TarError as error:
        order.lines.append("layer: %s" % error)
    return order.lines


def bytes_of(path):
    """A value equal for equal images on disk."""
    if not os.path.isdir(path):
        return Directory(os.path.dirname(path)).read(os.path.basename(path))
    files = Directory(path)
    return {name: files.read(name) for name in sorted(files.names())}
