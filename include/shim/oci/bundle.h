/*
 * config.json of a bundle: read whole, replaced whole or not at all.
 *
 * The file is opened once; what is read, and what the replacement is given (mode, owner, SELinux
 * label), is what that descriptor shows.
 */
#ifndef SHIM_BUNDLE_H
#define SHIM_BUNDLE_H

#include "base/json/json.h"
#include "shim/oci/call.h"

#include <sys/stat.h>

struct bundle {
    char *path;       /* of the file, for messages; owned */
    const char *name; /* its last component, within path */
    int dirfd;        /* the folder that holds it */
    int fd;
    struct stat st;
    struct json_doc *doc;
    bool fleeting; /* to be set before bundle_write: no fsync, nobody wants it after a crash */
};

#define BUNDLE_INIT                                                                                \
    {                                                                                              \
        .dirfd = -1, .fd = -1                                                                      \
    }

enum { BUNDLE_CONFIG_BYTES = 16 * 1024 * 1024 };

/*
 * Opens what the call names: BUNDLE/config.json, or crun's --config (relative to the working
 * directory, but "config.json" itself to the bundle). A file that is not regular, is larger, or
 * names a member twice is an error.
 */
int bundle_open(struct bundle *b, const struct call *call, struct err *err) must_check;

/* The same for another file of the spec's, such as an exec's process.json. */
int bundle_open_file(struct bundle *b, const char *path, struct err *err) must_check;

/* Replaces the file by the document: temporary file, fsync, rename. */
int bundle_write(struct bundle *b, struct err *err) must_check;

void bundle_close(struct bundle *b);

#define _cleanup_bundle_ _cleanup_(bundle_close)

#endif
