/*
 * The layers of a stack as tar archives, with the content that result_sink.h expects, as
 * tar_image.h makes them. Written here without libarchive, whose writer takes longer than the
 * checks of a small stack.
 */
#ifndef TESTS_FUZZ_TAR_H
#define TESTS_FUZZ_TAR_H

#include "flatten/stream/ustar.h"
#include "fuzz.h"
#include "tests/unit/lib/tar_image.h"

#include <string.h>

static const char fuzz_tar_zeros[2 * USTAR_BLOCK];

static inline void fuzz_tar_text(char *field, size_t size, const char *text)
{
    size_t len = strlen(text);

    must(len <= size);
    memcpy(field, text, len);
}

static inline void fuzz_tar_entry(const struct stack_entry *e, struct buf *name, struct buf *out)
{
    static const char types[] = {
        [ENTRY_DIR] = '5',   [ENTRY_FILE] = '0',     [ENTRY_HARDLINK] = '1', [ENTRY_SYMLINK] = '2',
        [ENTRY_OTHER] = '6', [ENTRY_WHITEOUT] = '0', [ENTRY_OPAQUE] = '0',
    };
    struct ustar header = {.magic = "ustar", .version = {'0', '0'}};
    char content[128];
    int len = 0;

    buf_truncate(name, 0);
    tar_name(&e->info, name);
    fuzz_tar_text(header.name, sizeof(header.name), name->data);
    if (e->info.link)
        fuzz_tar_text(header.linkname, sizeof(header.linkname), e->info.link);
    if (e->info.kind == ENTRY_FILE)
        len = snprintf(content, sizeof(content), e->copy > 1 ? "%u:%s#%u" : "%u:%s", e->layer,
                       e->info.path, e->copy);
    header.type[0] = types[e->info.kind];
    ustar_put_octal(header.mode, 8, e->info.kind == ENTRY_DIR ? 0700 + e->layer : 0644);
    ustar_put_octal(header.uid, 8, 0);
    ustar_put_octal(header.gid, 8, 0);
    ustar_put_octal(header.size, 12, (uint64_t)len);
    ustar_put_octal(header.mtime, 12, 1000000000);
    ustar_put_checksum(&header);
    buf_append(out, &header, sizeof(header));
    buf_append(out, content, (size_t)len);
    buf_append(out, fuzz_tar_zeros, ustar_padding((uint64_t)len));
}

static inline void fuzz_tar_layer(const struct stack *s, unsigned layer, struct buf *out)
{
    _cleanup_buf_ struct buf name = BUF_INIT;

    for (size_t i = 0; i < s->count; i++)
        if (s->list[i].layer == layer)
            fuzz_tar_entry(&s->list[i], &name, out);
    buf_append(out, fuzz_tar_zeros, 2 * USTAR_BLOCK);
}

#endif
