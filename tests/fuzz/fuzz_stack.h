/*
 * Layers out of few bytes: each entry is a byte for its type, then its names, a nibble each from
 * a dozen, so that names repeat often.
 */
#ifndef TESTS_FUZZ_STACK_H
#define TESTS_FUZZ_STACK_H

#include "tests/unit/lib/merge/stack.h"

#include <stdint.h>
#include <stdio.h>

enum { FUZZ_STACK_ENTRIES = 64, FUZZ_STACK_LAYERS = 6 };

struct fuzz_bytes {
    const uint8_t *data;
    size_t size;
};

static inline unsigned fuzz_take(struct fuzz_bytes *in)
{
    if (!in->size)
        return 0;
    in->size--;
    return *in->data++;
}

/* "a/b": a byte for the number of names, then a nibble for each. */
static inline const char *fuzz_path(struct stack *s, size_t *used, struct fuzz_bytes *in,
                                    const char *const names[16], unsigned most)
{
    unsigned count = fuzz_take(in) % most + 1, pair = 0;
    char *start = s->text + *used, *p = start;

    for (unsigned i = 0; i < count; i++) {
        pair = i % 2 ? pair >> 4 : fuzz_take(in);
        p += sprintf(p, "%s%s", i ? "/" : "", names[pair & 15]);
    }
    *used += (size_t)(p - start) + 1;
    return start;
}

static inline void fuzz_entry(struct stack *s, size_t *used, unsigned op, struct fuzz_bytes *in)
{
    static const char *const names[16] = {"a", "b", "c", "d", "a", "b", "c", "d",
                                          "a", "b", "e", "f", "a", "b", "a", "\xff"};
    static const char *const hops[16] = {"a", "b", "c", "d", "a", "b", "c",  "..",
                                         "a", "b", ".", "",  "a", "b", "..", "f"};
    struct stack_entry *e = &s->list[s->count];
    enum entry_kind kind = op % 8;

    *e = (struct stack_entry){.layer = s->layers, .info = {.kind = kind}};
    e->info.path = kind == ENTRY_DIR && op / 8 % 16 == 15 ? "" : fuzz_path(s, used, in, names, 4);
    e->info.path_len = strlen(e->info.path);
    if (kind == ENTRY_OPAQUE && op / 8 % 16 == 15)
        e->info.path_len = strlen(e->info.path = "");
    if (kind == ENTRY_SYMLINK)
        e->info.link = fuzz_path(s, used, in, hops, 3);
    else if (kind == ENTRY_HARDLINK)
        e->info.link = fuzz_path(s, used, in, names, 3);
    if (kind == ENTRY_SYMLINK && !*e->info.link)
        e->info.link = "/";
    e->info.link_len = e->info.link ? strlen(e->info.link) : 0;
    e->copy = stack_copies(s, e);
    s->count++;
}

static inline void fuzz_stack(struct stack *s, const uint8_t *data, size_t size)
{
    struct fuzz_bytes in = {data, size};
    uint32_t ordinal = 0;
    size_t used = 0;

    s->count = 0;
    s->layers = 1;
    while (in.size && s->count < FUZZ_STACK_ENTRIES) {
        unsigned op = fuzz_take(&in);
        if (op % 8 == 7) {
            if (s->layers == FUZZ_STACK_LAYERS)
                return;
            s->layers++;
            ordinal = 0;
            continue;
        }
        fuzz_entry(s, &used, op, &in);
        s->list[s->count - 1].info.ordinal = ++ordinal;
    }
}

/* Prints the stack in the notation of stack.h, for the analysis of a failure. */
static inline void fuzz_stack_print(const struct stack *s)
{
    unsigned layer = 1;

    for (size_t i = 0; i < s->count; i++) {
        const struct entry_info *in = &s->list[i].info;
        for (; layer < s->list[i].layer; layer++)
            fprintf(stderr, "| ");
        if (in->kind == ENTRY_WHITEOUT || in->kind == ENTRY_OPAQUE)
            fprintf(stderr, "%c%s ", in->kind == ENTRY_WHITEOUT ? '-' : '*', in->path);
        else if (in->link)
            fprintf(stderr, "%s%c%s ", in->path, in->kind == ENTRY_SYMLINK ? '>' : '=', in->link);
        else
            fprintf(stderr, "%s%s ", *in->path ? in->path : ".",
                    in->kind == ENTRY_DIR     ? "/"
                    : in->kind == ENTRY_OTHER ? "%"
                                              : "");
    }
    fprintf(stderr, "\n");
}

#endif
