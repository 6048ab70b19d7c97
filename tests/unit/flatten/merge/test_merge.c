#include "tests/unit/lib/merge/merge_cases.h"
#include "tests/unit/lib/merge/merge_run.h"
#include "tests/unit/lib/unit.h"

static void check(const struct merge_case *c, const struct merge_run *r, int rc,
                  const struct err *err, const char *text)
{
    if (rc < 0) {
        assert_int_equal(err->kind, ERR_FORMAT);
        assert_true(c->overlay[0] == '!');
        assert_contains(err->msg, c->overlay + 1);
        return;
    }
    assert_int_equal(r->conflict, c->conflict);
    if (r->conflict)
        return;
    assert_string_equal(text, c->overlay);
    if (c->divergence && (!r->divergence || strcmp(c->divergence, r->divergence) != 0))
        fail_msg("divergence: %s, not %s", r->divergence ? r->divergence : "none", c->divergence);
}

static void test_case(void **state)
{
    const struct merge_case *c = *state;
    static struct stack stack;
    struct merge_run r = {.stack = &stack};
    struct err err = ERR_INIT;
    _cleanup_buf_ struct buf text = BUF_INIT;

    stack_parse(&stack, c->layers);
    r.merge = merge_new(&err);
    assert_non_null(r.merge);
    int rc = merge_run(&r, &err);
    result_text(&r.result, &text);
    result_free(&r.result);
    merge_free(r.merge);
    check(c, &r, rc, &err, text.data);
}

static void test_too_many_layers(void **state)
{
    struct err err = ERR_INIT;
    _cleanup_merge_ struct merge *m = merge_new(&err);

    (void)state;
    assert_works(merge_begin_layer(m, MERGE_MOST_LAYERS - 1, &err), err);
    assert_fails(merge_begin_layer(m, MERGE_MOST_LAYERS, &err), err, ERR_LIMIT);
}

static int enter(struct merge *m, enum entry_kind kind, const char *path, const char *link,
                 uint32_t ordinal, struct err *err)
{
    struct merge_output out;
    struct entry_info in = {.kind = kind,
                            .path = path,
                            .path_len = strlen(path),
                            .link = link,
                            .link_len = link ? strlen(link) : 0,
                            .ordinal = ordinal};

    return merge_entry(m, &in, &out, err);
}

/* A chain of N links, l0 -> l1 -> ..., and an entry below l0: the kernel follows 40. */
static int enter_through(unsigned links, struct err *err)
{
    _cleanup_merge_ struct merge *m = merge_new(err);
    char name[32], target[32];

    assert_works(merge_begin_layer(m, 0, err), *err);
    for (unsigned i = 0; i < links; i++) {
        snprintf(name, sizeof(name), "l%u", i);
        snprintf(target, sizeof(target), i + 1 < links ? "l%u" : "dir", i + 1);
        assert_works(enter(m, ENTRY_SYMLINK, name, target, i + 1, err), *err);
    }
    return enter(m, ENTRY_FILE, "l0/x", NULL, links + 1, err);
}

static void test_symlink_chain_limit(void **state)
{
    struct err err = ERR_INIT;

    (void)state;
    assert_works(enter_through(40, &err), err);
    assert_fails(enter_through(41, &err), err, ERR_FORMAT);
}

/* Links whose targets double the path each time are followed up to a bound. */
static void test_symlinks_that_grow(void **state)
{
    struct err err = ERR_INIT;
    _cleanup_merge_ struct merge *m = merge_new(&err);
    static char target[16 * 4096 + 8];

    (void)state;
    assert_works(merge_begin_layer(m, 0, &err), err);
    memset(target, 'a', sizeof(target) - 1);
    assert_works(enter(m, ENTRY_SYMLINK, "l", target, 1, &err), err);
    assert_fails(enter(m, ENTRY_FILE, "l/x", NULL, 2, &err), err, ERR_FORMAT);
}

static void test_root_must_be_a_directory(void **state)
{
    struct err err = ERR_INIT;
    _cleanup_merge_ struct merge *m = merge_new(&err);

    (void)state;
    assert_works(merge_begin_layer(m, 0, &err), err);
    assert_fails(enter(m, ENTRY_FILE, "", NULL, 1, &err), err, ERR_FORMAT);
    assert_fails(enter(m, ENTRY_WHITEOUT, "", NULL, 2, &err), err, ERR_FORMAT);
    assert_fails(enter(m, ENTRY_HARDLINK, "a", "", 3, &err), err, ERR_FORMAT);
}

/* Names are bytes: a name that is not UTF-8 merges like any other. */
static void test_names_are_bytes(void **state)
{
    struct err err = ERR_INIT;
    _cleanup_merge_ struct merge *m = merge_new(&err);
    struct merge_output out;
    struct entry_info in = {.kind = ENTRY_FILE, .path = "\xff\xfe", .path_len = 2, .ordinal = 1};

    (void)state;
    assert_works(merge_begin_layer(m, 1, &err), err);
    assert_works(merge_entry(m, &in, &out, &err), err);
    assert_int_equal(out.action, MERGE_EMIT);
    assert_works(merge_begin_layer(m, 0, &err), err);
    assert_works(merge_entry(m, &in, &out, &err), err);
    assert_int_equal(out.action, MERGE_SKIP);
}

/* Unpackers apply a link's attributes to the file, so the file's entry may have been wrong. */
static void test_link_with_attributes_of_its_own(void **state)
{
    struct err err = ERR_INIT;
    _cleanup_merge_ struct merge *m = merge_new(&err);
    struct merge_output out;
    struct entry_info file = {
        .kind = ENTRY_FILE, .path = "a", .path_len = 1, .ordinal = 1, .attributes = 7};
    struct entry_info link = {.kind = ENTRY_HARDLINK,
                              .path = "b",
                              .path_len = 1,
                              .link = "a",
                              .link_len = 1,
                              .ordinal = 2,
                              .attributes = 7};

    (void)state;
    assert_works(merge_begin_layer(m, 0, &err), err);
    assert_works(merge_entry(m, &file, &out, &err), err);
    assert_works(merge_entry(m, &link, &out, &err), err);
    assert_int_equal(out.action, MERGE_LINK);
    link.path = "c";
    link.attributes = 8;
    assert_works(merge_entry(m, &link, &out, &err), err);
    assert_int_equal(out.action, MERGE_CONFLICT);
}

UNIT_SUITE(test_merge)
{
    static const struct CMUnitTest fixed[] = {
        cmocka_unit_test(test_too_many_layers),
        cmocka_unit_test(test_symlink_chain_limit),
        cmocka_unit_test(test_symlinks_that_grow),
        cmocka_unit_test(test_root_must_be_a_directory),
        cmocka_unit_test(test_names_are_bytes),
        cmocka_unit_test(test_link_with_attributes_of_its_own),
    };
    int failed = merge_cases_run("merge rules", test_case);

    return failed + cmocka_run_group_tests(fixed, NULL, NULL);
}
