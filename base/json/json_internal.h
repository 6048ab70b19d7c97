/* Shared by the parser, the editor and the writer of JSON documents. */
#ifndef BASE_JSON_INTERNAL_H
#define BASE_JSON_INTERNAL_H

#include "base/arena.h"
#include "base/json/json.h"

enum {
    JSON_DEFAULT_BYTES = 16 * 1024 * 1024,
    JSON_DEFAULT_DEPTH = 100,
    JSON_EDIT_BYTES = 1024 * 1024, /* memory for edits, beyond the parser's limit */
};

struct json_doc {
    struct arena arena;
    char *text; /* the source; owned */
    size_t len;
    struct json *root;
    bool failed;
};

/* Returns a fresh value in the arena, or NULL and sets doc->failed. */
struct json *json_alloc(struct json_doc *doc, enum json_type type);

/* Adds to a container without marking it as modified. Returns 0, or -1 without memory. */
int json_push_item(struct json_doc *doc, struct json *array, struct json *value);
int json_push_member(struct json_doc *doc, struct json *object, const struct json_member *member);

#endif
