/*
 * Inventories (inventory.h). The input is the content, without base64 and zstd, which have their
 * own tests. One that is read keeps the rules of struct layout_entry, and is read again as it is
 * written.
 */
#include "base/base64.h"
#include "flatten/carve/inventory/inventory.h"
#include "fuzz.h"

#include <string.h>
#include <zstd.h>

static void check_entries(const struct inventory *i, const struct tree *tree)
{
    for (size_t at = 0; at < i->entry_count; at++) {
        const struct layout_entry *e = &i->entries[at];
        must(e->node < tree_count(tree) && e->layer < i->layer_count && e->inode <= at);
        must(at == 0 || e->layer >= e[-1].layer);
        must(e->kind == LAYOUT_FILE || e->inode == at);
        const struct layout_entry *file = &i->entries[e->inode];
        must(file->inode == e->inode && file->layer == e->layer && file->kind == e->kind);
    }
}

/* All that is in one layer, of one group: what has an identity shares it. */
static void check_again(struct inventory *i, struct tree *tree)
{
    const struct inventory_known known = {0};
    _cleanup_inventory_ struct inventory again = {0};
    _cleanup_buf_ struct buf text = BUF_INIT;
    struct err err = ERR_INIT;

    i->groups = calloc(i->entry_count + 1, sizeof(*i->groups));
    must(i->groups != NULL);
    must(inventory_write(i, tree, &text, &err) == 0);
    must(inventory_read(text.data, tree, &known, &again, &err) == 0);
    must(again.entry_count == i->entry_count && again.layer_count == i->layer_count);
    for (size_t at = 0; at < i->entry_count; at++) {
        const struct layout_entry *a = &i->entries[at], *b = &again.entries[at];
        must(a->node == b->node && a->inode == b->inode && a->kind == b->kind);
        must(a->layer == b->layer && a->bytes == b->bytes);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct layout_identity list[8] = {{{1, 2}}, {{3, 4}}};
    const struct inventory_known known = {list, sizeof(list) / sizeof(*list)};
    _cleanup_inventory_ struct inventory inventory = {0};
    _cleanup_buf_ struct buf packed = BUF_INIT, text = BUF_INIT;
    struct err err = ERR_INIT;
    _cleanup_tree_ struct tree *tree = tree_new(&err);
    char *end = buf_reserve(&packed, ZSTD_compressBound(size));

    must(tree && end);
    size_t len = ZSTD_compress(end, ZSTD_compressBound(size), data, size, 1);
    must(!ZSTD_isError(len));
    base64_encode(&text, end, len);
    must(buf_check(&text, &err) == 0);
    if (inventory_read(text.data, tree, &known, &inventory, &err) < 0)
        return 0;
    check_entries(&inventory, tree);
    check_again(&inventory, tree);
    return 0;
}
