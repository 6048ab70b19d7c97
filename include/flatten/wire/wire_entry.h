/*
 * The messages of a walk (walk.h): the reader asks for the merged tree, or for one layer, and gets
 * one message for each entry, directories before their content, and one for the end. Each goes over
 * the socket of the walk by wire_send and wire_receive (wire.h); the descriptor of a file that has
 * content comes with its entry.
 *
 * Both ends are the same program, so numbers have the form of this machine. The reader trusts no
 * length.
 */
#ifndef FLATTEN_WIRE_ENTRY_H
#define FLATTEN_WIRE_ENTRY_H

#include "base/buf.h"

#include <stdbool.h>
#include <stdint.h>

struct wire_entry {
    uint32_t mode; /* with the type: a hard link has that of its file */
    uint32_t uid, gid;
    uint32_t mtime_nsec;
    int64_t mtime;      /* seconds */
    uint64_t size;      /* of a file's content, bytes */
    uint64_t rdev;      /* of a device */
    const char *path;   /* clean and relative (path.h) */
    const char *target; /* of a symbolic link, or NULL */
    const char *origin; /* of a hard link: the path that came before; or NULL */
    const char *xattrs; /* all of them, for wire_xattr_next */
    size_t xattrs_size; /* bytes */
};

/* Appends the request for a walk: of the layer with that number, from 1, oldest first; 0: the tree.
 */
void wire_encode_walk(uint32_t layer, struct buf *out);

/* Decodes a request. ERR_FORMAT for a message that is none. */
int wire_decode_walk(const struct buf *message, uint32_t *layer, struct err *err) must_check;

/* Appends the message of an entry. */
void wire_encode_entry(const struct wire_entry *entry, struct buf *out);

/* Appends the message of the end; `failure` is why the walk is not complete, or NULL. */
void wire_encode_end(const struct err *failure, struct buf *out);

/*
 * Decodes a message. Returns 1 with an entry, whose texts point into `message`; 0 at the end; -1
 * with the error of the walk, or ERR_FORMAT for a message that no walk sends.
 */
int wire_decode_entry(const struct buf *message, struct wire_entry *out,
                      struct err *err) must_check;

/* Appends an extended attribute to those that will be an entry's `xattrs`. */
void wire_put_xattr(struct buf *xattrs, const char *name, const void *value, size_t size);

/* Returns true for security.selinux, the label by the host's policy: no walk and no tree has it. */
bool wire_xattr_is_of_host(const char *name);

/*
 * Takes the next attribute of the entry, by moving its `xattrs`. Returns 1, 0 after the last one,
 * or -1 with ERR_FORMAT.
 */
int wire_xattr_next(struct wire_entry *entry, const char **name, const void **value, size_t *size,
                    struct err *err) must_check;

#endif
