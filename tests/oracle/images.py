"""Images made from layers: OCI layouts and the two forms of `docker save`.

A layer is a list of tarball.Entry (or the bytes of a tar). Everything written
is a function of the arguments alone.
"""
import gzip
import hashlib
import io
import json
import os
import subprocess
import tarfile

import tarball

LAYER_TYPE = "application/vnd.oci.image.layer.v1.tar"
OCI_MANIFEST = "application/vnd.oci.image.manifest.v1+json"
OCI_INDEX = "application/vnd.oci.image.index.v1+json"
OCI_CONFIG = "application/vnd.oci.image.config.v1+json"
REF = "org.opencontainers.image.ref.name"
EPOCH = "2020-02-02T02:02:02Z"


def digest(data):
    return "sha256:" + hashlib.sha256(data).hexdigest()


def compressed(data, how):
    """(bytes, suffix of the media type)"""
    if how == "gzip":
        return gzip.compress(data, 1, mtime=0), "+gzip"
    if how == "zstd":
        done = subprocess.run(["zstd", "-q", "-1", "-c"], input=data,
                              stdout=subprocess.PIPE, check=True)
        return done.stdout, "+zstd"
    return data, ""


def config_of(tars, extra=None):
    """A configuration with members that a lossy round trip would drop."""
    history = [{"created": EPOCH, "created_by": "layer %d" % i}
               for i in range(len(tars))]
    history.append({"created": EPOCH, "created_by": "ENV A=b", "empty_layer": True})
    config = {
        "created": EPOCH, "architecture": "amd64", "os": "linux",
        "author": "the oracle", "org.example.unknown": {"deep": [1, 2.50, "x"]},
        "config": {
            "Env": ["PATH=/bin", "A=b"], "Cmd": ["/bin/true"],
            "Labels": {"a.b/c": "d", "empty": ""}, "Shell": ["/bin/ash", "-c"],
            "OnBuild": ["RUN true"], "StopSignal": "SIGQUIT", "ArgsEscaped": True,
            "Healthcheck": {"Test": ["CMD", "true"], "Interval": 3000000000},
            "Volumes": {"/data": {}}, "ExposedPorts": {"80/tcp": {}},
            "org.example.Unknown": [None, True, 18446744073709551615],
        },
        "rootfs": {"type": "layers", "diff_ids": [digest(t) for t in tars]},
        "history": history,
    }
    config.update(extra or {})
    return config


def tars_of(layers):
    return [tarball.tar_bytes(layer) for layer in layers]


def _dump(value):
    return json.dumps(value, sort_keys=True).encode()


def _save(path, data):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as out:
        out.write(data)


class _Blobs:
    """The blobs of an OCI layout, kept in memory."""

    def __init__(self):
        self.files = {}

    def add(self, data, media_type, **more):
        name = digest(data)
        self.files["blobs/sha256/" + name[7:]] = data
        return {"mediaType": media_type, "digest": name, "size": len(data), **more}


def _oci_files(tars, config, tag, compression):
    blobs = _Blobs()
    layers = []
    for tar in tars:
        data, suffix = compressed(tar, compression)
        layers.append(blobs.add(data, LAYER_TYPE + suffix))
    manifest = {"schemaVersion": 2, "mediaType": OCI_MANIFEST, "layers": layers,
                "config": blobs.add(_dump(config), OCI_CONFIG),
                "annotations": {"org.example.note": "kept"}}
    names = {REF: tag, "io.containerd.image.name": "oracle.test/" + tag + ":latest"}
    entry = blobs.add(_dump(manifest), OCI_MANIFEST, annotations=names)
    files = blobs.files
    files["index.json"] = _dump({"schemaVersion": 2, "manifests": [entry]})
    files["oci-layout"] = _dump({"imageLayoutVersion": "1.0.0"})
    return files, layers


def write_oci(path, tars, config=None, tag="latest", compression="none"):
    """An OCI layout directory at `path`."""
    files, _ = _oci_files(tars, config or config_of(tars), tag, compression)
    for name, data in files.items():
        _save(os.path.join(path, name), data)
    return path


def write_platforms(path, platforms, tag="multi", beside=None):
    """An OCI layout with an index of images for {"arch[/variant]": tars}, and an attestation.

    With `beside`, another index has that index and the images with these numbers."""
    blobs, entries = _Blobs(), []
    for name, tars in platforms.items():
        arch, _, variant = name.partition("/")
        platform = {"os": "linux", "architecture": arch, **({"variant": variant} if variant else {})}
        config = config_of(tars, platform)
        manifest = {"schemaVersion": 2, "mediaType": OCI_MANIFEST,
                    "config": blobs.add(_dump(config), OCI_CONFIG),
                    "layers": [blobs.add(tar, LAYER_TYPE) for tar in tars]}
        entries.append(blobs.add(_dump(manifest), OCI_MANIFEST, platform=platform,
                                 annotations={"org.example.for": name}))
    statement = blobs.add(_dump({"schemaVersion": 2, "layers": []}), OCI_MANIFEST,
                          platform={"os": "unknown", "architecture": "unknown"},
                          annotations={"vnd.docker.reference.type": "attestation-manifest",
                                       "vnd.docker.reference.digest": entries[0]["digest"]})
    index = {"schemaVersion": 2, "mediaType": OCI_INDEX, "manifests": entries + [statement],
             "annotations": {"org.example.index": "kept"}}
    if beside is not None:
        nested = [blobs.add(_dump(index), OCI_INDEX)] + [entries[i] for i in beside]
        index = {"schemaVersion": 2, "mediaType": OCI_INDEX, "manifests": nested}
    top = blobs.add(_dump(index), OCI_INDEX, annotations={REF: tag})
    blobs.files["index.json"] = _dump({"schemaVersion": 2, "manifests": [top]})
    blobs.files["oci-layout"] = _dump({"imageLayoutVersion": "1.0.0"})
    for name, data in blobs.files.items():
        _save(os.path.join(path, name), data)
    return path


class _Archive:
    """The outer tar of `docker save`."""

    def __init__(self, path):
        self.tar = tarfile.open(path, "w", format=tarfile.USTAR_FORMAT)

    def _info(self, name, type_=tarfile.REGTYPE):
        info = tarfile.TarInfo(name)
        info.type, info.mode = type_, 0o755 if type_ == tarfile.DIRTYPE else 0o644
        return info

    def directory(self, name):
        self.tar.addfile(self._info(name, tarfile.DIRTYPE))

    def file(self, name, data):
        info = self._info(name)
        info.size = len(data)
        self.tar.addfile(info, io.BytesIO(data))

    def symlink(self, name, target):
        info = self._info(name, tarfile.SYMTYPE)
        info.linkname = target
        self.tar.addfile(info)


def write_docker_old(path, tars, config=None, name="oracle:latest", compression="none"):
    """`docker save` before 25; equal layers become symlinks, as moby makes them."""
    config = _dump(config or config_of(tars))
    parts, seen, layers, parent = {}, {}, [], ""
    for i, tar in enumerate(tars):
        ident = hashlib.sha256(b"%d " % i + parent.encode() + tar).hexdigest()
        about = {"id": ident, "created": EPOCH, **({"parent": parent} if parent else {})}
        twin = seen.setdefault(tar, ident)
        parts[ident] = (_dump(about), tar, None if twin == ident else twin)
        layers.append(ident + "/layer.tar")
        parent = ident
    config_name = digest(config)[7:] + ".json"
    parts[config_name] = config
    repo, _, tag = name.rpartition(":")
    parts["manifest.json"] = json.dumps(
        [{"Config": config_name, "RepoTags": [name], "Layers": layers}]).encode()
    parts["repositories"] = _dump({repo: {tag: parent}})
    archive = _Archive(path)
    for key in sorted(parts):
        _old_part(archive, key, parts[key], compression)
    archive.tar.close()
    return path


def _old_part(archive, key, part, compression):
    if isinstance(part, bytes):
        archive.file(key, part)
        return
    about, tar, twin = part
    archive.directory(key)
    archive.file(key + "/VERSION", b"1.0")
    archive.file(key + "/json", about)
    if twin:
        archive.symlink(key + "/layer.tar", "../" + twin + "/layer.tar")
    else:
        archive.file(key + "/layer.tar", compressed(tar, compression)[0])


def write_docker_new(path, tars, config=None, name="oracle:latest", compression="none"):
    """`docker save` of 25 and later: an OCI layout with a manifest.json."""
    config = config or config_of(tars)
    files, layers = _oci_files(tars, config, name.rpartition(":")[2], compression)
    where = ["blobs/sha256/" + layer["digest"][7:] for layer in layers]
    files["manifest.json"] = json.dumps(
        [{"Config": "blobs/sha256/" + digest(_dump(config))[7:],
          "RepoTags": [name], "Layers": where}]).encode()
    archive = _Archive(path)
    archive.directory("blobs")
    archive.directory("blobs/sha256")
    for key in sorted(files):
        archive.file(key, files[key])
    archive.tar.close()
    return path


def write_several(path, named):
    """One `docker save` of several images, {name: tars}; a name may be several words, or none."""
    items, files = [], {}
    for name, tars in named.items():
        config = config_of(tars, {"org.example.names": name})
        more, layers = _oci_files(tars, config, name.rpartition(":")[2], "none")
        files.update(more)
        items.append({"Config": "blobs/sha256/" + digest(_dump(config))[7:],
                      "RepoTags": name.split() or None,
                      "Layers": ["blobs/sha256/" + layer["digest"][7:] for layer in layers]})
    files["manifest.json"] = json.dumps(items).encode()
    archive = _Archive(path)
    for key in sorted(files):
        archive.file(key, files[key])
    archive.tar.close()
    return path
