/* Weights of owners, of stacks that are made record by record. */
#include "flatten/analyze/bytes/dead.h"
#include "flatten/analyze/owners/owner_weights.h"
#include "tests/unit/lib/unit.h"

enum { LINKS = 64 };

struct sample {
    struct tree *tree;
    struct layer_stack stack;
    struct kept_files databases;
    char *links[LINKS];
    uint32_t inodes;
};

static void sample_begin(struct sample *t)
{
    struct err err = ERR_INIT;

    *t = (struct sample){.tree = tree_new(&err)};
    assert_non_null(t->tree);
    t->stack.tree = t->tree;
}

static void sample_end(struct sample *t)
{
    layer_stack_clear(&t->stack);
    kept_files_clear(&t->databases);
    tree_free(t->tree);
}

static void add_record(struct sample *t, unsigned layer, uint32_t node, enum model_kind kind,
                       uint32_t inode)
{
    const struct model_slot slot = {.inode = inode};
    struct err err = ERR_INIT;

    assert_works(layer_stack_add(&t->stack, layer, node, kind, &slot, &err), err);
}

/* Returns the node of a path; directories above it are in the layer. */
static uint32_t path_node(struct sample *t, unsigned layer, const char *path)
{
    struct err err = ERR_INIT;
    uint32_t node = TREE_ROOT;

    while (*path) {
        size_t len = strcspn(path, "/");
        node = tree_child(t->tree, node, path, len, &err);
        path += len;
        if (*path == '/' && path++) {
            uint32_t at = layer_stack_newest(&t->stack, node);
            if (at == STACK_NONE || t->stack.records[at].layer != layer)
                add_record(t, layer, node, MODEL_DIR, 0);
        }
    }
    return node;
}

/* Adds a file; one of a database is kept. Returns its inode. */
static uint32_t add_file(struct sample *t, unsigned layer, const char *path, const char *text,
                         uint64_t size)
{
    uint32_t node = path_node(t, layer, path), inode = ++t->inodes;
    const struct stack_file file = {.size = size, .node = node, .layer = (uint16_t)layer};
    struct err err = ERR_INIT;
    char *data;

    if (owners_is_database(t->tree, node)) {
        assert_works(kept_files_add(&t->databases, node, inode, size, &data, &err), err);
        if (data)
            memcpy(data, text, size);
    }
    assert_works(layer_stack_add_file(&t->stack, inode, &file, &err), err);
    add_record(t, layer, node, MODEL_OTHER, inode);
    return inode;
}

static void add_text(struct sample *t, unsigned layer, const char *path, const char *text)
{
    add_file(t, layer, path, text, strlen(text));
}

static void add_link(struct sample *t, unsigned layer, const char *path, char *target)
{
    t->links[++t->inodes] = target;
    add_record(t, layer, path_node(t, layer, path), MODEL_SYMLINK, t->inodes);
}

static void weigh(struct sample *t, struct owner_report *out)
{
    const struct owner_input in = {.stack = &t->stack,
                                   .databases = &t->databases,
                                   .symlinks = t->links,
                                   .symlink_count = LINKS};
    struct err err = ERR_INIT;

    assert_works(dead_attribute(&t->stack, &err), err);
    assert_works(owner_weights_find(&in, out, &err), err);
}

/* Compares all owners, as "KIND NAME live FILES BYTES dead FILES BYTES in LAYERS" in a line each.
 */
static void assert_weights(struct sample *t, const char *expected)
{
    _cleanup_owner_report_ struct owner_report r = {0};
    _cleanup_buf_ struct buf text = BUF_INIT, path = BUF_INIT;

    weigh(t, &r);
    buf_append(&text, "", 0);
    for (size_t i = 0; i < r.count; i++) {
        const struct owner_weight *w = &r.list[i];
        buf_printf(&text, "%s %s live %u %u dead %u %u in", owner_kind_key(w),
                   w->name ? w->name : layer_stack_path(&t->stack, w->dir, &path),
                   (unsigned)w->files, (unsigned)w->live, (unsigned)w->dead_files,
                   (unsigned)w->dead);
        for (unsigned layer = 1; layer <= t->stack.layers; layer++)
            if (owner_in_layer(w, layer))
                buf_printf(&text, " %u", layer);
        buf_putc(&text, '\n');
    }
    assert_string_equal(text.data, expected);
}

static void test_live_and_dead(void **state)
{
    struct sample t;

    (void)state;
    sample_begin(&t);
    add_text(&t, 1, "var/lib/dpkg/info/one.list", "/a/x\n/a/y\n");
    add_text(&t, 1, "var/lib/dpkg/info/gone.list", "/a/x\n/a/z\n");
    add_file(&t, 1, "a/x", NULL, 1000);
    add_file(&t, 1, "a/y", NULL, 300);
    add_file(&t, 1, "a/z", NULL, 200);
    add_file(&t, 1, "a/b/c/d", NULL, 100);
    add_record(&t, 2, path_node(&t, 2, "var/lib/dpkg/info/gone.list"), MODEL_WHITEOUT, 0);
    add_record(&t, 2, path_node(&t, 2, "a/z"), MODEL_WHITEOUT, 0);
    add_file(&t, 2, "a/y", NULL, 50);
    /* The list that is gone has no say about a file that shows. */
    assert_weights(&t, "dpkg one live 2 1050 dead 1 300 in 1 2\n"
                       "dpkg gone live 0 0 dead 1 200 in 1\n"
                       "directory a/b live 1 100 dead 0 0 in 1\n"
                       "state state live 1 10 dead 1 10 in 1\n");
    sample_end(&t);
}

/* A list that is gone leaves no version behind. */
static void test_version(void **state)
{
    _cleanup_owner_report_ struct owner_report r = {0};
    struct sample t;

    (void)state;
    sample_begin(&t);
    add_text(&t, 1, "p-1.dist-info/RECORD", "p.py,,\n");
    add_file(&t, 1, "p.py", NULL, 500);
    add_record(&t, 2, path_node(&t, 2, "p-1.dist-info"), MODEL_WHITEOUT, 0);
    add_text(&t, 2, "p-2.dist-info/RECORD", "p.py,,\n");
    weigh(&t, &r);
    assert_string_equal(r.list[0].name, "p");
    assert_string_equal(r.list[0].version, "2");
    sample_end(&t);
}

static void test_names(void **state)
{
    static char target[] = "usr/lib", itself[] = "bin";
    struct sample t;

    (void)state;
    sample_begin(&t);
    add_text(&t, 1, "var/lib/dpkg/info/q.list", "/lib/x\n/bin/y\n");
    add_text(&t, 1, "var/lib/dpkg/info/p.list", "/usr/lib/z\n");
    add_link(&t, 1, "lib", target);
    add_link(&t, 1, "bin", itself);
    uint32_t inode = add_file(&t, 1, "usr/lib/x", NULL, 500);
    add_record(&t, 1, path_node(&t, 1, "usr/lib/z"), MODEL_OTHER, inode);
    assert_weights(&t, "dpkg p live 1 500 dead 0 0 in 1\nstate state live 2 25 dead 0 0 in 1\n");
    sample_end(&t);
}

/* A directory of a layer becomes a file of a package: what was below does not go to that package.
 */
static void test_directory_becomes_file(void **state)
{
    struct sample t;

    (void)state;
    sample_begin(&t);
    add_text(&t, 1, "var/lib/dpkg/info/p.list", "/a/b\n");
    add_file(&t, 1, "a/b/c", NULL, 70);
    add_file(&t, 2, "a/b", NULL, 60);
    assert_weights(&t, "directory a/b live 0 0 dead 1 70 in 1\n"
                       "dpkg p live 1 60 dead 0 0 in 2\n"
                       "state state live 1 5 dead 0 0 in 1\n");
    sample_end(&t);
}

static void test_large_database(void **state)
{
    _cleanup_owner_report_ struct owner_report r = {0};
    struct sample t;

    (void)state;
    sample_begin(&t);
    add_file(&t, 1, "var/lib/dpkg/info/p.list", NULL, KEPT_FILES_MOST + 1);
    add_file(&t, 1, "a/b", NULL, 60);
    weigh(&t, &r);
    assert_int_equal(r.cut, 1);
    assert_int_equal(r.count, 2);
    assert_string_equal(owner_kind_key(&r.list[0]), "state");
    assert_string_equal(owner_kind_key(&r.list[1]), "directory");
    sample_end(&t);
}

/* Files of too many directories count to the root. No byte is lost. */
static void test_many_directories(void **state)
{
    enum { DIRS = 3 * OWNER_MOST_DIRS };
    _cleanup_owner_report_ struct owner_report r = {0};
    uint64_t live = 0, root = 0;
    struct sample t;

    (void)state;
    sample_begin(&t);
    for (unsigned i = 0; i < DIRS; i++) {
        char path[64];
        snprintf(path, sizeof(path), "d%u/e/f", i);
        add_file(&t, 1, path, NULL, 10);
    }
    weigh(&t, &r);
    assert_int_equal(r.count, OWNER_MOST_DIRS);
    for (size_t i = 0; i < r.count; i++) {
        live += r.list[i].live;
        root += r.list[i].dir == TREE_ROOT ? r.list[i].live : 0;
    }
    assert_int_equal(live, 10 * DIRS);
    assert_int_equal(root, 10 * (DIRS - OWNER_MOST_DIRS + 1));
    sample_end(&t);
}

static void test_nothing(void **state)
{
    struct sample t;

    (void)state;
    sample_begin(&t);
    assert_weights(&t, "");
    sample_end(&t);
}

UNIT_SUITE(test_owner_weights)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_live_and_dead),  cmocka_unit_test(test_version),
        cmocka_unit_test(test_names),          cmocka_unit_test(test_directory_becomes_file),
        cmocka_unit_test(test_large_database), cmocka_unit_test(test_many_directories),
        cmocka_unit_test(test_nothing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
