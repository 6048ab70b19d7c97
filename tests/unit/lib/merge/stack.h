/*
 * Stacks of layers as one line of text, for tests: layers from the oldest, parted by "|", entries
 * by spaces.
 *
 *   a/ directory   a file   a>t symbolic link   a=t hard link   a% FIFO
 *   -a whiteout    *a opaque marker ("*": in the root)          ./ the root's own entry
 */
#ifndef TESTS_STACK_H
#define TESTS_STACK_H

#include "flatten/layer/entry_info.h"

#include <stdlib.h>
#include <string.h>

enum { STACK_MOST = 256, STACK_TEXT = 8192 };

struct stack_entry {
    struct entry_info info;
    unsigned layer; /* from 1 */
    unsigned copy;  /* counts the files of this path in this layer, from 1 */
};

struct stack {
    struct stack_entry list[STACK_MOST];
    size_t count;
    unsigned layers;
    char text[STACK_TEXT];
};

static inline void stack_classify(char *word, struct entry_info *in)
{
    char *split = strpbrk(word, ">=");

    in->kind = ENTRY_FILE;
    in->path = word;
    if (word[0] == '-' || word[0] == '*') {
        in->kind = word[0] == '-' ? ENTRY_WHITEOUT : ENTRY_OPAQUE;
        in->path = word + 1;
    } else if (split) {
        in->kind = *split == '>' ? ENTRY_SYMLINK : ENTRY_HARDLINK;
        *split = '\0';
        in->link = split + 1;
        in->link_len = strlen(in->link);
    } else if (word[strlen(word) - 1] == '/') {
        in->kind = ENTRY_DIR;
        word[strlen(word) - 1] = '\0';
        in->path = strcmp(word, ".") == 0 ? "" : word;
    } else if (word[strlen(word) - 1] == '%') {
        in->kind = ENTRY_OTHER;
        word[strlen(word) - 1] = '\0';
    }
    in->path_len = strlen(in->path);
}

static inline unsigned stack_copies(const struct stack *s, const struct stack_entry *e)
{
    unsigned count = 1;

    for (const struct stack_entry *x = s->list; x < e; x++)
        count += x->layer == e->layer && x->info.kind == ENTRY_FILE &&
                 strcmp(x->info.path, e->info.path) == 0;
    return count;
}

static inline void stack_parse(struct stack *s, const char *text)
{
    char *rest = s->text, *word;
    uint32_t ordinal = 0;

    s->count = 0;
    s->layers = 1;
    if (strlen(text) >= sizeof(s->text))
        abort();
    strcpy(s->text, text);
    while ((word = strsep(&rest, " "))) {
        struct stack_entry *e = &s->list[s->count];
        if (!*word)
            continue;
        if (strcmp(word, "|") == 0) {
            s->layers++;
            ordinal = 0;
            continue;
        }
        if (s->count++ == STACK_MOST)
            abort();
        *e = (struct stack_entry){.layer = s->layers};
        stack_classify(word, &e->info);
        e->info.ordinal = ++ordinal;
        e->copy = stack_copies(s, e);
    }
}

#endif
