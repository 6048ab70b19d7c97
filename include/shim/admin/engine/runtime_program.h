/*
 * The programs that engines call as their runtime, and that call each other: flatbed-runtime,
 * NVIDIA's container runtime, and all others. A program is known by the name of its file, before or
 * after symbolic links: nvidia-container-runtime, also with an ending such as ".cdi". A script of
 * another name is known by the first of these programs in its text.
 */
#ifndef SHIM_RUNTIME_PROGRAM_H
#define SHIM_RUNTIME_PROGRAM_H

#include <limits.h>
#include <stdbool.h>

enum runtime_kind { RUNTIME_OTHER, RUNTIME_FLATBED, RUNTIME_NVIDIA };

struct runtime_program {
    enum runtime_kind kind;
    bool found;          /* an executable regular file */
    bool starts_runc;    /* a script of NVIDIA that also starts runc, as the one of the GPU operator
                            does while the driver is not loaded */
    char path[PATH_MAX]; /* where it was found; else the name */
};

/* Returns the kind that the name of a file says. Asks no file system. */
enum runtime_kind runtime_kind_of(const char *path);

/*
 * Finds the program that a name means to a runtime that starts it: an absolute path, or a name in
 * /usr/local/sbin, /usr/local/bin, /usr/sbin, /usr/bin, /sbin, /bin.
 */
void runtime_program_find(const char *name, struct runtime_program *out);

#endif
