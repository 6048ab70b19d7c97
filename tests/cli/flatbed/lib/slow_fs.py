#!/usr/bin/python3
"""A file system on which each lookup and each read takes a while, as on a server that is far or busy.

    tests/cli/flatbed/lib/slow_fs.py MOUNTPOINT SECONDS

It has 281 TB, half of them free, and one file, `disk`, of 8 MB, which can be written. (Debian's own Python, for python3-pyfuse3.)
"""
import errno
import stat
import sys

import pyfuse3
import trio

DISK, BYTES = pyfuse3.ROOT_INODE + 1, 8 << 20


class Slow(pyfuse3.Operations):
    def __init__(self, seconds):
        super().__init__()
        self.seconds = seconds
        self.data = bytearray(BYTES)

    async def getattr(self, inode, ctx=None):
        entry = pyfuse3.EntryAttributes()
        entry.st_ino = inode
        entry.st_mode = stat.S_IFREG | 0o644 if inode == DISK else stat.S_IFDIR | 0o755
        entry.st_nlink = 1
        entry.st_size = BYTES if inode == DISK else 0
        entry.entry_timeout = entry.attr_timeout = 3600
        return entry

    async def setattr(self, inode, attr, fields, fh, ctx):
        return await self.getattr(inode)

    async def lookup(self, parent, name, ctx=None):
        if name == b"disk":
            return await self.getattr(DISK)
        await trio.sleep(self.seconds)
        raise pyfuse3.FUSEError(errno.ENOENT)

    async def statfs(self, ctx):
        found = pyfuse3.StatvfsData()
        found.f_bsize = found.f_frsize = 4096
        found.f_blocks = 1 << 36  # 281 TB
        found.f_bfree = found.f_bavail = 1 << 35
        found.f_namemax = 255
        return found

    async def opendir(self, inode, ctx):
        return inode

    async def readdir(self, inode, start, token):
        return

    async def open(self, inode, flags, ctx):
        return pyfuse3.FileInfo(fh=inode, direct_io=True)

    async def read(self, fh, offset, size):
        await trio.sleep(self.seconds)
        return bytes(self.data[offset:offset + size])

    async def write(self, fh, offset, data):
        self.data[offset:offset + len(data)] = data
        return len(data)


async def serve(point, seconds):
    pyfuse3.init(Slow(seconds), point, set(pyfuse3.default_options))
    try:
        await pyfuse3.main()
    finally:
        pyfuse3.close()


if __name__ == "__main__":
    trio.run(serve, sys.argv[1], float(sys.argv[2]))
