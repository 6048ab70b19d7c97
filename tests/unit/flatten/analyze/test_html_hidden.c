/* The trees of what each layer hides: sums, joined directories, and bounds. */
#include "flatten/analyze/html_page.h"
#include "tests/unit/lib/merge/tree_paths.h"

/* Hidden files, added by path. */
struct stack_of_files {
    struct layer_stack s;
    struct tree *tree;
};

static void stack_begin(struct stack_of_files *f, size_t most)
{
    struct err err = ERR_INIT;

    f->tree = tree_new(&err);
    f->s = (struct layer_stack){.tree = f->tree, .file_count = 1};
    f->s.files = calloc(most + 1, sizeof(*f->s.files));
    assert_non_null(f->tree);
    assert_non_null(f->s.files);
}

static void stack_end(struct stack_of_files *f)
{
    free(f->s.files);
    tree_free(f->tree);
}

static void add_file(struct stack_of_files *f, const char *path, uint64_t size, unsigned layer,
                     unsigned killer, enum dead_cause cause)
{
    uint32_t node = tree_at(f->tree, path);

    f->s.files[f->s.file_count++] = (struct stack_file){.size = size,
                                                        .node = node,
                                                        .layer = (uint16_t)layer,
                                                        .killer = (uint16_t)killer,
                                                        .cause = (uint8_t)cause};
    f->s.nodes = tree_count(f->tree);
    f->s.layers = killer > f->s.layers ? killer : f->s.layers;
}

static void assert_hidden(const struct stack_of_files *f, const char *expected)
{
    _cleanup_buf_ struct buf out = BUF_INIT;
    struct err err = ERR_INIT;

    assert_works(html_page_put_hidden(&f->s, &out, &err), err);
    assert_string_equal(out.data, expected);
}

static void test_trees(void **state)
{
    struct stack_of_files f;

    (void)state;
    stack_begin(&f, 8);
    assert_hidden(&f, "[]");
    add_file(&f, "shown", 9, 1, 0, 0);
    add_file(&f, "a/b/c", 3, 1, 3, DEAD_DELETED);
    assert_hidden(&f, "[{\"by\":3,\"bytes\":3,\"files\":1,\"tree\":{\"name\":\"a/b/c\",\"bytes\":3,"
                      "\"files\":1,\"cause\":\"deleted\",\"of\":1}}]");
    add_file(&f, "a/b/d", 0, 2, 3, DEAD_OVERWRITTEN);
    add_file(&f, "x", 5, 1, 2, DEAD_TYPE);
    assert_hidden(&f,
                  "[{\"by\":2,\"bytes\":5,\"files\":1,\"tree\":{\"name\":\"x\",\"bytes\":5,"
                  "\"files\":1,\"cause\":\"type\",\"of\":1}},"
                  "{\"by\":3,\"bytes\":3,\"files\":2,\"tree\":{\"name\":\"a/b\",\"bytes\":3,"
                  "\"files\":2,\"children\":["
                  "{\"name\":\"d\",\"bytes\":0,\"files\":1,\"cause\":\"overwritten\",\"of\":2},"
                  "{\"name\":\"c\",\"bytes\":3,\"files\":1,\"cause\":\"deleted\",\"of\":1}]}}]");
    stack_end(&f);
}

/* A path may be a file in one layer and a directory in another. */
static void test_file_and_directory(void **state)
{
    struct stack_of_files f;

    (void)state;
    stack_begin(&f, 2);
    add_file(&f, "a", 1, 1, 3, DEAD_TYPE);
    add_file(&f, "a/b", 2, 2, 3, DEAD_TYPE);
    assert_hidden(&f, "[{\"by\":3,\"bytes\":3,\"files\":2,\"tree\":{\"name\":\"a\",\"bytes\":3,"
                      "\"files\":2,\"cause\":\"type\",\"children\":[{\"name\":\"b\",\"bytes\":2,"
                      "\"files\":1,\"cause\":\"type\",\"of\":2}]}}]");
    stack_end(&f);
}

/* A hundred directories in one another are not one line. */
static void test_long_names(void **state)
{
    _cleanup_buf_ struct buf path = BUF_INIT, out = BUF_INIT;
    struct err err = ERR_INIT;
    struct stack_of_files f;

    (void)state;
    stack_begin(&f, 1);
    for (int i = 0; i < 100; i++)
        buf_puts(&path, "directory/");
    buf_puts(&path, "file");
    add_file(&f, path.data, 1, 1, 2, DEAD_DELETED);
    assert_works(html_page_put_hidden(&f.s, &out, &err), err);
    for (const char *name = out.data; (name = strstr(name, "\"name\":\"")); name++)
        assert_true(strcspn(name + 8, "\"") < 220);
    assert_contains(out.data, "directory/file\"");
    stack_end(&f);
}

/* Small files are summed up: a hundred thousand of them give a small page. */
static void test_bounds(void **state)
{
    enum { DIRS = 100, FILES = 1000 };
    _cleanup_buf_ struct buf out = BUF_INIT;
    struct err err = ERR_INIT;
    struct stack_of_files f;

    (void)state;
    stack_begin(&f, DIRS * FILES + 1);
    for (int dir = 0; dir < DIRS; dir++)
        for (int file = 0; file < FILES; file++) {
            char path[64];
            snprintf(path, sizeof(path), "d%d/e/f/g%d", dir, file);
            add_file(&f, path, 10, 1, 2 + (unsigned)dir % 50, DEAD_OVERWRITTEN);
        }
    add_file(&f, "big", 100000, 1, 2, DEAD_OVERWRITTEN);
    assert_works(html_page_put_hidden(&f.s, &out, &err), err);
    assert_true(out.len < 200000);
    assert_contains(out.data, "{\"by\":2,\"bytes\":120000,\"files\":2001,");
    assert_contains(out.data, "{\"by\":51,\"bytes\":20000,\"files\":2000,");
    assert_contains(out.data, "{\"name\":\"d49/e/f\",\"bytes\":10000,\"files\":1000,"
                              "\"cause\":\"overwritten\",\"of\":1,\"children\":[{\"others\":1000,");
    stack_end(&f);
}

UNIT_SUITE(test_html_hidden)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_trees), cmocka_unit_test(test_file_and_directory),
        cmocka_unit_test(test_long_names), cmocka_unit_test(test_bounds)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
