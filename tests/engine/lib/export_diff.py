#!/usr/bin/env python3
"""Compares what two containers show, by their `docker export` archives.

Usage: export_diff.py A.tar B.tar

Path, type, mode, owner, mtime, size, content, link, device and extended attributes must be equal.
What dockerd itself puts over an image (the init layer: .dockerenv, /dev, /etc/hosts …) and the
times of the directories that it touches for that are not the image's. Exit status 1 and a line for
each difference.
"""
import hashlib
import sys
import tarfile

DOCKERS = {".dockerenv", "etc/hosts", "etc/hostname", "etc/resolv.conf", "etc/mtab",
           "dev/console", "dev/pts", "dev/shm"}
TOUCHED = {"", "dev", "etc", "proc", "sys"}


def entry(archive, member, name):
    """The compared facts of one member."""
    facts = {"type": member.type, "mode": oct(member.mode), "uid": member.uid, "gid": member.gid,
             "size": member.size, "link": member.linkname, "mtime": member.mtime,
             "device": (member.devmajor, member.devminor),
             "xattrs": {key: value for key, value in member.pax_headers.items()
                        if key.startswith("SCHILY.xattr.")}}
    if name in TOUCHED:
        facts["mtime"] = None
    if member.isreg():
        total = hashlib.sha256()
        content = archive.extractfile(member)
        while chunk := content.read(1 << 20):
            total.update(chunk)
        facts["sha256"] = total.hexdigest()
    return facts


def read(path):
    """name -> facts; which member of a hardlink group comes first depends on names alone."""
    entries = {}
    with tarfile.open(path) as archive:
        for member in archive:
            name = member.name.strip("/").removeprefix("./")
            if name not in DOCKERS:
                entries[name] = entry(archive, member, name)
    return entries


def main():
    one, two = read(sys.argv[1]), read(sys.argv[2])
    differences = 0
    for name in sorted(one.keys() | two.keys()):
        if one.get(name) != two.get(name):
            print(f"{name!r}:\n  {one.get(name)}\n  {two.get(name)}")
            differences += 1
    print(f"{len(one)} entries, {differences} different")
    return 1 if differences or not one else 0


sys.exit(main())
