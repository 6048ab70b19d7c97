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
            if (l->in_state[node])
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

UNIT_SUITE(test_layout_lookups)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_torch),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
