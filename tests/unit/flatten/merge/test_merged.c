#include "flatten/layer/attributes.h"
#include "flatten/merge/merged.h"
#include "tests/unit/lib/merge/merge_cases.h"
#include "tests/unit/lib/merge/result_sink.h"
#include "tests/unit/lib/tar_image.h"
#include "tests/unit/lib/unit.h"

/*
 * Merges the rows of merge_cases.h as real layers, in both ways: in one pass (overlay) and with the
 * index (overlay, spec).
 */
struct outcome {
    enum merge_result rc;
    struct err err;
    struct buf text;
    double probes;
    char divergences[2048];
};

static void on_notice(void *ctx, unsigned layer, const char *path, const char *text)
{
    struct outcome *o = ctx;
    size_t used = strlen(o->divergences);

    (void)layer, (void)path;
    snprintf(o->divergences + used, sizeof(o->divergences) - used, "%s\n", text);
}

static void outcome_of(const struct image *image, enum semantics semantics, bool indexed,
                       struct outcome *o)
{
    struct merged_options options = {.notice = on_notice,
                                     .notice_ctx = o,
                                     .semantics = semantics,
                                     .indexed = indexed,
                                     .count_probes = true};
    struct merged_report report;
    struct result_sink sink;

    *o = (struct outcome){0};
    result_sink_init(&sink);
    o->rc = merged_entries(image, &options, &sink.base, &report, &o->err);
    result_sink_end(&sink);
    if (o->rc == MERGE_DONE)
        assert_int_equal(report.entries_out, sink.result.count);
    o->probes = report.probes;
    result_text(&sink.result, &o->text);
    result_sink_clear(&sink);
}

static void check(const char *way, const struct outcome *o, const char *expected)
{
    if (expected[0] == '!') {
        if (o->rc != MERGE_FAILED)
            fail_msg("%s: no error but: %s", way, o->text.data);
        if (o->err.kind != ERR_FORMAT)
            fail_msg("%s: %s", way, o->err.msg);
        assert_contains(o->err.msg, expected + 1);
        assert_contains(o->err.msg, "layer ");
        return;
    }
    if (o->rc != MERGE_DONE)
        fail_msg("%s: %d: %s", way, o->rc, o->err.msg);
    if (strcmp(o->text.data, expected) != 0)
        fail_msg("%s: %s\nnot: %s", way, o->text.data, expected);
}

static void test_case(void **state)
{
    const struct merge_case *c = *state;
    static struct stack stack;
    static struct outcome stream, overlay, spec;

    stack_parse(&stack, c->layers);
    struct image *image = image_of_stack(&stack);
    outcome_of(image, SEMANTICS_OVERLAY, false, &stream);
    outcome_of(image, SEMANTICS_OVERLAY, true, &overlay);
    outcome_of(image, SEMANTICS_SPEC, true, &spec);
    image_free(image);
    if (stream.rc != MERGE_NEEDS_INDEX)
        check("stream", &stream, c->overlay);
    check("index", &overlay, c->overlay);
    if (stream.rc == MERGE_DONE && overlay.rc == MERGE_DONE && stream.probes != overlay.probes)
        fail_msg("%g probes, and %g with the index", stream.probes, overlay.probes);
    check("spec", &spec, c->spec ? c->spec : c->overlay);
    if (c->divergence)
        assert_contains(stream.rc == MERGE_DONE ? stream.divergences : overlay.divergences,
                        c->divergence);
    buf_free(&stream.text);
    buf_free(&overlay.text);
    buf_free(&spec.text);
}

/* ---- attributes of files with several names ---- */

static void put_with(struct archive *a, const char *name, const char *link, mode_t mode,
                     const char *xattr)
{
    struct archive_entry *e = archive_entry_new();

    archive_entry_set_pathname(e, name);
    archive_entry_set_filetype(e, name[strlen(name) - 1] == '/' ? AE_IFDIR : AE_IFREG);
    archive_entry_set_perm(e, mode);
    archive_entry_set_uid(e, (la_int64_t)mode); /* differs with the mode */
    archive_entry_set_mtime(e, (time_t)mode, 7);
    archive_entry_set_size(e, 0);
    archive_entry_xattr_add_entry(e, xattr, "v", 1);
    archive_entry_xattr_add_entry(e, "user.both", xattr, strlen(xattr));
    if (link)
        archive_entry_set_hardlink(e, link);
    assert_int_equal(archive_write_header(a, e), ARCHIVE_OK);
    archive_entry_free(e);
}

/* Notes the attributes of the one entry that is a file; links repeat them. */
struct attribute_sink {
    struct entry_sink base;
    struct buf text;
};

static int take_attributes(struct entry_sink *sink, struct archive_entry *e, struct err *err)
{
    struct attribute_sink *s = (struct attribute_sink *)sink;
    const char *name;
    const void *value;
    size_t size;

    (void)err;
    buf_printf(&s->text, "%s%s%s %04o %ld %ld.%ld", archive_entry_pathname(e),
               archive_entry_hardlink(e) ? "=" : "",
               archive_entry_hardlink(e) ? archive_entry_hardlink(e) : "", archive_entry_perm(e),
               (long)archive_entry_uid(e), (long)archive_entry_mtime(e),
               archive_entry_mtime_nsec(e));
    archive_entry_xattr_reset(e);
    while (archive_entry_xattr_next(e, &name, &value, &size) == ARCHIVE_OK)
        buf_printf(&s->text, " %s=%.*s", name, (int)size, (const char *)value);
    buf_putc(&s->text, '\n');
    return 0;
}

static int take_data(struct entry_sink *sink, const void *data, uint64_t len, struct err *err)
{
    (void)sink, (void)data, (void)len, (void)err;
    return 0;
}

/* Merges a and its link b, whose headers differ, and, if `deleted`, a layer that deletes a. */
static char *attributes_of_link(enum semantics semantics, bool deleted)
{
    static const struct entry_sink_ops ops = {.entry = take_attributes, .data = take_data};
    struct attribute_sink sink = {.base = {&ops}};
    struct merged_options options = {.semantics = semantics};
    struct merged_report report;
    struct buf tars[2] = {{0}};
    static struct stack stack;
    struct err err = ERR_INIT;
    struct archive *a = tar_begin(&tars[0]);

    put_with(a, "a", NULL, 0600, "user.a");
    put_with(a, "b", "a", 0751, "user.b");
    archive_write_free(a);
    stack_parse(&stack, "| -a");
    tar_layer(&stack, 2, &tars[1]);
    struct image *image = image_of(tars, deleted ? 2 : 1, NULL);
    enum merge_result result = merged_entries(image, &options, &sink.base, &report, &err);
    if (result == MERGE_NEEDS_INDEX) {
        buf_truncate(&sink.text, 0);
        options.indexed = true;
        result = merged_entries(image, &options, &sink.base, &report, &err);
    }
    assert_works(result, err);
    image_free(image);
    buf_free(&tars[0]);
    buf_free(&tars[1]);
    return buf_take(&sink.text, &err);
}

/* Engines apply a link's header to the file, and its xattrs add up (OBSERVED: link-attributes). */
static void test_link_attributes_overlay(void **state)
{
    _cleanup_free_ char *pair = attributes_of_link(SEMANTICS_OVERLAY, false);
    _cleanup_free_ char *left = attributes_of_link(SEMANTICS_OVERLAY, true);

    (void)state;
    assert_contains(pair, "a 0751 489 489.7 ");
    assert_contains(pair, "user.a=v");
    assert_contains(pair, "user.b=v");
    assert_contains(pair, "user.both=user.b");
    assert_null(strstr(pair, "user.both=user.a"));
    assert_contains(pair, "\nb=a 0751 489 489.7 ");
    assert_contains(left, "b 0751 489 489.7 ");
    assert_contains(left, "user.a=v");
    assert_contains(left, "user.both=user.b");
}

/* With the spec's semantics (umoci) the file keeps the attributes of its own entry. */
static void test_link_attributes_spec(void **state)
{
    _cleanup_free_ char *pair = attributes_of_link(SEMANTICS_SPEC, false);
    _cleanup_free_ char *left = attributes_of_link(SEMANTICS_SPEC, true);

    (void)state;
    assert_contains(pair, "a 0600 384 384.7 ");
    assert_contains(pair, "\nb=a 0600 384 384.7 ");
    assert_null(strstr(pair, "user.b=v"));
    assert_contains(left, "b 0600 384 384.7 ");
}

/* A notice tells of xattrs left out of headers, whichever way they are read. */
static void test_dropped(void **state)
{
    static const struct merged_options ways[] = {
        {0}, {.indexed = true}, {.semantics = SEMANTICS_SPEC, .indexed = true}};
    struct buf tar = {0};
    struct archive *a = tar_begin(&tar);

    (void)state;
    put_with(a, "d/", NULL, 0755, "trusted.overlay.opaque");
    put_with(a, "d/f", NULL, 0644, "user.a");
    archive_write_free(a);
    for (size_t i = 0; i < sizeof(ways) / sizeof(*ways); i++) {
        static struct outcome o;
        struct merged_options options = ways[i];
        struct merged_report report;
        struct result_sink sink;
        struct image *image = image_of(&tar, 1, NULL);

        o = (struct outcome){0};
        options.notice = on_notice;
        options.notice_ctx = &o;
        result_sink_init(&sink);
        assert_works(merged_entries(image, &options, &sink.base, &report, &o.err), o.err);
        assert_int_equal(report.dropped, 1);
        assert_string_equal(o.divergences,
                            "extended attributes of overlayfs itself are left out\n");
        result_sink_end(&sink);
        result_sink_clear(&sink);
        image_free(image);
    }
    buf_free(&tar);
}

/* ---- bounds ---- */

enum { MANY = 40 };

static size_t size_of_header(bool directory)
{
    struct err err = ERR_INIT;
    struct archive_entry *e = archive_entry_new();

    archive_entry_set_filetype(e, directory ? AE_IFDIR : AE_IFREG);
    archive_entry_xattr_add_entry(e, "user.a", "v", 1);
    archive_entry_xattr_add_entry(e, "user.both", "user.a", strlen("user.a"));
    _cleanup_(cleanup_attributes) struct attributes *a = attributes_of(e, &err);
    archive_entry_free(e);
    assert_non_null(a);
    return attributes_size(a);
}

static int discard_entry(struct entry_sink *sink, struct archive_entry *e, struct err *err)
{
    (void)sink, (void)e, (void)err;
    return 0;
}

/* Merges with a limit of bytes for kept headers. */
static enum merge_result merge_within(const struct buf *tars, size_t count, uint64_t most,
                                      bool indexed, struct err *err)
{
    static const struct entry_sink_ops ops = {.entry = discard_entry, .data = take_data};
    const struct merged_options options = {.max_attributes = most, .indexed = indexed};
    struct entry_sink sink = {&ops};
    struct merged_report report;
    struct image *image = image_of(tars, count, NULL);

    *err = (struct err)ERR_INIT;
    enum merge_result result = merged_entries(image, &options, &sink, &report, err);
    image_free(image);
    return result;
}

/* A file that a newer layer deletes, and links to it that stay: their headers wait. */
static void test_bound_of_links(void **state)
{
    size_t each = size_of_header(false);
    struct buf tars[2] = {{0}};
    static struct stack stack;
    struct err err;
    struct archive *a = tar_begin(&tars[0]);

    (void)state;
    put_with(a, "f", NULL, 0600, "user.a");
    for (int i = 0; i < MANY; i++) {
        char name[16];
        snprintf(name, sizeof(name), "l%d", i);
        put_with(a, name, "f", 0600, "user.a");
    }
    archive_write_free(a);
    stack_parse(&stack, "| -f");
    tar_layer(&stack, 2, &tars[1]);
    assert_works(merge_within(tars, 2, MANY * each, false, &err), err);
    assert_fails(merge_within(tars, 2, MANY * each - 1, false, &err), err, ERR_LIMIT);
    assert_contains(err.msg, "the attributes of hard links take more than");
    buf_free(&tars[0]);
    buf_free(&tars[1]);
}

static void test_bound_of_directories(void **state)
{
    size_t each = size_of_header(true);
    struct buf tar = {0};
    struct err err;
    struct archive *a = tar_begin(&tar);

    (void)state;
    for (int i = 0; i < MANY; i++) {
        char name[16];
        snprintf(name, sizeof(name), "d%d/", i);
        put_with(a, name, NULL, 0700, "user.a");
    }
    archive_write_free(a);
    assert_works(merge_within(&tar, 1, MANY * each, true, &err), err);
    assert_fails(merge_within(&tar, 1, MANY * each - 1, true, &err), err, ERR_LIMIT);
    assert_contains(err.msg, "the attributes of directories take more than");
    buf_free(&tar);
}

UNIT_SUITE(test_merged)
{
    static const struct CMUnitTest fixed[] = {
        cmocka_unit_test(test_link_attributes_overlay),
        cmocka_unit_test(test_link_attributes_spec),
        cmocka_unit_test(test_dropped),
        cmocka_unit_test(test_bound_of_links),
        cmocka_unit_test(test_bound_of_directories),
    };
    int failed = merge_cases_run("merge rules, as layers", test_case);

    return failed + cmocka_run_group_tests(fixed, NULL, NULL);
}
