#include "flatten/merge/merged.h"
#include "tests/unit/flatten/image/feed_unit.h"
#include "tests/unit/lib/merge_cases.h"
#include "tests/unit/lib/result_sink.h"

/* Images that stream by, in an order that is not the layers'. */

/* ---- what comes of it ---- */

/* The tree, and behind a newline the entries in the order in which they came. */
static int merge(const struct image *image, enum semantics semantics, struct buf *out,
                 struct err *err)
{
    const struct merged_options options = {.semantics = semantics};
    struct merged_report report;
    struct result_sink sink;

    result_sink_init(&sink);
    int rc = merged_entries(image, &options, &sink.base, &report, err);
    result_sink_end(&sink);
    _cleanup_buf_ struct buf order = BUF_INIT;
    for (size_t i = 0; i < sink.result.count; i++)
        buf_printf(&order, "%s ", sink.result.list[i].path);
    result_text(&sink.result, out);
    buf_printf(out, "\n%s", order.data ? order.data : "");
    result_sink_clear(&sink);
    return rc;
}

static void expect_tree(const char *what, const struct buf *actual, const char *tree)
{
    size_t len = strcspn(actual->data, "\n");

    if (len != strlen(tree) || strncmp(actual->data, tree, len) != 0)
        fail_msg("%s: %s\nnot: %s", what, actual->data, tree);
}

static void check(const struct merge_case *c, struct sender *s, const struct image *spooled,
                  enum semantics semantics)
{
    const char *tree = semantics == SEMANTICS_SPEC && c->spec ? c->spec : c->overlay;
    _cleanup_buf_ struct buf text = BUF_INIT, same = BUF_INIT;
    struct err err = ERR_INIT, unused = ERR_INIT;
    _cleanup_image_ struct image *image = open_feed(s, &err);
    int rc = image ? merge(image, semantics, &text, &err) : -1;

    if (tree[0] == '!') {
        assert_int_equal(rc, -1);
        assert_contains(err.msg, tree + 1);
        return;
    }
    if (rc != 0)
        fail_msg("%s: %s", c->name, err.msg);
    expect_tree(c->name, &text, tree);
    assert_int_equal(merge(spooled, semantics, &same, &unused), 0);
    assert_string_equal(text.data, same.data);
}

static struct image *spool(const struct sender *s)
{
    struct err err = ERR_INIT;
    struct image *image = image_open_archive_fd(file_of(&s->readings[0]), NULL, &err);

    if (!image)
        fail_msg("%s", err.msg);
    image->as_they_lie = true;
    return image;
}

/* Every rule of merging, in both forms of archive: the same trees, and the same order as spooled.
 */
static void test_rules(void **state)
{
    static struct stack stack;

    (void)state;
    for (size_t i = 0; i < merge_case_count; i++) {
        struct buf tars[MOST_PARTS] = {{0}};
        stack_parse(&stack, merge_cases[i].layers);
        for (unsigned l = 0; l < stack.layers; l++)
            tar_layer(&stack, l + 1, &tars[l]);
        for (int old = 0; old <= 1; old++) {
            struct archive_parts parts;
            struct sender overlay, spec;
            save(tars, stack.layers, old, &parts);
            sender_of(&parts, &overlay);
            sender_of(&parts, &spec);
            struct image *spooled = spool(&overlay);
            check(&merge_cases[i], &overlay, spooled, SEMANTICS_OVERLAY);
            check(&merge_cases[i], &spec, spooled, SEMANTICS_SPEC);
            image_free(spooled);
            sender_free(&overlay);
            sender_free(&spec);
            free_parts(&parts);
        }
        for (unsigned l = 0; l < stack.layers; l++)
            buf_free(&tars[l]);
    }
}

static void put(struct archive *a, const char *name, const char *link, const char *content)
{
    struct archive_entry *e = archive_entry_new();

    archive_entry_set_pathname(e, name);
    archive_entry_set_filetype(e, AE_IFREG);
    archive_entry_set_perm(e, 0644);
    if (link)
        archive_entry_set_hardlink(e, link);
    else
        archive_entry_set_size(e, (la_int64_t)strlen(content));
    assert_int_equal(archive_write_header(a, e), ARCHIVE_OK);
    if (!link)
        assert_true(archive_write_data(a, content, strlen(content)) > 0);
    archive_entry_free(e);
}

/* a of the oldest layer is left as b; the newest is the same layer again, and its a is another. */
static void test_one_layer_for_two(void **state)
{
    struct buf tars[3] = {{0}};

    (void)state;
    for (int i = 0; i < 3; i++) {
        struct archive *a = tar_begin(&tars[i]);
        put(a, i == 1 ? "b" : "a", i == 1 ? "a" : NULL, "1:a");
        archive_write_free(a);
    }
    for (int old = 0; old <= 1; old++) {
        struct archive_parts parts;
        struct sender s;
        _cleanup_buf_ struct buf text = BUF_INIT;
        struct err err = ERR_INIT;
        save(tars, 3, old, &parts);
        sender_of(&parts, &s);
        struct image *image = open_feed(&s, &err);
        assert_non_null(image);
        assert_works(merge(image, SEMANTICS_OVERLAY, &text, &err), err);
        expect_tree("one for two", &text, "a@1 b@1:a");
        assert_int_equal(s.sent, 3);
        image_free(image);
        sender_free(&s);
        free_parts(&parts);
    }
    for (int i = 0; i < 3; i++)
        buf_free(&tars[i]);
}

/* ---- a second reading that is not the first ---- */

static void save_stack(const char *text, struct archive_parts *out)
{
    static struct stack stack;
    struct buf tars[MOST_PARTS] = {{0}};

    stack_parse(&stack, text);
    for (unsigned l = 0; l < stack.layers; l++)
        tar_layer(&stack, l + 1, &tars[l]);
    save(tars, stack.layers, true, out);
    for (unsigned l = 0; l < stack.layers; l++)
        buf_free(&tars[l]);
}

#define THREE "a/ a/x a/y | b/ b/x | c/ c/x -a/y"

static struct part *layer_part(struct archive_parts *p, size_t number)
{
    for (size_t i = 0; i < p->count; i++)
        if (strstr(p->list[i].name, "layer.tar") && number-- == 0)
            return &p->list[i];
    abort();
}

/* ERR_FORMAT: or ERR_DIGEST, where an archive is cut between members. */
static void refused(struct sender *s, enum err_kind kind, const char *why)
{
    _cleanup_buf_ struct buf text = BUF_INIT;
    struct err err = ERR_INIT;
    struct image *image = open_feed(s, &err);

    if (!image)
        fail_msg("the first reading: %s", err.msg);
    assert_int_equal(merge(image, SEMANTICS_OVERLAY, &text, &err), -1);
    if (err.kind != kind && !(kind == ERR_FORMAT && err.kind == ERR_DIGEST))
        fail_msg("kind %d: %s", err.kind, err.msg);
    assert_contains(err.msg, why);
    image_free(image);
    sender_free(s);
}

static void send_second(struct sender *s, const struct archive_parts *parts)
{
    buf_free(&s->readings[1]);
    write_parts(parts, &s->readings[1]);
}

static void test_changed_content(void **state)
{
    (void)state;
    for (size_t i = 0; i < 3; i++) {
        struct archive_parts parts;
        struct sender s;
        save_stack(THREE, &parts);
        sender_of(&parts, &s);
        struct part *p = layer_part(&parts, i);
        char *content = memmem(p->data.data, p->data.len, ":", 1);
        while (content && (content[1] != 'a' && content[1] != 'b' && content[1] != 'c'))
            content =
                memmem(content + 1, p->data.len - (size_t)(content + 1 - p->data.data), ":", 1);
        assert_non_null(content);
        content[3] ^= 1;
        send_second(&s, &parts);
        refused(&s, ERR_DIGEST, "uncompressed: content is sha256:");
        free_parts(&parts);
    }
}

static void test_changed_size(void **state)
{
    struct archive_parts parts;
    struct sender s;

    (void)state;
    save_stack(THREE, &parts);
    sender_of(&parts, &s);
    buf_append(&layer_part(&parts, 1)->data, "", 1);
    send_second(&s, &parts);
    refused(&s, ERR_DIGEST, "another size");
    free_parts(&parts);
}

static void test_changed_members(void **state)
{
    struct archive_parts parts;
    struct sender s;

    (void)state;
    save_stack(THREE, &parts);
    sender_of(&parts, &s);
    struct part *p = layer_part(&parts, 1), kept = *p;
    snprintf(p->name, sizeof(p->name), "another/layer.tar");
    send_second(&s, &parts);
    refused(&s, ERR_DIGEST, "is not there the second time");

    *p = kept;
    sender_of(&parts, &s);
    *p = *layer_part(&parts, 2);
    *layer_part(&parts, 2) = kept;
    struct part *first = layer_part(&parts, 1);
    assert_ptr_equal(first, p);
    send_second(&s, &parts);
    refused(&s, ERR_DIGEST, "is not there the second time");
    free_parts(&parts);
}

/* Documents may change: names that were given in between. */
static void test_changed_documents(void **state)
{
    struct archive_parts parts;
    struct sender s;
    _cleanup_buf_ struct buf text = BUF_INIT;
    struct err err = ERR_INIT;

    (void)state;
    save_stack(THREE, &parts);
    sender_of(&parts, &s);
    buf_puts(&parts.list[parts.count - 1].data, "  ");
    buf_puts(&add_part(&parts, "repositories")->data, "{}");
    send_second(&s, &parts);
    struct image *image = open_feed(&s, &err);
    assert_non_null(image);
    assert_works(merge(image, SEMANTICS_OVERLAY, &text, &err), err);
    expect_tree("documents", &text, "a/? a/x@1 b/2 b/x@2 c/3 c/x@3");
    image_free(image);
    sender_free(&s);
    free_parts(&parts);
}

/* At every block: in a layer, in a header, between members. */
static void test_cut(void **state)
{
    static const char error[] =
        "{\"errorDetail\":{\"message\":\"on fire\"},\"error\":\"on fire\"}\r\n";
    struct archive_parts parts;
    struct sender s;

    (void)state;
    save_stack(THREE, &parts);
    sender_of(&parts, &s);
    size_t last = 0;
    const char *at = s.readings[1].data;
    const char *end = memmem(at, s.readings[1].len, "manifest.json", 13);
    for (const char *p = at; (p = memmem(p, (size_t)(end - p), "/layer.tar", 10)); p += 10)
        last = (size_t)(p - at); /* in the last layer's header */
    sender_free(&s);
    for (size_t len = 0; len < last; len += 512) {
        sender_of(&parts, &s);
        s.readings[1].len = len;
        refused(&s, ERR_FORMAT, "");
        if (len % 1536 == 0) {
            sender_of(&parts, &s);
            s.readings[1].len = len;
            s.failure = "the connection is gone";
            refused(&s, ERR_SYSTEM, "the connection is gone");
            sender_of(&parts, &s);
            s.readings[1].len = len;
            buf_puts(&s.readings[1], error);
            refused(&s, ERR_SYSTEM, "the daemon says: on fire");
        }
    }
    free_parts(&parts);
}

/* A failure that only the sender knows of. */
static void test_end_fails(void **state)
{
    struct archive_parts parts;
    struct sender s;

    (void)state;
    save_stack(THREE, &parts);
    sender_of(&parts, &s);
    s.failure = "the connection is gone";
    refused(&s, ERR_SYSTEM, "the connection is gone");
    free_parts(&parts);
}

/* ---- the first reading ---- */

static void first_refused(const struct archive_parts *parts, enum err_kind kind, const char *why)
{
    struct sender s;
    struct err err = ERR_INIT;

    sender_of(parts, &s);
    struct image *image = open_feed(&s, &err);
    if (image)
        fail_msg("it is taken, without %s", why);
    if (err.kind != kind)
        fail_msg("kind %d: %s", err.kind, err.msg);
    assert_contains(err.msg, why);
    sender_free(&s);
}

static void test_first_reading(void **state)
{
    struct archive_parts parts;

    (void)state;
    save_stack(THREE, &parts);
    struct part *p = layer_part(&parts, 1);
    p->data.data[p->data.len / 2] ^= 1;
    first_refused(&parts, ERR_DIGEST, "as the image says");
    p->data.data[p->data.len / 2] ^= 1;
    buf_truncate(&p->data, 512);
    first_refused(&parts, ERR_FORMAT, p->name);
    buf_truncate(&p->data, 0);
    buf_puts(&p->data, "{\"not\":\"a layer\"}");
    first_refused(&parts, ERR_FORMAT, "is not a layer");
    snprintf(p->name, sizeof(p->name), "gone");
    first_refused(&parts, ERR_FORMAT, "is not in the archive");
    free_parts(&parts);
}

UNIT_SUITE(test_feed)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rules),
        cmocka_unit_test(test_one_layer_for_two),
        cmocka_unit_test(test_changed_content),
        cmocka_unit_test(test_changed_size),
        cmocka_unit_test(test_changed_members),
        cmocka_unit_test(test_changed_documents),
        cmocka_unit_test(test_cut),
        cmocka_unit_test(test_end_fails),
        cmocka_unit_test(test_first_reading),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
