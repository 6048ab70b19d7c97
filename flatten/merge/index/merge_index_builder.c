#include "flatten/merge/index/merge_index_builder.h"

#include "flatten/layer/emit.h"
#include "flatten/merge/tree/array.h"
#include "flatten/merge/tree/merged_limits.h"

#include <string.h>

void index_builder_clear(struct index_builder *b)
{
    for (size_t i = 0; i < b->symlink_cap; i++)
        free(b->symlinks[i]);
    free(b->symlinks);
    model_free(&b->own_model);
    buf_free(&b->rest);
    free(b->floors);
    layer_probes_clear(&b->probes);
}

uint32_t merge_index_add_inode(struct merge_index *x, unsigned layer, uint32_t ordinal,
                               struct err *err)
{
    if (x->inode_count == TREE_NONE) {
        err_set(err, ERR_LIMIT, "too many files");
        return TREE_NONE;
    }
    struct merge_index_inode *i = ARRAY_PUSH(x, inode, inodes, err);
    if (!i)
        return TREE_NONE;
    *i = (struct merge_index_inode){.ordinal = ordinal, .first = TREE_NONE, .layer = layer};
    return (uint32_t)(x->inode_count - 1);
}

/* Takes ownership of `copy`; NULL means that copying failed. */
static int put_header(struct index_builder *b, uint32_t inode, struct attributes *copy,
                      struct err *err)
{
    struct merge_index_inode *i = &b->index->inodes[inode];

    if (!copy)
        return -1;
    if (i->header)
        b->index->header_bytes -= attributes_size(i->header);
    cleanup_attributes(&i->header);
    i->header = copy;
    b->index->header_bytes += attributes_size(copy);
    if (merged_check_attributes(b->max_attributes, b->index->header_bytes, "directories", err) < 0)
        return -1;
    i->described = b->layer->number;
    return 0;
}

int index_builder_keep_header(struct index_builder *b, uint32_t inode, struct archive_entry *header,
                              struct err *err)
{
    return b->index->bare ? 0 : put_header(b, inode, attributes_of(header, err), err);
}

/* Engines apply a link's header to the file, and add its xattrs; the spec ignores it. */
int index_builder_keep_link_header(struct index_builder *b, uint32_t inode,
                                   struct archive_entry *header, struct err *err)
{
    const struct attributes *kept = b->index->inodes[inode].header;

    if (b->semantics == SEMANTICS_SPEC)
        return 0;
    if (kept && archive_entry_xattr_count(header) == 0)
        return put_header(b, inode, attributes_with_xattrs(header, kept, err), err);
    if (kept) {
        _cleanup_entry_ struct archive_entry *old = attributes_entry(kept, err);
        if (!old || emit_adopt_xattrs(header, old, err) < 0)
            return -1;
    }
    return index_builder_keep_header(b, inode, header, err);
}

int index_builder_keep_symlink(struct index_builder *b, uint32_t inode, const char *target,
                               struct err *err)
{
    if (array_reserve(&b->symlinks, &b->symlink_cap, (size_t)inode + 1, sizeof(*b->symlinks), err) <
        0)
        return -1;
    b->symlinks[inode] = strdup(target);
    return b->symlinks[inode] ? 0 : err_nomem(err);
}
