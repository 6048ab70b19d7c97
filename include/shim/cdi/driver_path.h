/*
 * The files that NVIDIA's runtime mounts in its mode jit-cdi, which needs no specification on disk:
 * by path, as observed with toolkit 1.19.1. Pure.
 */
#ifndef SHIM_DRIVER_PATH_H
#define SHIM_DRIVER_PATH_H

#include <stdbool.h>

/* Returns true for the path of a library, program, socket or other file of NVIDIA's driver. */
bool driver_path_is(const char *path);

#endif
