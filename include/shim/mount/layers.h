/*
 * Reads the options that an overlay was mounted with, as the kernel shows them
 * (/proc/PID/mountinfo; ovl_show_options in fs/overlayfs/params.c), and whether another overlay of
 * the same upper directory may take its place (Documentation/filesystems/overlayfs.rst, "Changes to
 * underlying filesystems": lower layers may be others at the next mount where metacopy, index, xino
 * and redirect_dir were not used). Pure.
 *
 * The kernel shows what it was given, with octal escapes over it. A backslash below those is the
 * mounting program's: "\:" is part of a name and does not separate two of them.
 */
#ifndef SHIM_LAYERS_H
#define SHIM_LAYERS_H

#include "base/arena.h"
#include "base/err.h"

#include <stdbool.h>

enum { LAYERS_MOST = 500 }; /* OVL_MAX_STACK */

/* Options whose default is a parameter of the kernel's module, where the mount does not say. */
enum layers_feature { LAYERS_INDEX, LAYERS_METACOPY, LAYERS_REDIRECT, LAYERS_NFS, LAYERS_FEATURES };
extern const char *const layers_feature_names[LAYERS_FEATURES]; /* of option and parameter */

struct layers {
    const char **lower; /* topmost first, unescaped; only the engine knows what relative ones are
                           relative to; without layers of data alone (behind "::") */
    size_t count;
    const char *upper, *work;    /* unescaped; NULL: none */
    const char *rest;            /* all other options, each with a comma before it */
    const char *kept[3];         /* lowerdir, upperdir and workdir as mount(2) takes them */
    bool given[LAYERS_FEATURES]; /* the mount has the option */
    bool users;                  /* userxattr: attributes are "user.overlay." */
    bool fleeting;               /* volatile: the kernel marks the work directory as in use */
    const char *unfit;           /* why no other overlay may take its place; NULL: one may */
};

/* Reads the options `super` of a mount_entry. Everything is in the arena. Fails only without
 * memory. */
int layers_read(const char *super, struct arena *arena, struct layers *out,
                struct err *err) must_check;

/*
 * Returns the "lowerdir=" option with paths relative to a directory that holds all layers, which
 * becomes *base: mount(2) takes no more than a page. NULL if only "/" holds them, or without
 * memory.
 */
const char *layers_shorten(const struct layers *layers, struct arena *arena,
                           const char **base) must_check;

#endif
