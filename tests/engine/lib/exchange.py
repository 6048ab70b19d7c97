"""exchange.py A B: exchanges two names over and over, until it is killed (renameat2(2), RENAME_EXCHANGE).

Each state lasts between 10 us and 0.3 s: shorter and longer than what races with it, whatever the load."""
import ctypes
import random
import sys
import time

libc = ctypes.CDLL(None, use_errno=True)
while True:
    if libc.renameat2(-100, sys.argv[1].encode(), -100, sys.argv[2].encode(), 2) != 0:
        sys.exit(f"renameat2: errno {ctypes.get_errno()}")
    time.sleep(10 ** random.uniform(-5, -0.5))
