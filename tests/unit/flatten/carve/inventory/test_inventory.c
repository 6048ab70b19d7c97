#include "flatten/carve/inventory/inventory.h"

#include "base/base64.h"
#include "tests/unit/lib/merge/tree_paths.h"

#include <zstd.h>

/* Two layers: small files a, b and their link c, and a large one; then a directory and a whiteout.
 */
struct sample {
    struct tree *tree;
    struct layout_entry entries[6];
    uint64_t groups[6];
    struct digest ids[2];
    struct layout_identity known[16];
    struct inventory inventory;
    struct buf text;
};

static struct layout_entry entry(struct sample *s, const char *path, uint32_t inode, uint16_t layer,
                                 enum layout_kind kind, uint64_t identity)
{
    const struct layout_entry e = {.node = tree_at(s->tree, path),
                                   .inode = inode,
                                   .layer = layer,
                                   .kind = (uint8_t)kind,
                                   .identity = {{identity, identity}}};

    s->known[e.node] = e.identity;
    return e;
}

static void begin(struct sample *s)
{
    struct err err = ERR_INIT;

    *s = (struct sample){.tree = tree_new(&err)};
    assert_non_null(s->tree);
    s->entries[0] = entry(s, "usr/bin/a", 0, 0, LAYOUT_FILE, 1);
    s->entries[1] = entry(s, "usr/bin/b", 1, 0, LAYOUT_FILE, 2);
    s->entries[2] = entry(s, "usr/bin/c", 1, 0, LAYOUT_FILE, 2);
    s->entries[3] = entry(s, "usr/lib/large", 3, 0, LAYOUT_FILE, 3);
    s->entries[4] = entry(s, "usr/bin", 4, 1, LAYOUT_DIR, 4);
    s->entries[5] = entry(s, "gone", 5, 1, LAYOUT_WHITEOUT, 0);
    s->entries[0].bytes = s->entries[1].bytes = 1024;
    s->entries[3].bytes = INVENTORY_LARGE;
    s->groups[3] = s->groups[5] = 1;
    for (int i = 0; i < 2; i++)
        assert_int_equal(sha256_digest(&i, sizeof(i), &s->ids[i], &err), 0);
    s->inventory = (struct inventory){.diff_ids = s->ids,
                                      .layer_count = 2,
                                      .entries = s->entries,
                                      .entry_count = 6,
                                      .groups = s->groups};
    assert_int_equal(inventory_write(&s->inventory, s->tree, &s->text, &err), 0);
}

static void end(struct sample *s)
{
    cleanup_tree(&s->tree);
    buf_free(&s->text);
}

static void read_back(struct sample *s, struct inventory *out)
{
    const struct inventory_known known = {s->known, 16};
    struct err err = ERR_INIT;

    assert_int_equal(inventory_read(s->text.data, s->tree, &known, out, &err), 0);
    assert_int_equal(out->entry_count, 6);
}

static bool has(const struct inventory *i, size_t at, uint64_t identity)
{
    return i->entries[at].identity.part[0] == identity &&
           i->entries[at].identity.part[1] == identity;
}

static void test_it_is_read_as_it_was_written(void **state)
{
    _cleanup_(end) struct sample s;
    _cleanup_inventory_ struct inventory out = {0};

    (void)state;
    begin(&s);
    read_back(&s, &out);
    assert_int_equal(out.layer_count, 2);
    assert_true(digest_equal(&out.diff_ids[1], &s.ids[1]));
    for (size_t i = 0; i < 6; i++) {
        const struct layout_entry *a = &s.entries[i], *b = &out.entries[i];
        assert_int_equal(a->node, b->node);
        assert_int_equal(a->inode, b->inode);
        assert_int_equal(a->layer, b->layer);
        assert_int_equal(a->kind, b->kind);
        assert_int_equal(a->bytes, b->bytes);
        assert_memory_equal(&a->identity, &b->identity, sizeof(a->identity));
    }
}

static void test_files_that_share_are_the_same_together_or_not_at_all(void **state)
{
    _cleanup_(end) struct sample s;
    _cleanup_inventory_ struct inventory out = {0};

    (void)state;
    begin(&s);
    s.known[s.entries[0].node].part[0]++; /* the new version has another file a */
    read_back(&s, &out);
    assert_true(has(&out, 0, 0) && has(&out, 1, 0) && has(&out, 2, 0));
    assert_true(has(&out, 3, 3) && has(&out, 4, 4));
}

static void test_a_large_file_is_the_same_on_its_own(void **state)
{
    _cleanup_(end) struct sample s;
    _cleanup_inventory_ struct inventory out = {0};

    (void)state;
    begin(&s);
    s.known[s.entries[3].node].part[0]++;
    read_back(&s, &out);
    assert_true(has(&out, 0, 1) && has(&out, 1, 2) && has(&out, 2, 2));
    assert_true(has(&out, 3, 3)); /* its identity: layout_like.h compares it */
}

/* ---- hostile ---- */

static int read_bytes(const void *bytes, size_t len, struct err *err)
{
    _cleanup_tree_ struct tree *tree = tree_new(err);
    _cleanup_inventory_ struct inventory out = {0};
    _cleanup_buf_ struct buf packed = BUF_INIT, text = BUF_INIT;
    const struct inventory_known known = {0};
    char *to = buf_reserve(&packed, ZSTD_compressBound(len));

    assert_non_null(tree);
    assert_non_null(to);
    base64_encode(&text, to, ZSTD_compress(to, ZSTD_compressBound(len), bytes, len, 1));
    return inventory_read(text.data, tree, &known, &out, err);
}

/* An inventory of one layer and one entry, with such facts and path. */
static int read_one(const char *facts, size_t facts_len, const char *path, size_t path_len,
                    struct err *err)
{
    _cleanup_buf_ struct buf all = BUF_INIT;
    char id[SHA256_SIZE] = {0};

    buf_append(&all, "\2\1", 2);
    buf_append(&all, id, sizeof(id));
    buf_putc(&all, 1);
    buf_putc(&all, (char)facts_len);
    buf_putc(&all, (char)path_len);
    buf_putc(&all, 0);
    buf_append(&all, facts, facts_len);
    buf_append(&all, path, path_len);
    return read_bytes(all.data, all.len, err);
}

#define ONE(facts, path, err) read_one(facts, sizeof(facts) - 1, path, sizeof(path) - 1, err)

static void test_a_path_is_clean(void **state)
{
    static const char *const bad[] = {"../a", "/a",    "a//b",  "a/",
                                      ".",    "a/./b", ".wh.a", "a/.wh..wh..opq"};
    struct err err = ERR_INIT;

    (void)state;
    assert_int_equal(ONE("\1\1", "\0a/b\0", &err), 0);
    for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
        char path[32] = {0};
        memcpy(path + 1, bad[i], strlen(bad[i]) + 1);
        assert_int_equal(read_one("\1\1", 2, path, strlen(bad[i]) + 2, &err), -1);
        assert_int_equal(err.kind, ERR_FORMAT);
    }
}

static void test_what_is_cut_or_contradicts_itself_is_refused(void **state)
{
    struct err err = ERR_INIT;

    (void)state;
    assert_int_equal(ONE("\1\1", "\0a", &err), -1);   /* a path without an end */
    assert_int_equal(ONE("\1\1", "\1a\0", &err), -1); /* it shares with a path that is not there */
    assert_int_equal(ONE("\1\4\1", "\0a\0", &err), -1);   /* a link to an entry before the first */
    assert_int_equal(ONE("\1\4\0", "\0a\0", &err), -1);   /* a link to itself */
    assert_int_equal(ONE("\1\x18\1", "\0a\0", &err), -1); /* an identity of its own, and shared */
    assert_int_equal(ONE("\1\x0a", "\0a\0", &err), -1);   /* a whiteout with an identity */
    assert_int_equal(ONE("\1\x40\1", "\0a\0", &err), -1); /* an unknown flag */
    assert_int_equal(ONE("\2\1", "\0a\0", &err), -1);   /* more entries in the layer than in all */
    assert_int_equal(ONE("\1\1\1", "\0a\0", &err), -1); /* facts that no entry has */
    assert_int_equal(ONE("\1\0\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff", "\0a\0", &err), -1);
    assert_int_equal(ONE("\1\x08\1", "\0a\0", &err), -1); /* an identity that is not there */
}

static void test_a_bomb_is_refused(void **state)
{
    size_t len = (size_t)INVENTORY_MOST_BYTES + 1;
    _cleanup_free_ char *zeros = calloc(1, len);
    struct err err = ERR_INIT;

    (void)state;
    assert_non_null(zeros);
    assert_int_equal(read_bytes(zeros, len, &err), -1);
    assert_int_equal(err.kind, ERR_LIMIT);
    zeros[0] = 1;
    assert_int_equal(read_bytes(zeros, 64, &err), -1);
    assert_non_null(strstr(err.msg, "another version"));
}

UNIT_SUITE(test_inventory)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_it_is_read_as_it_was_written),
        cmocka_unit_test(test_files_that_share_are_the_same_together_or_not_at_all),
        cmocka_unit_test(test_a_large_file_is_the_same_on_its_own),
        cmocka_unit_test(test_a_path_is_clean),
        cmocka_unit_test(test_what_is_cut_or_contradicts_itself_is_refused),
        cmocka_unit_test(test_a_bomb_is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
