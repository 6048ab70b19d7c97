/*
 * JSON as a document that can be edited without loss (RFC 8259, read through yajl).
 *
 * A document keeps its source text. What was not touched is written back as the very bytes it was
 * read from: numbers keep their digits (18446744073709551615, 1e400), strings their escapes,
 * objects their order and unknown members. Only edited containers are laid out anew, compactly.
 * Half a surrogate pair ("\ud800") reads as U+FFFD; text that is not UTF-8 is refused.
 *
 * Everything belongs to the document and lives until json_free: values, strings, what edits add.
 * Edits are sticky on failure: they may be chained, and json_write (or json_failed) reports that
 * one of them found no memory. Lookups accept NULL and values of another type and answer NULL, so
 * that they can be chained as well.
 */
#ifndef BASE_JSON_H
#define BASE_JSON_H

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum json_type { JSON_NULL, JSON_BOOL, JSON_NUMBER, JSON_STRING, JSON_ARRAY, JSON_OBJECT };

struct json_member;

struct json {
    enum json_type type;
    bool boolean;
    bool modified;       /* this value, or one below it, is not what the source says */
    size_t start, end;   /* bytes in the source; both 0 for a value made by an edit */
    struct json *parent; /* NULL for the root, and for what is not yet in the tree */
    size_t len;          /* bytes of text, items of an array, members of an object */
    size_t cap;
    union {
        const char *text; /* string, unescaped, or a number's digits; NUL-terminated */
        struct json **items;
        struct json_member *members;
    };
};

struct json_member {
    const char *key; /* unescaped, NUL-terminated */
    size_t key_len;  /* it may hold NUL bytes */
    size_t key_start;
    struct json *value;
};

struct json_doc;

struct json_options {
    size_t max_bytes;  /* of the text; 0: 16 MiB */
    size_t max_memory; /* for what it becomes, edits apart; 0: enough for any text of max_bytes */
    size_t max_depth;  /* 0: 100 */
    bool comments;     /* allow // and C comments */
    bool unique_keys;  /* refuse an object that names a member twice */
};

/*
 * Parses len bytes. The text is copied. Syntax errors are ERR_FORMAT with "line:column: reason",
 * limits ERR_LIMIT. `options` may be NULL.
 */
struct json_doc *json_parse(const char *text, size_t len, const struct json_options *options,
                            struct err *err) must_check;
/* The same with what is in `text`, which is not copied but taken: the buffer is empty then. */
struct json_doc *json_parse_buf(struct buf *text, const struct json_options *options,
                                struct err *err) must_check;
struct json_doc *json_new_object(struct err *err) must_check; /* an empty object */
void json_free(struct json_doc *doc);

DEFINE_CLEANUP(json_doc, struct json_doc, json_free)
#define _cleanup_json_ _cleanup_(cleanup_json_doc)

/* Bytes of memory that it takes. */
size_t json_memory(const struct json_doc *doc);

struct json *json_root(struct json_doc *doc);

/* Line and column (both from 1, in bytes) of a place in the source. */
void json_position(const struct json_doc *doc, size_t offset, unsigned *line, unsigned *column);

/* ---- looking ---- */

struct json *json_get(const struct json *object, const char *key);
struct json *json_get_len(const struct json *object, const char *key, size_t key_len);
/* The value below a chain of member names that ends with NULL. */
struct json *json_path(const struct json *value, ...) __attribute__((sentinel));
struct json *json_at(const struct json *array, size_t index);
/* Items of an array or members of an object; 0 for NULL and other types. */
size_t json_count(const struct json *value);
/* The text of a string without NUL bytes inside; NULL for everything else. */
const char *json_text(const struct json *value);
bool json_is(const struct json *value, enum json_type type);
/* True if it is an integer in range; fractions and exponents are not integers. */
bool json_u64(const struct json *value, uint64_t *out);
bool json_i64(const struct json *value, int64_t *out);
const char *json_type_name(enum json_type type);

/* ---- editing; NULL values mark the document as failed ---- */

struct json *json_string(struct json_doc *doc, const char *text);
struct json *json_string_len(struct json_doc *doc, const char *text, size_t len);
struct json *json_number(struct json_doc *doc, uint64_t number);
struct json *json_number_signed(struct json_doc *doc, int64_t number);
struct json *json_bool(struct json_doc *doc, bool boolean);
struct json *json_array(struct json_doc *doc);
struct json *json_object(struct json_doc *doc);
/* A copy of a value from this or another document. */
struct json *json_copy(struct json_doc *doc, const struct json *value);

/* Replaces the member, or adds it last. Returns the value. */
struct json *json_set(struct json_doc *doc, struct json *object, const char *key,
                      struct json *value);

/* The array that the member is; what it is otherwise, or is not, is replaced by an empty one. */
struct json *json_list(struct json_doc *doc, struct json *object, const char *key);

struct json *json_append(struct json_doc *doc, struct json *array, struct json *value);
struct json *json_insert(struct json_doc *doc, struct json *array, size_t index,
                         struct json *value);
/* Replaces one item of an array. */
void json_replace_at(struct json_doc *doc, struct json *array, size_t index, struct json *value);
void json_remove(struct json *object, const char *key);
void json_remove_at(struct json *array, size_t index);
bool json_failed(const struct json_doc *doc);
bool json_modified(struct json_doc *doc);

/* Appends the document: its source byte for byte when nothing was modified. */
int json_write(struct json_doc *doc, struct buf *out, struct err *err) must_check;

/* Appends text as a JSON string with its quotes; bytes that are not UTF-8 become U+FFFD. */
void json_quote(struct buf *out, const char *text, size_t len);

#endif
