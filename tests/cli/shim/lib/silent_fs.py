#!/usr/bin/python3
"""A user's file system of FUSE whose server takes each request and never answers.

    tests/cli/shim/lib/silent_fs.py MOUNTPOINT UID

It is mounted as fusermount3 does it for a user who does not share it: the kernel lets no other user in, not even root.
Once the server has taken a request, SIGKILL does not end who waits for it.
"""
import ctypes
import os
import struct
import sys

INIT = 26
NOSUID, NODEV = 2, 4


def mount(point, uid):
    fd = os.open("/dev/fuse", os.O_RDWR)
    options = f"fd={fd},rootmode=40000,user_id={uid},group_id={uid}"
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.mount(b"silent", os.fsencode(point), b"fuse", NOSUID | NODEV, options.encode()) < 0:
        sys.exit(f"mount: {os.strerror(ctypes.get_errno())}")
    return fd


def main():
    fd = mount(sys.argv[1], int(sys.argv[2]))
    while True:
        request = os.read(fd, 1 << 20)
        operation, unique = struct.unpack_from("=IQ", request, 4)
        if operation == INIT:
            answer = struct.pack("=IIIIHHII", 7, 31, 4096, 0, 12, 9, 4096, 1) + bytes(36)
            os.write(fd, struct.pack("=IiQ", 16 + len(answer), 0, unique) + answer)


main()
