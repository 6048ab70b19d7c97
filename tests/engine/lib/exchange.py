"""exchange.py A B: exchanges two names over and over, until it is killed (renameat2(2), RENAME_EXCHANGE)."""
import ctypes
import sys

libc = ctypes.CDLL(None, use_errno=True)
while True:
    if libc.renameat2(-100, sys.argv[1].encode(), -100, sys.argv[2].encode(), 2) != 0:
        sys.exit(f"renameat2: errno {ctypes.get_errno()}")
