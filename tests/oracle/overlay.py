"""Mounts of the kernel's overlay file system."""
import os
import subprocess

# mount(8) of Debian 13 hands each option to fsconfig(2), which takes 255 bytes: too few for many layers.
ENVIRONMENT = dict(os.environ, LIBMOUNT_FORCE_MOUNT2="always")


def mount(options, point, cwd=None):
    """Mounts an overlay at `point`. Returns the finished process, with its output as text."""
    return subprocess.run(["mount", "-t", "overlay", "overlay", "-o", options, point], cwd=cwd, env=ENVIRONMENT,
                          capture_output=True, text=True, check=False)
