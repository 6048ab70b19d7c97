#!/usr/bin/python3
"""A file system of a server that cannot be trusted, or that fails: sources of staged volumes.

    tests/cli/shim/lib/strange_fs.py MOUNTPOINT twice DIRECTORY
        lists the name `a` twice: at first it is a symbolic link to DIRECTORY, once that was read a directory with `b`
        and `kept`, which is a hard link
    tests/cli/shim/lib/strange_fs.py MOUNTPOINT squash UID
        everybody may list it, and only UID may open its files, as on an export of NFS with root_squash
    tests/cli/shim/lib/strange_fs.py MOUNTPOINT closed UID
        only UID may look into it
    tests/cli/shim/lib/strange_fs.py MOUNTPOINT hang
        a read of its file `2` never ends

(Debian's own Python, for python3-pyfuse3.)
"""
import errno
import os
import stat
import sys

import pyfuse3
import trio

ROOT, FIRST, LINK, DIRECTORY, BELOW = 1, 2, 3, 4, 5
CONTENT = b"content\n"


class Strange(pyfuse3.Operations):
    """A directory of files, whose names are their numbers; subclasses change what they need."""

    names = {ROOT: [(b"1", 11), (b"2", 12), (b"3", 13)]}
    links, owner, mode = 1, 0, 0o644

    def kind(self, inode):
        return stat.S_IFDIR | 0o755 if inode in self.names else stat.S_IFREG | self.mode

    async def getattr(self, inode, ctx=None):
        entry = pyfuse3.EntryAttributes()
        entry.st_ino, entry.st_mode, entry.st_uid = inode, self.kind(inode), self.owner
        entry.st_nlink = self.links
        entry.st_size = len(CONTENT) if stat.S_ISREG(entry.st_mode) else 0
        entry.st_mtime_ns = entry.st_ctime_ns = 10**18
        entry.entry_timeout = entry.attr_timeout = 0
        return entry

    def find(self, parent, name):
        return dict(self.names.get(parent, [])).get(name)

    async def lookup(self, parent, name, ctx=None):
        inode = self.find(parent, name)
        if inode is None:
            raise pyfuse3.FUSEError(errno.ENOENT)
        return await self.getattr(inode)

    async def opendir(self, inode, ctx):
        return inode

    async def readdir(self, inode, start, token):
        for at, (name, _) in enumerate(self.names[inode]):
            if at >= start and not pyfuse3.readdir_reply(
                    token, name, await self.getattr(self.find(inode, name)), at + 1):
                return

    async def open(self, inode, flags, ctx):
        return pyfuse3.FileInfo(fh=inode)

    async def read(self, fh, offset, size):
        return CONTENT[offset:offset + size]


class Twice(Strange):
    names = {ROOT: [(b"first", FIRST), (b"a", LINK), (b"a", LINK)],
             DIRECTORY: [(b"b", BELOW), (b"kept", FIRST)], BELOW: []}
    links = 2

    def __init__(self, target):
        super().__init__()
        self.target, self.read_once = os.fsencode(target), False

    def kind(self, inode):
        return stat.S_IFLNK | 0o777 if inode == LINK else super().kind(inode)

    def find(self, parent, name):
        inode = super().find(parent, name)
        return DIRECTORY if inode == LINK and self.read_once else inode

    async def readlink(self, inode, ctx):
        self.read_once = True
        return self.target


class Squash(Strange):
    mode = 0o640

    def __init__(self, uid):
        super().__init__()
        self.owner = int(uid)

    async def open(self, inode, flags, ctx):
        if ctx.uid != self.owner:
            raise pyfuse3.FUSEError(errno.EACCES)
        return pyfuse3.FileInfo(fh=inode)


class Closed(Squash):
    names = {ROOT: [(b"imagenet", DIRECTORY)], DIRECTORY: Strange.names[ROOT]}

    def kind(self, inode):
        return stat.S_IFDIR | 0o700 if inode in self.names else super().kind(inode)

    def check(self, ctx):
        if ctx.uid != self.owner:
            raise pyfuse3.FUSEError(errno.EACCES)

    async def lookup(self, parent, name, ctx=None):
        self.check(ctx)
        return await super().lookup(parent, name, ctx)

    async def opendir(self, inode, ctx):
        self.check(ctx)
        return await super().opendir(inode, ctx)


class Hang(Strange):
    async def read(self, fh, offset, size):
        if fh == 12:
            await trio.sleep_forever()
        return await super().read(fh, offset, size)


async def serve(point, kind, *arguments):
    operations = {"twice": Twice, "squash": Squash, "closed": Closed, "hang": Hang}[kind](*arguments)
    pyfuse3.init(operations, point, {"allow_other", "fsname=strange"})
    try:
        await pyfuse3.main()
    finally:
        pyfuse3.close()


if __name__ == "__main__":
    trio.run(serve, *sys.argv[1:])
