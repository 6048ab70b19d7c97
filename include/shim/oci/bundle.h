/*
 * config.json of a bundle: read whole, replaced whole or not at all.
 *
 * The file is opened once: content, mode, owner and SELinux label all come from that descriptor.
 */
#ifndef SHIM_BUNDLE_H
#define SHIM_BUNDLE_H

#include "base/json/json.h"
#include "shim/oci/call.h"

#include <sys/stat.h>

struct bundle {
    char *path;       /* of the file, for messages; owned */
    const char *name; /* its last component, within path */
    int dirfd;        /* the directory that holds it */
    int fd;
    struct stat st;
    struct json_doc *doc;
    bool linked; /* the name is a symbolic link, whose file others may be able to change */
};

#define BUNDLE_INIT                                                                                \
    {                                                                                              \
        .dirfd = -1, .fd = -1                                                                      \
    }

enum { BUNDLE_CONFIG_BYTES = 16 * 1024 * 1024 };

/*
 * Opens and parses what the call names: BUNDLE/config.json, or crun's --config (relative to the
 * working directory, but "config.json" itself to the bundle). A symbolic link is followed, as the
 * runtimes do. A file that is not regular, is larger than BUNDLE_CONFIG_BYTES, or names a member
 * twice is an error. The caller calls bundle_close,
 * also after a failure.
 */
int bundle_open(struct bundle *b, const struct call *call, struct err *err) must_check;

/* As bundle_open, for a file of any name. */
int bundle_open_file(struct bundle *b, const char *path, struct err *err) must_check;

/*
 * Replaces the file by the document: temporary file with the old attributes, fsync, rename. A
 * symbolic link is replaced, and its file stays as it was. Temporary files of killed calls go.
 */
int bundle_write(struct bundle *b, struct err *err) must_check;

/* Frees the document and closes the file. Safe on BUNDLE_INIT. Keeps errno. */
void bundle_close(struct bundle *b);

#define _cleanup_bundle_ _cleanup_(bundle_close)

#endif
