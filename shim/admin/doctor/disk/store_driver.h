/* The drivers that keep images in a store of Docker or podman. */
#ifndef SHIM_STORE_DRIVER_H
#define SHIM_STORE_DRIVER_H

/*
 * Returns "vfs" or "fuse-overlayfs" if an engine keeps images with it in the open directory, by the
 * engines' files: Docker's image/DRIVER (moby, image/fs.go), podman's DRIVER-images and
 * overlay/.has-mount-program (containers/storage, drivers/overlay). NULL for others. Static.
 */
const char *store_driver_of(int dirfd);

#endif
