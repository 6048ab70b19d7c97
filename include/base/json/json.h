/*
 * JSON as a document that can be edited without loss (RFC 8259, read through yajl).
 *
 * A document keeps its source text. Values that no edit touches are written back byte for byte:
 * numbers keep their digits (18446744073709551615, 1e400), strings their escapes, objects their
 * order and unknown members. Only edited containers are laid out anew, compactly. Half a surrogate
 * pair ("\ud800") reads as U+FFFD; text that is not UTF-8 is refused.
 *
 * Everything belongs to the document and lives until json_free: values, strings, additions by
 * edits. Failed edits are sticky: edits may be chained, and json_write (or json_failed) reports
 * that one of them found no memory. Lookups accept NULL and values of another type and return NULL,
 * so that they can be chained as well.
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
    bool modified;       /* this value, or one below it, differs from the source */
    size_t start, end;   /* bytes in the source; both 0 for a value made by an edit */
    struct json *parent; /* NULL for the root, and for a value outside the tree */
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
    size_t max_memory; /* bytes of memory for the tree, without edits; 0: enough for any text of
                          max_bytes */
    size_t max_depth;  /* 0: 100 */
    bool comments;     /* allow // and C comments */
    bool unique_keys;  /* refuse an object that names a member twice */
};

/*
 * Parses len bytes, which are copied. Syntax errors are ERR_FORMAT with "line:column: reason",
 * limits ERR_LIMIT. `options` may be NULL. Returns a document for json_free, or NULL.
 */
struct json_doc *json_parse(const char *text, size_t len, const struct json_options *options,
                            struct err *err) must_check;
/*
 * As json_parse, but takes the content of `text` instead of a copy: the buffer is empty afterwards.
 */
struct json_doc *json_parse_buf(struct buf *text, const struct json_options *options,
                                struct err *err) must_check;
/* Returns a document that is an empty object, or NULL without memory. */
struct json_doc *json_new_object(struct err *err) must_check;
/* Frees the document with all of its values and texts. */
void json_free(struct json_doc *doc);

DEFINE_CLEANUP(json_doc, struct json_doc, json_free)
#define _cleanup_json_ _cleanup_(cleanup_json_doc)

/* Returns the bytes of memory that the document takes. */
size_t json_memory(const struct json_doc *doc);

/* Returns the topmost value; never NULL. */
struct json *json_root(struct json_doc *doc);

/* Sets line and column (both from 1, in bytes) of a place in the source. */
void json_position(const struct json_doc *doc, size_t offset, unsigned *line, unsigned *column);

/* ---- looking ---- */

/* Returns the value of the member, or NULL. */
struct json *json_get(const struct json *object, const char *key);
/* As json_get, for a key that may hold NUL bytes. */
struct json *json_get_len(const struct json *object, const char *key, size_t key_len);
/* Returns true if the member's name is `key`, all of it: names may hold NUL bytes. */
bool json_member_is(const struct json_member *member, const char *key);
/* Returns the value below a chain of member names that ends with NULL; NULL if one is missing. */
struct json *json_path(const struct json *value, ...) __attribute__((sentinel));
/* Returns the item at the index, or NULL. */
struct json *json_at(const struct json *array, size_t index);
/* Returns the number of items of an array or members of an object; 0 for NULL and other types. */
size_t json_count(const struct json *value);
/* Returns the text of a string without NUL bytes inside; NULL for everything else. */
const char *json_text(const struct json *value);
/* Returns true if there is a value, of that type. */
bool json_is(const struct json *value, enum json_type type);
/* Returns true for true, and false for everything else, NULL included. */
bool json_true(const struct json *value);
/*
 * Reads an integer. Returns false if it is none or out of range; fractions and exponents are not
 * integers.
 */
bool json_u64(const struct json *value, uint64_t *out);
/* As json_u64, with a sign. */
bool json_i64(const struct json *value, int64_t *out);
/* Returns the type's name for messages, such as "an object". */
const char *json_type_name(enum json_type type);

/* ---- editing; NULL values mark the document as failed ---- */

/*
 * These return a fresh value that is not in the tree yet, or NULL without memory. Texts are copied.
 */

/* A string. */
struct json *json_string(struct json_doc *doc, const char *text);
/* A string that may hold NUL bytes. */
struct json *json_string_len(struct json_doc *doc, const char *text, size_t len);
/* A number. */
struct json *json_number(struct json_doc *doc, uint64_t number);
/* A number, with a sign. */
struct json *json_number_signed(struct json_doc *doc, int64_t number);
/* True or false. */
struct json *json_bool(struct json_doc *doc, bool boolean);
/* Null. */
struct json *json_null(struct json_doc *doc);
/* An empty array. */
struct json *json_array(struct json_doc *doc);
/* An empty object. */
struct json *json_object(struct json_doc *doc);
/* Returns a copy of a value from this or another document. */
struct json *json_copy(struct json_doc *doc, const struct json *value);

/* Replaces the member, or adds it as the last one. Returns the value. */
struct json *json_set(struct json_doc *doc, struct json *object, const char *key,
                      struct json *value);

/* Returns the member if it is an array, else puts an empty array in its place. */
struct json *json_list(struct json_doc *doc, struct json *object, const char *key);

/* Adds an item at the end. Returns it. */
struct json *json_append(struct json_doc *doc, struct json *array, struct json *value);
/* Inserts an item at the index. Returns it. */
struct json *json_insert(struct json_doc *doc, struct json *array, size_t index,
                         struct json *value);
/* Replaces one item of an array. */
void json_replace_at(struct json_doc *doc, struct json *array, size_t index, struct json *value);
/* Removes the member, if it is there. */
void json_remove(struct json *object, const char *key);
/* Removes the item at the index, if it is there. */
void json_remove_at(struct json *array, size_t index);
/* Returns true if an edit found no memory: the document is incomplete. */
bool json_failed(const struct json_doc *doc);
/* Returns true if an edit changed the document. */
bool json_modified(struct json_doc *doc);

/* Appends the document as text: its source byte for byte if nothing was modified. */
int json_write(struct json_doc *doc, struct buf *out, struct err *err) must_check;

/* Appends text as a JSON string with its quotes; bytes that are not UTF-8 become U+FFFD. */
void json_quote(struct buf *out, const char *text, size_t len);

#endif
