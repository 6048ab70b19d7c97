/*
 * The texts near the top of a JSON object, in constant memory: a conda package's list of files may
 * be larger than what a document in memory (base/json) may take here. Text that is no JSON gives
 * some texts or none.
 */
#ifndef FLATTEN_OWNERS_JSON_SCAN_H
#define FLATTEN_OWNERS_JSON_SCAN_H

#include "flatten/carve/owners/finder.h"

enum { JSON_SCAN_TEXT = 4096, JSON_SCAN_MEMBER = 32 };

struct json_scan {
    struct lines lines;
    const char *piece; /* bytes that were read; `piece_at` of them are taken */
    size_t piece_len, piece_at;
    bool expects_key;  /* the next text of the topmost object names a member */
    bool ignores_text; /* it is too long, too deep, or no text */
    uint32_t high;     /* the first half of a pair (UTF-16), read at `high_at`; 0: none */
    size_t high_at;
    /* The text that was found: */
    uint32_t depth;                /* 1: the member's value; 2: an item of its array, or so */
    char opened;                   /* by which depth 2 began: '[' or '{' */
    char member[JSON_SCAN_MEMBER]; /* of the topmost object; "" for one with a longer name */
    char text[JSON_SCAN_TEXT];     /* not terminated; may hold NUL */
    size_t len;
};

/* Returns false if no regular file is at the node. */
bool json_scan_open(struct json_scan *s, struct finder *f, uint32_t node);

/*
 * Finds the next text of depth 1 or 2 that has at most JSON_SCAN_TEXT bytes. Returns 1, 0 at the
 * end, or -1.
 */
int json_scan_next(struct json_scan *s, struct err *err) must_check;

#endif
