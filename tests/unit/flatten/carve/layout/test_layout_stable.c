#include "tests/unit/lib/carve/torch_sample.h"

/* A copy of the sample whose files, nodes and owners come in another order. */
static struct sample *reordered(const struct sample *s)
{
    struct sample *out = sample_new();
    size_t owners = s->owners.count, files = s->file_count;
    _cleanup_buf_ struct buf path = BUF_INIT;

    for (size_t i = owners; i-- > 2;)
        sample_owner(out, s->owner_list[i].kind, s->owner_list[i].tier, s->owner_list[i].name,
                     s->owner_list[i].version);
    for (size_t i = 0; i < files; i++) {
        const struct layout_file *file = &s->files[(i * 7919 + 13) % files]; /* a prime */
        const char *text = tree_path_in(s->tree, file->node, &path);
        uint32_t owner = file->owner < 2 ? file->owner : (uint32_t)owners + 1 - file->owner;
        assert_non_null(text);
        sample_add(out, owner, file->bytes, text);
    }
    return out;
}

/* The layers, their order and their labels depend on paths, owners and sizes only. */
static void test_order(void **state)
{
    struct sample *s = torch_sample(TORCH_PIP), *other = reordered(s);
    _cleanup_layout_ struct layout one = sample_layout(s, 0, 0);
    _cleanup_layout_ struct layout two = sample_layout(other, 0, 0);
    uint64_t *first = sample_layers(s, &one), *second = sample_layers(other, &two);

    (void)state;
    assert_int_equal(s->file_count, other->file_count);
    assert_int_equal(one.count, two.count);
    assert_memory_equal(first, second, one.count * sizeof(*first));
    for (size_t i = 0; i < one.count; i++)
        assert_string_equal(one.layers[i].label, two.layers[i].label);
    assert_true(one.probes == two.probes && one.split_dirs == two.split_dirs);
    free(first);
    free(second);
    sample_free(s);
    sample_free(other);
}

/* A hard link is one file, whichever of its names comes first. */
static void test_links(void **state)
{
    struct sample *s = sample_new(), *other = sample_new();

    (void)state;
    for (unsigned i = 0; i < 100; i++) {
        sample_addf(s, 0, 100, "a/%u", i);
        sample_addf(other, 0, 100, "a/%u", i);
    }
    sample_link(s, sample_add(s, 0, 100, "a/one"), "b/two");
    sample_link(other, sample_add(other, 0, 100, "b/two"), "a/one");
    _cleanup_layout_ struct layout one = sample_layout(s, 1000, 0);
    _cleanup_layout_ struct layout two = sample_layout(other, 1000, 0);
    assert_int_equal(one.count, two.count);
    for (size_t i = 0; i < 101; i++)
        assert_int_equal(one.by_file[i], two.by_file[i]);
    assert_true(one.probes == two.probes);
    sample_free(s);
    sample_free(other);
}

/* As conda links its packages into an environment: neither tree's directories are split. */
static void test_linked_trees(void **state)
{
    struct sample *s = sample_new();
    uint32_t files[40];
    char link[32];

    (void)state;
    for (unsigned i = 0; i < 40; i++) {
        files[i] = sample_addf(s, 0, 100, "pkgs/%u/%u", i / 4, i);
        snprintf(link, sizeof(link), "env/%u/%u", i / 4, i);
        sample_link(s, files[i], link);
    }
    _cleanup_layout_ struct layout l = sample_layout(s, 1000, 0);
    assert_true(l.count > 4);
    for (unsigned i = 0; i < 40; i++)
        assert_int_equal(l.by_file[files[i]], l.by_file[files[i / 4 * 4]]);
    sample_free(s);
}

/* Returns how many layers a change of one owner's files changes. */
static size_t changed_by(struct sample *s, const struct layout *before, const char *name)
{
    struct layout_file *files = malloc(s->file_count * sizeof(*files));
    uint64_t *old = sample_layers(s, before), *new;
    size_t count = 0;

    assert_non_null(files);
    memcpy(files, s->files, s->file_count * sizeof(*files));
    for (size_t i = 0; i < s->file_count; i++)
        if (strcmp(s->owner_list[s->files[i].owner].name, name) == 0)
            s->files[i].bytes += 512;
    _cleanup_layout_ struct layout after = sample_layout(s, 0, 0);
    new = sample_layers(s, &after);
    assert_int_equal(before->count, after.count);
    for (size_t i = 0; i < after.count; i++)
        count += old[i] != new[i];
    memcpy(s->files, files, s->file_count * sizeof(*files));
    free(files);
    free(old);
    free(new);
    return count;
}

/* An upgrade changes the layer that its owner is in, or both if its small files lie apart. */
static void test_upgrade(void **state)
{
    struct sample *s = torch_sample(TORCH_DEBIAN);
    _cleanup_layout_ struct layout before = sample_layout(s, 0, 0);

    (void)state;
    assert_int_equal(changed_by(s, &before, "pkg7"), 1);
    assert_int_equal(changed_by(s, &before, "python3-mod3"), 1);
    assert_int_equal(changed_by(s, &before, "libcurand10"), 1);
    assert_int_equal(changed_by(s, &before, "libcufft10"), 2);  /* its library, and small files */
    assert_int_equal(changed_by(s, &before, "libcublas11"), 2); /* its library, and the rest */
    sample_free(s);
}

/* A small owner that is added, or removed, changes the layer that it is in. */
static void test_new_owner(void **state)
{
    struct sample *s = torch_sample(TORCH_DEBIAN), *more = torch_sample(TORCH_DEBIAN);
    uint32_t owner = sample_owner(more, OWNER_DPKG, TIER_SYSTEM, "new", "1");

    (void)state;
    sample_add(more, owner, 5000, "usr/bin/new");
    sample_add(more, owner, 5000, "usr/share/doc/new/copyright");
    _cleanup_layout_ struct layout before = sample_layout(s, 0, 0);
    _cleanup_layout_ struct layout after = sample_layout(more, 0, 0);
    assert_int_equal(sample_changed(s, &before, more, &after), 1);
    assert_int_equal(sample_changed(more, &after, s, &before), 1);
    sample_free(s);
    sample_free(more);
}

UNIT_SUITE(test_layout_stable)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_order),        cmocka_unit_test(test_links),
        cmocka_unit_test(test_linked_trees), cmocka_unit_test(test_upgrade),
        cmocka_unit_test(test_new_owner),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
