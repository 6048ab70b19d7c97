/*
 * Templates of the policy: "/srv/logs/{user}/{container}".
 *
 * A value must be a safe single path component: letters, digits, and "._@+=-", not "." or "..", at
 * most TEMPLATE_VALUE_MAX bytes. ({target}, for environment variables, is a path.) Pure.
 */
#ifndef SHIM_TEMPLATE_H
#define SHIM_TEMPLATE_H

#include "base/arena.h"
#include "base/buf.h"

#include <stdbool.h>

enum template_var {
    VAR_NAME,
    VAR_USER,
    VAR_UID,
    VAR_GID,
    VAR_PROJECT,
    VAR_CONTAINER,
    VAR_CONTAINER_NAME, /* or the day and the beginning of the ID */
    VAR_IMAGE,
    VAR_NAMESPACE,
    VAR_HOSTNAME,
    VAR_TARGET, /* the mount point of the volume; in `env` only */
    TEMPLATE_VARS
};

enum { TEMPLATE_VALUE_MAX = 255 };

struct template_values {
    const char *value[TEMPLATE_VARS];   /* NULL: there is none */
    const char *missing[TEMPLATE_VARS]; /* the reason, or how to supply the value; may be NULL */
};

/*
 * Checks braces and names. ERR_FORMAT, with a suggestion. *used gets a bit (1 << VAR) for each
 * variable in the text; `used` may be NULL. Variables beyond the bits of `allowed` are an error.
 */
int template_check(const char *text, unsigned allowed, unsigned *used, struct err *err) must_check;

/* The variables that are components of paths: all but {target}. */
#define TEMPLATE_COMPONENTS ((1u << VAR_TARGET) - 1)
#define TEMPLATE_ALL        ((1u << TEMPLATE_VARS) - 1)

/* Appends the text with its values. ERR_POLICY for a value that is missing or unsafe. */
int template_expand(const char *text, const struct template_values *values, struct buf *out,
                    struct err *err) must_check;

/*
 * Returns a glob (base/glob.h) for the first `len` bytes of a template that was checked: anything
 * for each variable. It is in the arena; NULL without memory.
 */
char *template_glob(const char *text, size_t len, struct arena *arena);

/*
 * Returns true for a name that a user may write: [A-Za-z0-9._-], not "." or "..", of bounded
 * length.
 */
bool template_name_valid(const char *name, size_t len);

#endif
