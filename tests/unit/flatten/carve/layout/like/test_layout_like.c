#include "tests/unit/lib/carve/lineage.h"
#include "tests/unit/lib/unit.h"

static void run_lineage(uint64_t seed, size_t old_layers)
{
    struct model_source source = {.seed = seed * 0x9e3779b97f4a7c15u | 1};
    struct lineage l;

    assert_true(lineage_begin(&l, &source));
    l.options.layout.layers = model_pick(&source, 3) ? 3 + model_pick(&source, 20) : 0;
    l.options.layout.cap = 512u << model_pick(&source, 10);
    l.options.max_dead = model_pick(&source, 11) / 20.0;
    l.options.max_probes = 1 + model_pick(&source, 16) / 8.0;
    lineage_change(&l, model_pick(&source, 120));
    lineage_old_layers(&l, old_layers);
    for (int version = 0; version < 10; version++) {
        if (!lineage_step(&l))
            fail_msg("seed %u, version %d, lineage.h %s", (unsigned)seed, version, l.fault);
        if (!lineage_repeat(&l))
            fail_msg("seed %u, version %d again, lineage.h %s", (unsigned)seed, version, l.fault);
        lineage_change(&l, 1 + model_pick(&source, 16));
    }
    lineage_end(&l);
}

static void test_lineages(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 300; seed++)
        run_lineage(seed, 0);
}

/* The first version follows layers that nobody carved, with whiteouts and opaque directories. */
static void test_foreign_layers(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 300; seed++)
        run_lineage(seed + 1000, seed % 9);
}

/* ---- why a layer is kept or not ---- */

enum { ROOT, DIR_A, FILE_B, FILE_C, TINY_NODES }; /* "", a, a/b, c */

struct tiny_entry {
    uint16_t layer;
    uint8_t node;
    uint8_t kind; /* enum layout_kind */
    uint64_t identity, bytes;
};

/*
 * The new version has the directory a and the files a/b and c, with their numbers as identities,
 * and a root of identity 9, or 0: without a header.
 */
static void plan_tiny(const struct tiny_entry *list, size_t count, uint64_t root,
                      const struct layout_like_options *options, struct layout_like *out)
{
    static const uint8_t is_dir[TINY_NODES] = {1, 1, 0, 0};
    static char empty[] = "", state[] = "state";
    struct owner owner_list[] = {{OWNER_UNOWNED, TIER_APPLICATION, empty, NULL},
                                 {OWNER_UNOWNED, TIER_STATE, state, NULL}};
    struct owners owners = {.list = owner_list, .count = 2};
    static const struct layout_file files[] = {{FILE_B, 0, 1000}, {FILE_C, 0, 1000}};
    struct layout_identity identities[TINY_NODES] = {{{root}}, {{DIR_A}}, {{FILE_B}}, {{FILE_C}}};
    struct layout_previous_layer layers[3] = {{0}, {0}, {.state = true}};
    struct layout_entry entries[8] = {0};
    struct err err = ERR_INIT;
    _cleanup_tree_ struct tree *tree = tree_new(&err);

    assert_non_null(tree);
    assert_int_equal(tree_child(tree, ROOT, "a", 1, &err), DIR_A);
    assert_int_equal(tree_child(tree, DIR_A, "b", 1, &err), FILE_B);
    assert_int_equal(tree_child(tree, ROOT, "c", 1, &err), FILE_C);
    for (uint32_t i = 0; i < count; i++)
        entries[i] = (struct layout_entry){.identity = {{list[i].identity, 0}},
                                           .bytes = list[i].bytes,
                                           .node = list[i].node,
                                           .inode = i,
                                           .layer = list[i].layer,
                                           .kind = list[i].kind};
    const struct layout_input in = {tree, files, 2, NULL, 0, is_dir, &owners};
    const struct layout_previous previous = {layers, 3, entries, count};
    assert_works(layout_like_make(&in, identities, &previous, options, out, &err), err);
}

static const struct {
    struct tiny_entry entries[5];
    size_t count, layer;
    enum layout_fate fate;
    double max_dead;
} fates[] = {
    {{{0, DIR_A, LAYOUT_DIR, 1, 0}, {0, FILE_B, LAYOUT_FILE, FILE_B, 1000}}, 2, 0, LAYOUT_KEPT, 0},
    {{{0, FILE_B, LAYOUT_FILE, FILE_B, 1000}}, 1, 0, LAYOUT_KEPT, 0},
    {{{0, FILE_B, LAYOUT_FILE, 99, 1000}}, 1, 0, LAYOUT_UNUSED, 1},
    {{{2, FILE_B, LAYOUT_FILE, FILE_B, 1000}}, 1, 2, LAYOUT_STATE, 1},
    /* half of the layer is dead: 1000 bytes of 3000 */
    {{{0, FILE_B, LAYOUT_FILE, FILE_B, 1000}, {0, FILE_C, LAYOUT_FILE, 99, 1000}},
     2,
     0,
     LAYOUT_DEAD,
     0.3},
    {{{0, FILE_B, LAYOUT_FILE, FILE_B, 1000}, {0, FILE_C, LAYOUT_FILE, 99, 1000}},
     2,
     0,
     LAYOUT_KEPT,
     0.34},
    /* a file with something below it, a whiteout likewise */
    {{{0, DIR_A, LAYOUT_FILE, 1, 0}, {0, FILE_B, LAYOUT_FILE, FILE_B, 1000}},
     2,
     0,
     LAYOUT_UNSOUND,
     1},
    {{{0, DIR_A, LAYOUT_WHITEOUT, 0, 0}, {0, FILE_B, LAYOUT_FILE, FILE_B, 1000}},
     2,
     0,
     LAYOUT_UNSOUND,
     1},
    {{{0, FILE_B, LAYOUT_FILE, FILE_B, 1000}, {0, DIR_A, LAYOUT_WHITEOUT, 0, 0}},
     2,
     0,
     LAYOUT_UNSOUND,
     1},
    {{{0, ROOT, LAYOUT_OPAQUE, 0, 0}, {0, FILE_B, LAYOUT_FILE, FILE_B, 1000}},
     2,
     0,
     LAYOUT_UNSOUND,
     1},
    {{{0, FILE_B, LAYOUT_FILE, FILE_B, 1000}, {0, FILE_B, LAYOUT_FILE, FILE_B, 1000}},
     2,
     0,
     LAYOUT_UNSOUND,
     1},
    {{{0, DIR_A, LAYOUT_DIR, 1, 0}, {0, DIR_A, LAYOUT_DIR, 1, 0}}, 2, 0, LAYOUT_UNSOUND, 1},
    /* a link in an older layer, which a directory replaces: only if that has an entry */
    {{{0, DIR_A, LAYOUT_FILE, 1, 0},
      {0, FILE_C, LAYOUT_FILE, FILE_C, 1000},
      {1, FILE_B, LAYOUT_FILE, FILE_B, 1000}},
     3,
     1,
     LAYOUT_UNSOUND,
     1},
    {{{0, DIR_A, LAYOUT_FILE, 1, 0},
      {0, FILE_C, LAYOUT_FILE, FILE_C, 1000},
      {1, DIR_A, LAYOUT_DIR, 1, 0},
      {1, FILE_B, LAYOUT_FILE, FILE_B, 1000}},
     4,
     1,
     LAYOUT_KEPT,
     1},
};

static void test_fates(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(fates) / sizeof(*fates); i++) {
        const struct layout_like_options options = {.max_dead = fates[i].max_dead, .max_probes = 9};
        _cleanup_layout_like_ struct layout_like plan = {0};
        plan_tiny(fates[i].entries, fates[i].count, 9, &options, &plan);
        if (plan.fates[fates[i].layer] != fates[i].fate)
            fail_msg("row %zu: fate %u", i, plan.fates[fates[i].layer]);
    }
}

/* Nothing takes back the header that a layer has of the root. */
static void test_a_root_without_header(void **state)
{
    static const struct tiny_entry entries[] = {{0, ROOT, LAYOUT_DIR, 8, 0},
                                                {0, FILE_B, LAYOUT_FILE, FILE_B, 1000},
                                                {1, FILE_C, LAYOUT_FILE, FILE_C, 1000}};
    const struct layout_like_options options = {.max_dead = 1, .max_probes = 9};

    (void)state;
    for (uint64_t root = 0; root < 2; root++) {
        _cleanup_layout_like_ struct layout_like plan = {0};
        plan_tiny(entries, 3, root, &options, &plan);
        assert_int_equal(plan.fates[0], root ? LAYOUT_KEPT : LAYOUT_UNSOUND);
        assert_int_equal(plan.fates[1], LAYOUT_KEPT);
    }
}

/* ---- hard links ---- */

enum { WITNESS = 1, LINK_NAMES = 4, LINK_NODES = 2 + LINK_NAMES }; /* "", w, a, b, c, d */

/*
 * Names are digits: those with the same digit are one file, 0 is nothing. All files are equal but
 * w, which keeps the layer.
 */
static const struct {
    const char *before, *after;
    bool kept;
} links[] = {
    {"1100", "1100", true},  /* the same names */
    {"1122", "1122", true},  /* two equal files */
    {"1100", "1010", false}, /* b is c now */
    {"1100", "1110", false}, /* a third name */
    {"1110", "1100", false}, /* a name less */
    {"1122", "1221", false}, /* the same names, paired otherwise */
};

/* Returns the first name of the file that has the name. */
static size_t first_name(const char *names, size_t name)
{
    return (size_t)(strchr(names, names[name]) - names);
}

static size_t list_before(const char *names, struct layout_entry *entries)
{
    size_t count = 0, at[LINK_NAMES] = {0};

    entries[count++] = (struct layout_entry){
        .identity = {{WITNESS}}, .bytes = 1000, .node = WITNESS, .kind = LAYOUT_FILE};
    for (size_t i = 0; i < LINK_NAMES; i++) {
        if (names[i] == '0')
            continue;
        size_t first = first_name(names, i);
        at[i] = count;
        entries[count++] = (struct layout_entry){.identity = {{7}},
                                                 .bytes = first == i ? 1000 : 0,
                                                 .node = (uint32_t)(i + 2),
                                                 .inode = (uint32_t)at[first],
                                                 .kind = LAYOUT_FILE};
    }
    return count;
}

/* Lists the files after `w`, and their further names. */
static void list_after(const char *names, struct layout_file *files, struct layout_name *more,
                       struct layout_input *in)
{
    size_t at[LINK_NAMES] = {0};

    files[in->file_count++] = (struct layout_file){WITNESS, 0, 1000};
    for (size_t i = 0; i < LINK_NAMES; i++) {
        if (names[i] == '0')
            continue;
        size_t first = first_name(names, i);
        if (first == i) {
            at[i] = in->file_count;
            files[in->file_count++] = (struct layout_file){(uint32_t)(i + 2), 0, 1000};
        } else
            more[in->name_count++] = (struct layout_name){(uint32_t)(i + 2), (uint32_t)at[first]};
    }
}

static bool keeps_link(const char *before, const char *after)
{
    static const uint8_t is_dir[LINK_NODES] = {1};
    static char empty[] = "", state[] = "state", names[] = "wabcd";
    struct owner owner_list[] = {{OWNER_UNOWNED, TIER_APPLICATION, empty, NULL},
                                 {OWNER_UNOWNED, TIER_STATE, state, NULL}};
    struct owners owners = {.list = owner_list, .count = 2};
    struct layout_file files[LINK_NODES];
    struct layout_name more[LINK_NODES];
    struct layout_identity identities[LINK_NODES] = {{{9}}, {{WITNESS}}, {{7}},
                                                     {{7}}, {{7}},       {{7}}};
    struct layout_previous_layer layer = {0};
    struct layout_entry entries[LINK_NODES];
    struct err err = ERR_INIT;
    _cleanup_tree_ struct tree *tree = tree_new(&err);
    _cleanup_layout_like_ struct layout_like plan = {0};

    assert_non_null(tree);
    for (uint32_t i = 1; i < LINK_NODES; i++)
        assert_int_equal(tree_child(tree, ROOT, &names[i - 1], 1, &err), i);
    struct layout_input in = {
        .tree = tree, .files = files, .names = more, .is_dir = is_dir, .owners = &owners};
    list_after(after, files, more, &in);
    const struct layout_previous previous = {&layer, 1, entries, list_before(before, entries)};
    const struct layout_like_options options = {.max_dead = 1, .max_probes = 9};
    assert_works(layout_like_make(&in, identities, &previous, &options, &plan, &err), err);
    assert_int_equal(plan.kept, 1);
    return plan.layout.by_file[1] < plan.kept;
}

/* A layer has a file only with all its names: it counts links on its own. */
static void test_links(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(links) / sizeof(*links); i++)
        if (keeps_link(links[i].before, links[i].after) != links[i].kept)
            fail_msg("%s after %s", links[i].after, links[i].before);
}

UNIT_SUITE(test_layout_like)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lineages), cmocka_unit_test(test_foreign_layers),
        cmocka_unit_test(test_fates),    cmocka_unit_test(test_a_root_without_header),
        cmocka_unit_test(test_links),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
