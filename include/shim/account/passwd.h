/*
 * Texts in the form of passwd(5) and group(5), from an image: untrusted, and never written but as
 * they are. Pure.
 */
#ifndef SHIM_PASSWD_H
#define SHIM_PASSWD_H

#include "base/buf.h"

#include <stdint.h>

/* Returns true if a line of the text (which may be NULL) has that id, its third field. */
bool passwd_has_id(const char *text, uint32_t id);

/* Returns true if a line of the text (which may be NULL) has that name, its first field. */
bool passwd_has_name(const char *text, const char *name);

/* The line of a user. */
struct passwd_entry {
    const char *name;
    uint32_t uid, gid;
    const char *home;
};

/*
 * Appends the image's text and a line for the user, or for the group of that gid: as the text is,
 * if it has the id already. A name that has another id there, or that a line could not hold, is
 * replaced by the id in digits.
 */
void passwd_put_user(const char *text, const struct passwd_entry *entry, struct buf *out);
void passwd_put_group(const char *text, const struct passwd_entry *entry, struct buf *out);

#endif
