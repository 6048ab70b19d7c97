/*
 * Reads JSON values into the policy's structures, by a table of keys for each kind of object. Every
 * error begins with its place in the file.
 */
#ifndef SHIM_POLICY_DECODE_H
#define SHIM_POLICY_DECODE_H

#include "shim/policy/policy.h"

struct decoder {
    struct policy *policy;
    const struct policy_file *file;
    const struct policy_place *preset; /* of the name of the preset that is read; NULL: none is */
    struct err *err;
};

/* Reads one member's value into its target. Returns 0, or -1 with an error. */
typedef int decode_fn(struct decoder *d, const struct json *value, void *target);

struct decode_key {
    const char *name;
    decode_fn *read;
};

/* Sets ERR_POLICY with "FILE:LINE:COLUMN: …" for a value or an offset. Always returns -1. */
int decode_fail(struct decoder *d, const struct json *value, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
int decode_fail_at(struct decoder *d, size_t offset, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Puts the place before an error that is already set. Always returns -1. */
int decode_wrap(struct decoder *d, const struct json *value);

/* Fails unless the value has the type. */
int decode_type(struct decoder *d, const struct json *value, enum json_type type) must_check;
/* Returns the place of a value; of a preset's value the place where the policy names the preset. */
struct policy_place decode_place(const struct decoder *d, const struct json *value);

/* Reads an object by its table; unknown keys are errors with a suggestion. */
int decode_object(struct decoder *d, const struct json *value, const struct decode_key *keys,
                  size_t count, void *target) must_check;

/*
 * Read true or false, a text, a path (clean, absolute, not "/"), a list of texts. Texts are not
 * empty and hold no NUL byte.
 */
int decode_bool(struct decoder *d, const struct json *value, bool *out) must_check;
int decode_text(struct decoder *d, const struct json *value, struct policy_text *out) must_check;
int decode_path(struct decoder *d, const struct json *value, struct policy_text *out) must_check;
int decode_list(struct decoder *d, const struct json *value, struct policy_list *out) must_check;

/* Reads an amount of bytes such as "20g", which is not 0. */
int decode_bytes(struct decoder *d, const struct json *value, uint64_t *out) must_check;

/* Reads such an amount, or a share of a file system, "1%" to "99%". */
int decode_free(struct decoder *d, const struct json *value, struct policy_free *room) must_check;

/* Reads whole seconds, `least` to `most`. */
int decode_seconds(struct decoder *d, const struct json *value, unsigned least, unsigned most,
                   unsigned *out) must_check;

/* Sets *out to the index of a string among `names`. */
int decode_choice(struct decoder *d, const struct json *value, const char *const *names,
                  size_t count, int *out) must_check;

/* Appends "a, b, c", for messages. */
void decode_print_names(struct buf *out, const char *const *names, size_t count);

/* Reads one member by a table of keys. */
int decode_member(struct decoder *d, const struct json_member *m, const struct decode_key *keys,
                  size_t count, void *target) must_check;

/*
 * Applies the preset that the object `value` names by "preset", if any: reads the preset's part
 * `section` by the same keys. To be called before decode_object, so that keys beside the name
 * override those of the preset. ERR_POLICY for a name that is none.
 */
int decode_preset(struct decoder *d, const struct json *value, const char *section,
                  const struct decode_key *keys, size_t count, void *target) must_check;
/* Skips "preset", which is read before the other keys. */
decode_fn decode_preset_name;

#endif
