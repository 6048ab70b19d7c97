/* A sink that makes a struct result (tree_result.h) of what tar_image.h's layers hold. */
#ifndef TESTS_RESULT_SINK_H
#define TESTS_RESULT_SINK_H

#include "flatten/layer/entry_sink.h"
#include "tests/unit/lib/merge/tree_result.h"

#include <stdio.h>

struct result_sink {
    struct entry_sink base;
    struct result result;
    char *file; /* the path whose content is coming in; or NULL */
    struct buf content;
};

/* The content is known when the next entry comes, or at the end. */
static inline void result_sink_end(struct result_sink *s)
{
    if (s->file) {
        struct result_item *item = result_find(&s->result, s->file, strlen(s->file));
        free(item->origin);
        item->origin = strdup(s->content.data ? s->content.data : "");
    }
    free(s->file);
    s->file = NULL;
    buf_truncate(&s->content, 0);
}

static inline char *result_sink_path(const char *text)
{
    size_t len = strlen(text);

    while (len > 0 && text[len - 1] == '/')
        len--;
    return len == 1 && text[0] == '.' ? strdup("") : strndup(text, len);
}

static inline int result_sink_entry(struct entry_sink *sink, struct archive_entry *header,
                                    struct err *err)
{
    struct result_sink *s = (struct result_sink *)sink;
    char *path = result_sink_path(archive_entry_pathname(header));
    const char *link = archive_entry_hardlink(header);
    char what[512];

    (void)err;
    result_sink_end(s);
    if (strncmp(path, ".wh.", 4) == 0 || strstr(path, "/.wh."))
        result_fault(&s->result, "a whiteout", path);
    if (link) {
        result_add_link(&s->result, path, link);
    } else if (archive_entry_filetype(header) == AE_IFDIR) {
        mode_t mode = archive_entry_perm(header);
        result_add_dir(&s->result, path, mode == 0755 ? 0 : mode - 0700);
    } else if (archive_entry_filetype(header) == AE_IFREG) {
        result_add_file(&s->result, path, "");
        s->file = strdup(path);
    } else {
        const char *target = archive_entry_symlink(header);
        snprintf(what, sizeof(what), "%s%s", target ? ">" : "%", target ? target : "");
        result_add_other(&s->result, path, what);
    }
    free(path);
    return 0;
}

static inline int result_sink_data(struct entry_sink *sink, const void *data, uint64_t len,
                                   struct err *err)
{
    struct result_sink *s = (struct result_sink *)sink;

    (void)err;
    if (data)
        buf_append(&s->content, data, (size_t)len);
    for (uint64_t i = 0; !data && i < len; i++)
        buf_putc(&s->content, '\0');
    return 0;
}

static inline void result_sink_init(struct result_sink *s)
{
    static const struct entry_sink_ops ops = {.entry = result_sink_entry, .data = result_sink_data};

    *s = (struct result_sink){.base = {&ops}};
}

static inline void result_sink_clear(struct result_sink *s)
{
    free(s->file);
    buf_free(&s->content);
    result_free(&s->result);
}

#endif
