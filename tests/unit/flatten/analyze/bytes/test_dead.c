#include "flatten/analyze/analysis.h"
#include "tests/unit/lib/tar_image.h"
#include "tests/unit/lib/unit.h"

/*
 * Hidden bytes and their causes: stacks as text (stack.h), with files of "layer:path". Expected:
 * for each pair of layers and cause "LAYER<BY cause files"; in the order of layers.
 */
struct dead_case {
    const char *layers, *expected;
};

static const struct dead_case cases[] = {
    {"a", ""},
    {"a | b", ""},
    {"a | a", "1<2 overwritten 1"},
    {"a | a | a", "1<2 overwritten 1, 2<3 overwritten 1"},
    {"a | -a", "1<2 deleted 1"},
    {"a | -a | a", "1<2 deleted 1"},
    {"a | a | -a", "1<2 overwritten 1, 2<3 deleted 1"},
    {"d/ d/a d/b | -d", "1<2 deleted 2"},
    {"d/ d/a d/b | -d | d/ d/a", "1<2 deleted 2"},
    {"d/ d/a d/b | d/ *d d/c", "1<2 opaque 2"},
    {"d/ d/a d/b | d/ *d d/a", "1<2 overwritten 1, 1<2 opaque 1"},
    {"d/ d/a | *", ""}, /* no effect in the root */
    {"d/ d/a | d>x", "1<2 type 1"},
    {"a | a/", "1<2 type 1"},
    {"a | a>b", "1<2 type 1"},
    {"a | a/b", "1<2 type 1"}, /* an implied directory */
    {"a | a%", "1<2 type 1"},
    {"d/ d/e/ d/e/a | d/e/ | -d", "1<3 deleted 1"},
    {"d/ d/e/ d/e/a | -d/e | -d", "1<2 deleted 1"},
    {"d/a | *d -d/a", "1<2 deleted 1"},
    /* a file dies with the last of its names */
    {"a b=a | -a", ""},
    {"a b=a | -a | b", "1<3 overwritten 1"},
    {"a b=a | a b", "1<2 overwritten 1"},
    {"a b=a c=b | -a | -c | -b", "1<4 deleted 1"},
    /* a path twice in a layer: only the second shows */
    {"a a", "1<1 overwritten 1"},
    {"a b=a a", ""},
};

static int by_layers(const void *a, const void *b)
{
    const struct dead_kill *x = a, *y = b;

    if (x->layer != y->layer)
        return x->layer < y->layer ? -1 : 1;
    if (x->by != y->by)
        return x->by < y->by ? -1 : 1;
    return x->cause < y->cause ? -1 : x->cause > y->cause;
}

static void describe(struct dead_report *d, struct buf *out)
{
    qsort(d->kills, d->kill_count, sizeof(*d->kills), by_layers);
    buf_append(out, "", 0);
    for (size_t i = 0; i < d->kill_count; i++) {
        const struct dead_kill *k = &d->kills[i];
        buf_printf(out, "%s%u<%u %s %u", i ? ", " : "", k->layer, k->by, dead_cause_key[k->cause],
                   (unsigned)k->files);
    }
}

static void analyse(const char *layers, struct analysis *out)
{
    static const char config[] = "{\"rootfs\":{}}";
    static struct stack stack;
    struct err err = ERR_INIT;

    stack_parse(&stack, layers);
    struct image *image = image_of_stack(&stack);
    if (!image->config)
        image->config = json_parse(config, sizeof(config) - 1, NULL, &err);
    assert_works(analysis_make(image, layers, &lookup_default_costs, out, &err), err);
}

static void test_cases(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        _cleanup_buf_ struct buf text = BUF_INIT;
        struct analysis a;
        analyse(cases[i].layers, &a);
        describe(&a.dead, &text);
        if (strcmp(text.data, cases[i].expected) != 0)
            fail_msg("%s: %s\nnot: %s", cases[i].layers, text.data, cases[i].expected);
        analysis_clear(&a);
    }
}

/* A file counts as touched only if a hidden one has equal content. */
static void test_settle(void **state)
{
    struct stack_file files[] = {
        {0},
        {.layer = 1, .killer = 2, .rival = 2, .quick = 7},
        {.layer = 2, .quick = 7},
        {.layer = 1, .killer = 2, .rival = 4, .quick = 8},
        {.layer = 2, .quick = 9},
        {.layer = 1, .killer = 2, .rival = 6},
        {.layer = 2},
    };
    struct layer_stack s = {.files = files, .file_count = 7};

    (void)state;
    dead_compare_rivals(&s);
    assert_int_equal(files[1].cause, DEAD_METADATA);
    assert_int_equal(files[3].cause, DEAD_OVERWRITTEN);
    assert_int_equal(files[5].cause, DEAD_OVERWRITTEN);
}

/* As in dive: a deleted file is waste, a deleted directory is not, opaque markers are ignored. */
static void test_dive(void **state)
{
    static const struct {
        const char *layers;
        double efficiency;
        uint64_t wasted;
    } rows[] = {
        {"aa", 1, 0},
        {"aa | aa", 0.5, 8},               /* "1:aa" and "2:aa" */
        {"aa | -aa", 0, 4},                /* the least copy has no bytes */
        {"d/ d/aa | -d", 1, 0},            /* counts on both sides */
        {"d/ d/aa | d/ *d", 1, 0},         /* not seen */
        {"aa b | aa", 7.0 / 11, 8},        /* 4 + 3 of 11 */
        {"d/ d/aa | -d | d", 9.0 / 15, 9}, /* at d: the whiteout's 6 and the file's 3 */
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        struct analysis a;
        analyse(rows[i].layers, &a);
        double off = a.dead.efficiency - rows[i].efficiency;
        if (off > 1e-9 || off < -1e-9 || a.dead.wasted_bytes != rows[i].wasted)
            fail_msg("%s: %f, %u", rows[i].layers, a.dead.efficiency,
                     (unsigned)a.dead.wasted_bytes);
        analysis_clear(&a);
    }
}

/* The worst paths: most bytes first, at most as many as asked for. */
static void test_worst(void **state)
{
    _cleanup_buf_ struct buf layers = BUF_INIT;
    struct analysis a;

    (void)state;
    for (int i = 0; i < 30; i++)
        buf_printf(&layers, "f%.*s ", i + 1, "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxx");
    buf_puts(&layers, "|");
    for (int i = 0; i < 30; i++)
        buf_printf(&layers, " -f%.*s", i + 1, "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxx");
    analyse(layers.data, &a);
    assert_int_equal(a.dead.worst_count, DEAD_WORST);
    for (size_t i = 0; i < DEAD_WORST; i++)
        assert_int_equal(a.dead.worst[i].bytes, 2 + 31 - i);
    analysis_clear(&a);
}

UNIT_SUITE(test_dead)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cases),
        cmocka_unit_test(test_settle),
        cmocka_unit_test(test_dive),
        cmocka_unit_test(test_worst),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
