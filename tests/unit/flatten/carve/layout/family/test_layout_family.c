#include "flatten/carve/layout/family/layout_family.h"
#include "tests/unit/lib/carve/layout_sample.h"

#include <string.h>

/* Images 0, 1 and 2 together: files and directories with the set of images that have them. */
struct images {
    struct sample *s;
    uint64_t files[SAMPLE_FILES];
    struct layout_family_dir dirs[100];
    size_t dir_count;
};

static struct images *images_new(void)
{
    struct images *f = calloc(1, sizeof(*f));

    assert_non_null(f);
    f->s = sample_new();
    return f;
}

static void images_free(struct images *f)
{
    sample_free(f->s);
    free(f);
}

static uint32_t add(struct images *f, uint64_t images, uint64_t bytes, const char *path)
{
    uint32_t file = sample_add(f->s, OWNERS_NOBODY, bytes, path);

    f->files[file] = images;
    return file;
}

static uint32_t add_dir(struct images *f, uint64_t images, const char *path)
{
    uint32_t node = tree_at(f->s->tree, path);

    f->dirs[f->dir_count++] = (struct layout_family_dir){node, images};
    return node;
}

static struct layout_family lay_out(struct images *f, size_t count, uint64_t cap, size_t layers)
{
    const struct layout_options options = {.cap = cap, .layers = layers};
    struct layout_input all = sample_input(f->s);
    const struct layout_family_input in = {.all = &all,
                                           .images = f->files,
                                           .dirs = f->dirs,
                                           .dir_count = f->dir_count,
                                           .image_count = count};
    struct err err = ERR_INIT;
    struct layout_family out;

    assert_works(layout_family_make(&in, &options, &out, &err), err);
    return out;
}

/* Returns the images of the layer that has the file for that image. */
static uint64_t sharers(const struct layout_family *l, uint32_t file, size_t image)
{
    uint64_t found = 0;

    for (size_t i = 0; i < l->piece_count; i++)
        if (l->pieces[i].file == file && l->images[l->pieces[i].layer] >> image & 1) {
            assert_int_equal(found, 0); /* one layer of the image alone has it */
            found = l->images[l->pieces[i].layer];
        }
    return found;
}

static size_t layers_of(const struct layout_family *l, size_t image)
{
    size_t count = 0;

    for (size_t i = 0; i < l->count; i++)
        count += l->images[i] >> image & 1;
    return count;
}

/* Files of several images are below those of fewer; each image has a state layer. */
static void test_sets(void **state)
{
    struct images *f = images_new();

    (void)state;
    uint32_t of_all = add(f, 7, 100, "usr/all"), of_two = add(f, 3, 300, "usr/two");
    uint32_t of_others = add(f, 5, 200, "usr/others"), of_one = add(f, 4, 50, "usr/one");
    _cleanup_layout_family_ struct layout_family l = lay_out(f, 3, 1000, 0);
    assert_int_equal(sharers(&l, of_all, 0), 7);
    assert_int_equal(sharers(&l, of_all, 2), 7);
    assert_int_equal(sharers(&l, of_two, 1), 3);
    assert_int_equal(sharers(&l, of_others, 2), 5);
    assert_int_equal(sharers(&l, of_one, 2), 4);
    for (size_t i = 0; i + 1 < l.count; i++)
        assert_true(__builtin_popcountll(l.images[i]) >= __builtin_popcountll(l.images[i + 1]));
    assert_int_equal(l.images[0], 7);
    assert_int_equal(l.images[1], 3); /* of two sets of two the larger one is below */
    for (size_t image = 0; image < 3; image++) {
        size_t newest = 0;
        for (size_t i = 0; i < l.count; i++)
            newest = l.images[i] >> image & 1 ? i : newest;
        assert_int_equal(l.images[newest], (uint64_t)1 << image);
        assert_int_equal(l.layers[newest].tier, TIER_STATE);
    }
    images_free(f);
}

/* No image has too many layers: files that are shared for few bytes are stored more than once. */
static void test_limit(void **state)
{
    struct images *f = images_new();

    (void)state;
    for (unsigned i = 1; i < 32; i++)
        for (unsigned n = 0; n < 20; n++) {
            uint32_t file = sample_addf(f->s, OWNERS_NOBODY, 100 * i + n, "d%u/%u", i, n);
            f->files[file] = i;
        }
    for (size_t layers = 1; layers <= 60; layers++) {
        _cleanup_layout_family_ struct layout_family l = lay_out(f, 5, 1000, layers);
        for (size_t image = 0; image < 5; image++)
            assert_true(layers_of(&l, image) <= layers);
        for (uint32_t file = 0; file < f->s->file_count; file++)
            for (size_t image = 0; image < 5; image++)
                assert_int_equal(sharers(&l, file, image) != 0, f->files[file] >> image & 1);
        assert_true(layers > 1 || l.count == 5);
    }
    images_free(f);
}

/* A directory has its own header where that is right for all images of the layer. */
static void test_dirs(void **state)
{
    struct images *f = images_new();

    (void)state;
    add(f, 3, 100, "same/file");
    add(f, 3, 100, "other/file");
    add(f, 3, 100, "more/file");
    add(f, 2, 100, "more/second");
    uint32_t same = add_dir(f, 3, "same"), more = add_dir(f, 3, "more");
    uint32_t other = add_dir(f, 1, "other"), empty = add_dir(f, 1, "same/empty");
    add_dir(f, 2, "other");
    _cleanup_layout_family_ struct layout_family l = lay_out(f, 2, 10000, 0);
    assert_int_equal(l.in_state[empty], 1);
    assert_int_equal(l.in_state[other], 3);
    assert_int_equal(l.in_state[more], 3); /* of both: the layer is one of both */
    assert_int_equal(l.in_state[same], 3); /* the empty directory is in the state layer */
    assert_int_equal(l.in_state[TREE_ROOT], 3);
    images_free(f);

    f = images_new();
    add(f, 3, 100, "same/file");
    same = add_dir(f, 3, "same");
    add_dir(f, 3, "");
    _cleanup_layout_family_ struct layout_family plain = lay_out(f, 2, 10000, 0);
    assert_int_equal(plain.in_state[same], 0);
    assert_int_equal(plain.in_state[TREE_ROOT], 0);
    images_free(f);
}

/* The order of the images does not matter. */
static void test_order(void **state)
{
    static const uint64_t turned[] = {0, 4, 1, 5, 2, 6, 3, 7};
    struct images *f = images_new();

    (void)state;
    for (unsigned i = 0; i < 500; i++) {
        uint32_t file = sample_addf(f->s, OWNERS_NOBODY, 10 + i % 90, "d%u/%u", i % 13, i);
        f->files[file] = 1 + i % 7;
    }
    _cleanup_layout_family_ struct layout_family before = lay_out(f, 3, 1000, 0);
    for (size_t i = 0; i < f->s->file_count; i++)
        f->files[i] = turned[f->files[i]];
    _cleanup_layout_family_ struct layout_family after = lay_out(f, 3, 1000, 0);
    assert_int_equal(before.count, after.count);
    assert_int_equal(before.piece_count, after.piece_count);
    for (size_t i = 0; i < before.count; i++) {
        assert_int_equal(turned[before.images[i]], after.images[i]);
        assert_int_equal(before.layers[i].bytes, after.layers[i].bytes);
        assert_string_equal(before.layers[i].label, after.layers[i].label);
    }
    assert_memory_equal(before.pieces, after.pieces, after.piece_count * sizeof(*after.pieces));
    images_free(f);
}

UNIT_SUITE(test_layout_family)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sets),
        cmocka_unit_test(test_limit),
        cmocka_unit_test(test_dirs),
        cmocka_unit_test(test_order),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
