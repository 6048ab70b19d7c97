"""Unpacks a layer into a diff directory as moby's overlay2 does.

This unpacker is part of the project, so it proves nothing alone: the random test uses it because an
engine takes a tenth of a second an image. `run.py --random N --real` compares it
with containers/storage. It accepts only layers that engines accept (stacks.py makes
no others). `implied` chooses the attributes of a missing parent over a directory of a
lower layer: moby uses 0755 and root, containerd those of the lower directory.
"""
import os
import shutil
import stat

import tarball

MAKE = {tarball.CHR: stat.S_IFCHR, tarball.BLK: stat.S_IFBLK, tarball.FIFO: stat.S_IFIFO}


class Unpacker:
    def __init__(self, top, lower=(), implied="moby"):
        self.top, self.lower, self.implied, self.times = os.fsencode(top), lower, implied, []

    def layer(self, entries):
        os.mkdir(self.top)
        for entry in entries:
            self.entry(entry, entry.name.strip(b"/"))
        for path, mtime in self.times:
            os.utime(path, ns=(mtime, mtime), follow_symlinks=False)

    def parents(self, path):
        missing = []
        while path and not os.path.lexists(os.path.join(self.top, path)):
            missing.append(path)
            path = os.path.dirname(path)
        for name in reversed(missing):
            full = os.path.join(self.top, name)
            os.mkdir(full)
            os.chmod(full, 0o755)
            if self.implied == "containerd":
                self.copy_lower(name, full)

    def copy_lower(self, name, full):
        for lower in self.lower:
            path = os.path.join(os.fsencode(lower), name)
            if os.path.isdir(path) and not os.path.islink(path):
                st = os.lstat(path)
                os.chown(full, st.st_uid, st.st_gid)
                os.chmod(full, stat.S_IMODE(st.st_mode))
                for key in os.listxattr(path):
                    if not key.startswith("trusted.overlay."):
                        os.setxattr(full, key, os.getxattr(path, key))
                return

    def entry(self, e, name):
        parent, base = os.path.split(name)
        self.parents(parent)
        path = os.path.join(self.top, name)
        if base == b".wh..wh..opq":
            os.setxattr(os.path.join(self.top, parent), "trusted.overlay.opaque", b"y")
            return
        if base.startswith(b".wh."):
            os.mknod(os.path.join(self.top, parent, base[4:]), stat.S_IFCHR, 0)
            return
        is_dir = os.path.isdir(path) and not os.path.islink(path)
        if os.path.lexists(path) and not (is_dir and e.type == tarball.DIR):
            shutil.rmtree(path) if is_dir else os.unlink(path)
        self.make(e, path)
        self.attributes(e, path)

    def make(self, e, path):
        if e.type == tarball.DIR:
            if not os.path.isdir(path):
                os.mkdir(path)
        elif e.type == tarball.LNK:
            os.link(os.path.join(self.top, e.link), path, follow_symlinks=False)
        elif e.type == tarball.SYM:
            os.symlink(e.link, path)
        elif e.type == tarball.REG:
            with open(path, "wb") as out:
                out.write(e.data)
        else:
            os.mknod(path, MAKE[e.type] | 0o600, os.makedev(*e.dev))

    def attributes(self, e, path):
        os.lchown(path, e.uid, e.gid)
        for key, value in e.xattrs.items():
            os.setxattr(path, key, value, follow_symlinks=False)
        if not os.path.islink(path):
            os.chmod(path, e.mode)
        self.times.append((path, e.mtime))
