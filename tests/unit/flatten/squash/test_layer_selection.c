#include "flatten/squash/layer_selection.h"
#include "tests/unit/lib/unit.h"

#include <string.h>

enum { MOST = 8 };

/* An image of layers with the diff_ids and digests that the letters stand for; '-' is no digest. */
static struct image *image_of(const char *diff_ids, const char *digests)
{
    struct image *image = calloc(1, sizeof(*image));

    assert_non_null(image);
    image->layer_count = strlen(diff_ids);
    image->layers = calloc(MOST, sizeof(*image->layers));
    assert_non_null(image->layers);
    for (size_t i = 0; i < image->layer_count; i++) {
        struct layer *l = &image->layers[i];
        *l = (struct layer){.number = (unsigned)i + 1, .fd = -1, .size = 10};
        snprintf(l->diff_id.text, sizeof(l->diff_id.text), "sha256:%064d", diff_ids[i]);
        if (digests[i] != '-')
            snprintf(l->digest.text, sizeof(l->digest.text), "sha256:%064d", digests[i]);
    }
    return image;
}

static void test_shared(void **state)
{
    static const struct {
        const char *a, *a_digests, *b, *b_digests;
        size_t shared;
    } rows[] = {
        {"abc", "123", "ab", "12", 2},   {"abc", "123", "abc", "123", 3},
        {"ab", "12", "abc", "123", 2},   {"abc", "123", "xbc", "123", 0},
        {"abc", "123", "axc", "123", 1}, {"abc", "123", "abc", "193", 1}, /* recompressed */
        {"abc", "---", "abc", "193", 3}, /* unknown in an archive */
        {"abc", "1-3", "ab", "12", 2},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        _cleanup_image_ struct image *a = image_of(rows[i].a, rows[i].a_digests);
        _cleanup_image_ struct image *b = image_of(rows[i].b, rows[i].b_digests);
        assert_int_equal(layer_selection_shared(a, b), rows[i].shared);
        assert_int_equal(layer_selection_shared(b, a), rows[i].shared);
    }
}

/* Returns the number of layers kept of five, or the negative kind of the error. */
static int kept_of_five(const char *keep_base, const char *last)
{
    _cleanup_image_ struct image *image = image_of("abcde", "12345");
    struct err err = ERR_INIT;
    struct layer_selection s;
    size_t kept;

    if (layer_selection_parse(keep_base, last, &s, &err) < 0 ||
        layer_selection_resolve(&s, image, NULL, &kept, &err) < 0) {
        assert_true(err.msg[0]);
        return -(int)err.kind;
    }
    return (int)kept;
}

static void test_counts(void **state)
{
    (void)state;
    assert_int_equal(kept_of_five(NULL, NULL), 0);
    assert_int_equal(kept_of_five("0", NULL), 0);
    assert_int_equal(kept_of_five("3", NULL), 3);
    assert_int_equal(kept_of_five("5", NULL), 5);
    assert_int_equal(kept_of_five(NULL, "1"), 4);
    assert_int_equal(kept_of_five(NULL, "5"), 0);
    assert_int_equal(kept_of_five("6", NULL), -ERR_USAGE);
    assert_int_equal(kept_of_five(NULL, "6"), -ERR_USAGE);
    assert_int_equal(kept_of_five(NULL, "0"), -ERR_USAGE);
    assert_int_equal(kept_of_five(NULL, "two"), -ERR_USAGE);
    assert_int_equal(kept_of_five(NULL, "-1"), -ERR_USAGE);
    assert_int_equal(kept_of_five(NULL, ""), -ERR_USAGE);
    assert_int_equal(kept_of_five("", NULL), -ERR_USAGE);
    assert_int_equal(kept_of_five("3", "2"), -ERR_USAGE);
    assert_int_equal(kept_of_five("99999999999999999999", NULL), -ERR_USAGE);
}

/* "2 5" for groups that end behind two and five layers. */
static void check_groups(const uint64_t *sizes, size_t kept, size_t into, const char *expected)
{
    _cleanup_image_ struct image *image = image_of("abcde", "12345");
    _cleanup_buf_ struct buf text = BUF_INIT;
    size_t ends[MOST];

    for (size_t i = 0; i < image->layer_count; i++)
        image->layers[i].size = sizes[i];
    size_t count = layer_selection_groups(image, kept, into, ends);
    buf_append(&text, "", 0);
    for (size_t i = 0; i < count; i++)
        buf_printf(&text, "%s%zu", i ? " " : "", ends[i]);
    assert_string_equal(text.data, expected);
}

static void test_groups(void **state)
{
    static const uint64_t even[] = {10, 10, 10, 10, 10}, first[] = {90, 1, 1, 1, 1},
                          last[] = {1, 1, 1, 1, 90}, none[] = {0, 0, 0, 0, 0},
                          huge[] = {UINT64_MAX / 5, UINT64_MAX / 5, UINT64_MAX / 5, UINT64_MAX / 5,
                                    UINT64_MAX / 5};

    (void)state;
    check_groups(even, 0, 1, "5");
    check_groups(even, 0, 5, "1 2 3 4 5");
    check_groups(even, 0, 9, "1 2 3 4 5");
    check_groups(even, 1, 2, "3 5");
    check_groups(even, 3, 1, "5");
    check_groups(even, 5, 1, "");
    check_groups(first, 0, 2, "1 5");
    check_groups(last, 0, 2, "4 5");
    check_groups(none, 0, 2, "1 5");
    check_groups(huge, 0, 2, "3 5");
}

UNIT_SUITE(test_layer_selection)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_shared),
        cmocka_unit_test(test_counts),
        cmocka_unit_test(test_groups),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
