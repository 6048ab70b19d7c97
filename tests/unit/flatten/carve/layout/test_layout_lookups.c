#include "flatten/analyze/lookups/lookups.h"
#include "tests/unit/lib/carve/torch_sample.h"

/* Adds what the layer has at the node, and the directories above it, to the stack of layers. */
static void add_record(struct layer_stack *stack, bool *has, unsigned layer, uint32_t node,
                       enum model_kind kind)
{
    const struct model_slot slot = {.kind = (uint8_t)kind};
    struct err err = ERR_INIT;

    if (has[node])
        return;
    has[node] = true;
    if (node != TREE_ROOT)
        add_record(stack, has, layer, tree_parent(stack->tree, node), MODEL_DIR);
    assert_works(layer_stack_add(stack, layer, node, kind, &slot, &err), err);
}

/* Returns the mean probes for existing paths, as flatten analyze counts them. */
static double analyze(const struct sample *s, const struct layout *l)
{
    _cleanup_layer_stack_ struct layer_stack stack = {.tree = s->tree};
    _cleanup_lookup_report_ struct lookup_report report = {0};
    struct err err = ERR_INIT;
    bool *has = calloc(tree_count(s->tree), sizeof(*has));

    assert_non_null(has);
    for (size_t layer = 0; layer < l->count; layer++) {
        memset(has, 0, tree_count(s->tree) * sizeof(*has));
        for (size_t i = 0; i < s->file_count; i++)
            if (l->by_file[i] == layer)
                add_record(&stack, has, (unsigned)layer + 1, s->files[i].node, MODEL_OTHER);
        for (uint32_t node = 0; layer + 1 == l->count && node < tree_count(s->tree); node++)
            if (in_state(l, node))
                add_record(&stack, has, (unsigned)layer + 1, node, MODEL_DIR);
    }
    free(has);
    assert_works(lookups_count(&stack, stack.layers, &report, &err), err);
    return report.existing.mean;
}

static void print_layout(const char *name, const struct sample *s, const struct layout *l)
{
    printf("%s: %zu files, %zu owners, %zu layers, %.3f probes, %u split directories\n", name,
           s->file_count, s->owners.count, l->count, l->probes, (unsigned)l->split_dirs);
    for (size_t i = 0; getenv("LAYOUT_PRINT") && i < l->count; i++)
        printf("  %5.0f MB %6zu files: %s\n", (double)l->layers[i].bytes / 1e6, l->layers[i].files,
               l->layers[i].label);
}

static void check_shape(enum torch_shape shape, const char *name, double most)
{
    struct sample *s = torch_sample(shape);
    _cleanup_layout_ struct layout l = sample_layout(s, 0, 0);
    double counted = analyze(s, &l);

    print_layout(name, s, &l);
    for (size_t i = 0; i < l.count; i++)
        assert_true(l.layers[i].bytes <= LAYOUT_CAP || l.layers[i].files == 1);
    assert_true(l.probes > counted - 0.001 && l.probes < counted + 0.001);
    assert_true(l.probes <= most);
    sample_free(s);
}

/* The mean of lookups for existing paths: at most 1.3, and 1.15 where frameworks come from pip. */
static void test_torch(void **state)
{
    (void)state;
    check_shape(TORCH_PIP, "pip", 1.15);
    check_shape(TORCH_DEBIAN, "debian", 1.3);
}

/* Checks that the newest layer with something below it describes each directory. */
static void check_described(const struct sample *s, const struct layout *l)
{
    uint16_t *newest = calloc(tree_count(s->tree), sizeof(*newest));

    assert_non_null(newest);
    for (size_t i = 0; i < s->file_count; i++)
        for (uint32_t dir = tree_parent(s->tree, s->files[i].node); dir != TREE_NONE;
             dir = tree_parent(s->tree, dir))
            newest[dir] = l->by_file[i] > newest[dir] ? l->by_file[i] : newest[dir];
    for (uint32_t node = 0; node < tree_count(s->tree); node++)
        if (!s->is_dir[node])
            assert_int_equal(l->described[node], LAYOUT_NOT_DESCRIBED);
        else if (!in_state(l, node))
            assert_int_equal(l->described[node], newest[node]);
    free(newest);
}

static size_t count_in_state(const struct sample *s, const struct layout *l)
{
    size_t count = 0;

    for (uint32_t node = 0; node < tree_count(s->tree); node++)
        count += in_state(l, node);
    return count;
}

/* Headers leave the state layer as far as the limit needs it, and no further. */
static void test_headers_for_a_limit(void **state)
{
    struct sample *s = torch_sample(TORCH_DEBIAN);
    _cleanup_layout_ struct layout stable = sample_layout(s, 0, 0);
    struct layout_input in = sample_input(s);
    size_t most = count_in_state(s, &stable), least = most;
    double before = stable.probes;
    struct err err = ERR_INIT;

    (void)state;
    check_described(s, &stable);
    for (double below = 0.005; below < 0.05; below *= 2) {
        const struct layout_options options = {.source_probes = stable.probes - below};
        _cleanup_layout_ struct layout l = {0};
        assert_works(layout_make(&in, &options, &l, &err), err);
        double counted = analyze(s, &l);
        printf("at most %.3f probes: %.3f, %zu of %zu headers\n", options.source_probes, l.probes,
               count_in_state(s, &l), most);
        check_described(s, &l);
        assert_true(l.probes > counted - 0.001 && l.probes < counted + 0.001);
        assert_true(l.probes <= before && count_in_state(s, &l) <= least);
        assert_memory_equal(l.by_file, stable.by_file, s->file_count * sizeof(*l.by_file));
        before = l.probes;
        least = count_in_state(s, &l);
    }
    const struct layout_options too_low = {.source_probes = 1.1};
    _cleanup_layout_ struct layout l = {0};
    assert_works(layout_make(&in, &too_low, &l, &err), err);
    assert_int_equal(count_in_state(s, &l), most);
    assert_true(before < stable.probes - 0.02 && least < most / 2);
    sample_free(s);
}

/* Fewer layers are made where that brings the probes to those of the source. */
static void test_fewer_layers(void **state)
{
    struct sample *s = torch_sample(TORCH_DEBIAN);
    _cleanup_layout_ struct layout most = sample_layout(s, 0, 0), l = {0};
    struct layout_input in = sample_input(s);
    const struct layout_options all = {.source_probes = most.probes - 0.02};
    struct err err = ERR_INIT;

    (void)state;
    assert_works(layout_make(&in, &all, &l, &err), err);
    assert_int_equal(l.count, most.count);
    const struct layout_options options = {.source_probes = l.probes - 0.002};
    layout_clear(&l);
    assert_works(layout_make(&in, &options, &l, &err), err);
    printf("at most %.3f probes: %.3f, %zu of %zu layers\n", options.source_probes, l.probes,
           l.count, most.count);
    check_described(s, &l);
    assert_true(l.probes <= options.source_probes);
    assert_true(l.count < most.count && l.count >= most.count * 3 / 4);
    sample_free(s);
}

UNIT_SUITE(test_layout_lookups)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_torch),
        cmocka_unit_test(test_headers_for_a_limit),
        cmocka_unit_test(test_fewer_layers),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
