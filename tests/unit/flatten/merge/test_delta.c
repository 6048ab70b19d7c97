#include "flatten/merge/merged.h"
#include "tests/unit/lib/tar_image.h"
#include "tests/unit/lib/unit.h"

/*
 * Layers above kept ones: the entries that flatten writes for the layers behind "||", in the
 * notation of stack.h. Files show the entry of their content, directories the layer of their entry
 * ("?": none).
 */
struct above_case {
    const char *name, *kept, *merged;
    const char *overlay, *spec; /* spec NULL: the same */
};

static const struct above_case cases[] = {
    {"nothing to hide", "a b/ b/x", "c", "c@2:c", NULL},
    {"a whiteout hides", "a b", "-a c", "-a c@2:c", NULL},
    {"a whiteout that hides nothing goes", "a", "-gone b", "b@2:b", NULL},
    {"nor what merged layers brought", "k", "a | -a", "", NULL},
    {"a file that came back needs none", "a", "-a | a", "a@3:a", NULL},
    {"whiteout and the same name in one layer", "a", "-a a", "a@2:a", NULL},
    {"a replaced file", "a", "a", "a@2:a", NULL},
    {"a file over a directory hides all below", "d/ d/x d/y", "d", "d@2:d", NULL},
    {"a symbolic link over a directory", "d/ d/x", "d>e", "d>e", NULL},
    {"a directory over a file", "d", "d/ d/x", "d/2 d/x@2:d/x", NULL},
    {"a directory over a symbolic link", "e/ e/y d>e", "d/ d/x", "d/2 d/x@2:d/x", NULL},
    {"whiteout of a directory", "d/ d/x d/e/ d/e/y", "-d", "-d", NULL},
    {"a directory that went and came back", "d/ d/x d/y", "-d | d/ d/z", "d/3 *d d/z@3:d/z", NULL},
    {"one name hidden: a whiteout will do", "d/ d/x", "-d | d/ d/z", "d/3 -d/x d/z@3:d/z", NULL},
    {"what replaces need not be hidden", "d/ d/x d/y", "-d | d/ d/x", "d/3 -d/y d/x@3:d/x", NULL},
    {"opaque", "d/ d/x d/y", "d/ *d d/z", "d/2 *d d/z@2:d/z", NULL},
    {"opaque over nothing", "k", "d/ *d d/z", "d/2 d/z@2:d/z", NULL},
    {"opaque over an empty directory", "d/", "d/ *d d/z", "d/2 d/z@2:d/z", NULL},
    {"opaque, over a file that went before", "d/ d/x d/y", "d", "d@2:d", NULL},
    {"below an opaque directory nothing is hidden twice", "d/ d/e/ d/e/x d/e/y d/1 d/2",
     "d/ *d d/e/ d/e/z", "d/2 *d d/e/2 d/e/z@2:d/e/z", NULL},
    {"something stays: no opaque marker", "d/ d/x d/y d/z", "-d/x -d/y", "d/? -d/x -d/y",
     "d/1 -d/x -d/y"},
    {"an opaque root", "a b", "* c", "c@2:c", "-a -b c@2:c"},
    {"a directory only touched", "d/ d/e/ d/e/x", "d/e/y", "d/? d/e/? d/e/y@2:d/e/y",
     "d/1 d/e/1 d/e/y@2:d/e/y"},
    {"a directory described anew", "d/ d/x", "d/", "d/2", NULL},
    {"the newest description", "d/", "d/ | d/ | d/x", "d/? d/x@4:d/x", "d/3 d/x@4:d/x"},
    {"a hard link within", "k", "a b=a", "a@2:a b=a", NULL},
    {"a link whose first name goes", "k", "a b=a | -a", "b@2:a", NULL},
    {"a link into a kept layer takes both names along", "a k", "b=a", "a@1:a b=a", NULL},
    {"and after the name is gone, the content alone", "a k", "b=a | -a", "-a b@1:a", NULL},
    {"kept links stay whole", "a b=a", "-a", "-a", NULL},
    {"kept links, one replaced", "a b=a", "a", "a@2:a", NULL},
    {"the root's own attributes", "a", "./", "./2", NULL},
    {"through a kept symbolic link", "e/ d>e", "d/x", "d/? d/x@2:d/x", "e/1 e/x@2:d/x"},
};

/* A sink that lists entries in their order. */
struct order_sink {
    struct entry_sink base;
    struct buf text;
    bool file;
};

static const char *base_of(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? slash + 1 : path;
}

static int take_entry(struct entry_sink *sink, struct archive_entry *e, struct err *err)
{
    struct order_sink *s = (struct order_sink *)sink;
    const char *path = archive_entry_pathname(e), *base = base_of(path);
    const char *link = archive_entry_hardlink(e), *soft = archive_entry_symlink(e);
    unsigned mode = archive_entry_perm(e);
    int dir = (int)(base - path);

    (void)err;
    s->file = false;
    buf_puts(&s->text, s->text.len ? " " : "");
    if (strcmp(base, ".wh..wh..opq") == 0)
        buf_printf(&s->text, "*%.*s", dir - 1, path);
    else if (strncmp(base, ".wh.", 4) == 0)
        buf_printf(&s->text, "-%.*s%s", dir, path, base + 4);
    else if (link || soft)
        buf_printf(&s->text, "%s%s%s", path, link ? "=" : ">", link ? link : soft);
    else if (archive_entry_filetype(e) == AE_IFDIR && mode == 0755)
        buf_printf(&s->text, "%s/?", path);
    else if (archive_entry_filetype(e) == AE_IFDIR)
        buf_printf(&s->text, "%s%s%u", path, *base ? "/" : "", mode - 0700);
    else
        buf_printf(&s->text, "%s@", path);
    return 0;
}

static int take_data(struct entry_sink *sink, const void *data, uint64_t len, struct err *err)
{
    struct order_sink *s = (struct order_sink *)sink;

    (void)err;
    if (data)
        buf_append(&s->text, data, (size_t)len);
    return 0;
}

static void check(const struct above_case *c, enum semantics semantics, const char *expected)
{
    static const struct entry_sink_ops ops = {.entry = take_entry, .data = take_data};
    struct order_sink sink = {.base = {&ops}};
    struct merged_report report;
    static struct stack stack;
    struct err err = ERR_INIT;
    _cleanup_free_ char *text = strf("%s | %s", c->kept, c->merged);

    stack_parse(&stack, text);
    _cleanup_image_ struct image *image = image_of_stack(&stack);
    const struct merged_options options = {.semantics = semantics, .kept = 1, .indexed = true};
    if (merged_entries(image, &options, &sink.base, &report, &err) != MERGE_DONE)
        fail_msg("%s", err.msg);
    buf_append(&sink.text, "", 0);
    assert_string_equal(sink.text.data, expected);
    buf_free(&sink.text);
}

static void test_case(void **state)
{
    const struct above_case *c = *state;

    check(c, SEMANTICS_OVERLAY, c->overlay);
    check(c, SEMANTICS_SPEC, c->spec ? c->spec : c->overlay);
}

/* The report counts merged layers, not kept ones. */
static void test_report(void **state)
{
    static const struct entry_sink_ops ops = {.entry = take_entry, .data = take_data};
    const struct merged_options options = {.kept = 1, .indexed = true};
    struct order_sink sink = {.base = {&ops}};
    struct merged_report report;
    static struct stack stack;
    struct err err = ERR_INIT;

    (void)state;
    stack_parse(&stack, "a b c | -a x | -b y");
    _cleanup_image_ struct image *image = image_of_stack(&stack);
    assert_works(merged_entries(image, &options, &sink.base, &report, &err), err);
    assert_int_equal(report.layers, 3);
    assert_int_equal(report.entries_in, 7);
    assert_int_equal(report.entries_kept, 3);
    assert_int_equal(report.entries_out, 4);
    assert_int_equal(report.whiteouts, 2);
    assert_int_equal(report.payload_in, strlen("2:x") + strlen("3:y"));
    assert_int_equal(report.payload_out, report.payload_in);
    buf_free(&sink.text);
}

/* Kept layers cannot be merged in one pass: the result is MERGE_NEEDS_INDEX. */
static void test_stream_refuses(void **state)
{
    const struct merged_options options = {.kept = 1};
    struct merged_report report;
    static struct stack stack;
    struct err err = ERR_INIT;

    (void)state;
    stack_parse(&stack, "a | b");
    _cleanup_image_ struct image *image = image_of_stack(&stack);
    assert_int_equal(merged_entries(image, &options, NULL, &report, &err), MERGE_NEEDS_INDEX);
}

UNIT_SUITE(test_delta)
{
    enum { COUNT = sizeof(cases) / sizeof(*cases) };
    static const struct CMUnitTest fixed[] = {
        cmocka_unit_test(test_report),
        cmocka_unit_test(test_stream_refuses),
    };
    struct CMUnitTest tests[COUNT];

    for (size_t i = 0; i < COUNT; i++)
        tests[i] = (struct CMUnitTest){.name = cases[i].name,
                                       .test_func = test_case,
                                       .initial_state = (void *)(uintptr_t)&cases[i]};
    int failed = _cmocka_run_group_tests("layers above kept ones", tests, COUNT, NULL, NULL);
    return failed + cmocka_run_group_tests(fixed, NULL, NULL);
}
