#include "tests/unit/lib/carve/layout_sample.h"

static const struct layout_layer *layer_of(const struct layout *l, uint32_t file)
{
    return &l->layers[l->by_file[file]];
}

static void assert_label(const struct layout *l, uint32_t file, const char *label)
{
    assert_string_equal(layer_of(l, file)->label, label);
}

/* Tiers from the bottom up; what is large is alone, the rest of a tier together. */
static void test_tiers(void **state)
{
    struct sample *s = sample_new();

    (void)state;
    uint32_t app = sample_add(s, 0, 10, "opt/app/main.py");
    uint32_t status = sample_add(s, 1, 10, "var/lib/dpkg/status");
    uint32_t numpy = sample_owner(s, OWNER_PIP, TIER_PACKAGE, "numpy", "2.1.0");
    uint32_t number = sample_add(s, numpy, 20, "usr/lib/python3/site-packages/numpy/a.py");
    uint32_t torch = sample_owner(s, OWNER_PIP, TIER_FRAMEWORK, "torch", "2.7.0");
    uint32_t tensor = sample_add(s, torch, 300, "usr/lib/python3/site-packages/torch/a.so");
    uint32_t cublas =
        sample_owner(s, OWNER_DPKG, TIER_TOOLCHAIN, "libcublas11", "11.11.3.6~11.8.0-5");
    uint32_t matrix = sample_add(s, cublas, 100, "usr/lib/libcublas.so");
    sample_package(s, TIER_TOOLCHAIN, "libcufft10", NULL, 50, "usr/lib/libcufft.so");
    sample_package(s, TIER_TOOLCHAIN, "gcc-12", NULL, 20, "usr/bin/gcc");
    sample_package(s, TIER_TOOLCHAIN, "g++-12", NULL, 10, "usr/bin/g++");
    uint32_t libc = sample_owner(s, OWNER_DPKG, TIER_SYSTEM, "libc6", "2.36-9");
    uint32_t system = sample_add(s, libc, 200, "usr/lib/libc.so.6");
    sample_package(s, TIER_SYSTEM, "perl-base", "5.36", 100, "usr/bin/perl");
    sample_package(s, TIER_SYSTEM, "tar", "1.34", 50, "usr/bin/tar");

    _cleanup_layout_ struct layout l = sample_layout(s, 1000, 0);
    assert_int_equal(l.count, 6);
    for (size_t i = 0; i < l.count; i++)
        assert_int_equal(l.layers[i].tier, i);
    assert_label(&l, system, "base system (libc6, perl-base and tar)");
    assert_label(&l, matrix, "CUDA 11.8 libraries (libcublas11, libcufft10 and 2 more)");
    assert_label(&l, tensor, "torch 2.7.0");
    assert_label(&l, number, "numpy 2.1.0");
    assert_label(&l, app, "application: opt/app/main.py");
    assert_label(&l, status, "state of package managers, headers of shared directories");
    assert_int_equal(layer_of(&l, matrix)->bytes, 180);
    assert_int_equal(layer_of(&l, matrix)->files, 4);
    sample_free(s);
}

/* Owners above the cap are cut by directories, large files are alone; nothing else exceeds it. */
static void test_cap(void **state)
{
    struct sample *s = sample_new();
    uint32_t torch = sample_owner(s, OWNER_PIP, TIER_FRAMEWORK, "torch", "2.7.0");
    uint32_t huge = sample_add(s, torch, 5000, "site/torch/lib/huge.so");
    uint32_t large = sample_add(s, torch, 600, "site/torch/lib/large.so");
    uint32_t in_lib[8], in_data[40];

    (void)state;
    for (unsigned i = 0; i < 8; i++)
        in_lib[i] = sample_addf(s, torch, 100, "site/torch/lib/%u", i);
    for (unsigned i = 0; i < 40; i++)
        in_data[i] = sample_addf(s, torch, 100, "site/torch/data/%u/%u", i / 4, i);
    _cleanup_layout_ struct layout l = sample_layout(s, 1000, 0);
    for (size_t i = 0; i < l.count; i++)
        assert_true(l.layers[i].bytes <= 1000 || i == l.by_file[huge]);
    assert_int_equal(layer_of(&l, huge)->files, 1);
    assert_label(&l, huge, "torch 2.7.0: site/torch/lib/huge.so");
    assert_int_equal(layer_of(&l, large)->files, 1);
    assert_int_equal(layer_of(&l, in_lib[0])->files, 8);
    assert_label(&l, in_lib[0], "torch 2.7.0: site/torch/lib");
    for (unsigned i = 0; i < 40; i++) /* a directory of 400 bytes stays whole */
        assert_int_equal(l.by_file[in_data[i]], l.by_file[in_data[i / 4 * 4]]);
    sample_free(s);
}

/* The cap is not raised for files above it: of 60 layers few are needed. */
static void test_huge_files_raise_no_cap(void **state)
{
    struct sample *s = sample_new();

    (void)state;
    for (unsigned i = 0; i < 3; i++)
        sample_addf(s, 0, 30000, "huge/%u", i);
    for (unsigned i = 0; i < 50; i++)
        sample_addf(s, 0, 100, "d%u/%u", i / 5, i);
    _cleanup_layout_ struct layout l = sample_layout(s, 1000, 0);
    assert_in_range(l.count, 3 + 5, 3 + 20);
    for (size_t i = 0; i < l.count; i++)
        assert_true(l.layers[i].bytes <= 1000 || l.layers[i].files == 1);
    /* The cap is raised where the layers are few. */
    _cleanup_layout_ struct layout few = sample_layout(s, 1000, 4);
    assert_in_range(few.count, 1, 4);
    sample_free(s);
}

/* A flat directory above the cap is cut by hash: names that come and go move nothing else. */
static void test_flat(void **state)
{
    struct sample *s = sample_new(), *more = sample_new();

    (void)state;
    for (unsigned i = 0; i < 1000; i++) {
        sample_addf(s, 0, 10, "data/%u", i);
        sample_addf(more, 0, 10, "data/%u", i);
    }
    sample_add(more, 0, 10, "data/more");
    _cleanup_layout_ struct layout before = sample_layout(s, 1000, 0);
    _cleanup_layout_ struct layout after = sample_layout(more, 1000, 0);
    assert_int_equal(before.count, 17);
    for (size_t i = 0; i < before.count; i++)
        assert_true(before.layers[i].bytes <= 1000);
    assert_int_equal(sample_changed(s, &before, more, &after), 1);
    sample_free(s);
    sample_free(more);
}

static void add_numbered(struct sample *s, enum owner_tier tier, unsigned number, uint64_t bytes)
{
    char name[16];

    snprintf(name, sizeof(name), "pkg%u", number);
    sample_addf(s, sample_owner(s, OWNER_DPKG, tier, name, NULL), bytes, "d/%u/f", number);
}

static void test_limit(void **state)
{
    const struct layout_options many = {.layers = 128};
    struct sample *s = sample_new();
    struct layout refused;
    struct err err = ERR_INIT;

    (void)state;
    for (unsigned i = 0; i < 300; i++)
        add_numbered(s, (enum owner_tier)(i % TIER_STATE), i, 1 + i * i);
    for (size_t layers = 1; layers <= 127; layers++)
        for (uint64_t cap = 0; cap < 1000000; cap = cap * 10 + 1000) {
            _cleanup_layout_ struct layout l = sample_layout(s, cap, layers);
            assert_true(l.count <= layers);
            assert_true(l.count >= (layers < 4 ? 1 : layers / 4) || cap > 0);
            assert_int_equal(l.layers[l.count - 1].tier, TIER_STATE);
        }
    struct layout_input in = sample_input(s);
    assert_fails(layout_make(&in, &many, &refused, &err), err, ERR_USAGE);
    sample_free(s);
}

/* An image without files has the state layer. */
/* Fewer layers: two of many packages become one, though two large files are smaller. */
static void test_large_files_stay_alone(void **state)
{
    struct sample *s = sample_new();
    uint32_t shards[3];

    (void)state;
    for (unsigned i = 0; i < 3; i++)
        shards[i] = sample_addf(s, 0, 290, "models/shard-%u", i);
    for (unsigned i = 0; i < 16; i++)
        add_numbered(s, TIER_SYSTEM, i, 50);
    _cleanup_layout_ struct layout all = sample_layout(s, 1000, 0);
    _cleanup_layout_ struct layout fewer = sample_layout(s, 1000, 5);
    assert_int_equal(all.count, 6);
    assert_int_equal(fewer.count, 5);
    for (unsigned i = 0; i < 3; i++)
        assert_int_equal(layer_of(&fewer, shards[i])->files, 1);
    sample_free(s);
}

static void test_empty(void **state)
{
    struct sample *s = sample_new();

    (void)state;
    _cleanup_layout_ struct layout l = sample_layout(s, 0, 0);
    assert_int_equal(l.count, 1);
    assert_int_equal(l.layers[0].files, 0);
    assert_true(in_state(&l, TREE_ROOT));
    sample_free(s);
}

/* Directories of several layers, and those without files with all above them, in the state. */
static void test_dirs_of_state(void **state)
{
    struct sample *s = sample_new();

    (void)state;
    sample_package(s, TIER_SYSTEM, "a", NULL, 10, "usr/bin/a");
    sample_package(s, TIER_PACKAGE, "b", NULL, 10, "usr/bin/b");
    sample_package(s, TIER_PACKAGE, "c", NULL, 10, "opt/c/bin/c");
    uint32_t empty = sample_dir(s, "opt/c/empty"), bin = tree_at(s->tree, "opt/c/bin");
    _cleanup_layout_ struct layout l = sample_layout(s, 1000, 0);
    assert_true(in_state(&l, tree_at(s->tree, "usr/bin")) && in_state(&l, tree_at(s->tree, "usr")));
    assert_true(in_state(&l, empty) && in_state(&l, tree_at(s->tree, "opt/c")));
    assert_true(!in_state(&l, bin) && !in_state(&l, tree_at(s->tree, "usr/bin/a")));
    /* "", usr, usr/bin, opt, opt/c */
    assert_int_equal(l.split_dirs, 5);
    sample_free(s);
}

/* The label of an owner that writes its name for a terminal. */
static void test_hostile_names(void **state)
{
    struct sample *s = sample_new();
    char name[600];

    (void)state;
    memset(name, 'x', sizeof(name) - 1);
    name[sizeof(name) - 1] = '\0';
    name[0] = '\033';
    uint32_t owner = sample_owner(s, OWNER_PIP, TIER_PACKAGE, name, name);
    uint32_t file = sample_add(s, owner, 10, "x");
    _cleanup_layout_ struct layout l = sample_layout(s, 0, 0);
    assert_true(strlen(layer_of(&l, file)->label) < 250);
    assert_null(strchr(layer_of(&l, file)->label, '\033'));
    sample_free(s);
}

UNIT_SUITE(test_layout)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tiers),
        cmocka_unit_test(test_cap),
        cmocka_unit_test(test_huge_files_raise_no_cap),
        cmocka_unit_test(test_flat),
        cmocka_unit_test(test_limit),
        cmocka_unit_test(test_empty),
        cmocka_unit_test(test_dirs_of_state),
        cmocka_unit_test(test_hostile_names),
        cmocka_unit_test(test_large_files_stay_alone),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
