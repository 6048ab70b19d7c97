/* The entries of a walk go to the sink; a walk that is not complete is an error. */
#include "flatten/merge/merged.h"
#include "flatten/wire/wire.h"
#include "flatten/wire/wire_entry.h"
#include "tests/unit/lib/unit.h"

#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>

/* A sink that writes down what it gets. */
struct notes {
    struct entry_sink base;
    struct buf text;
};

static int note_entry(struct entry_sink *s, struct archive_entry *h, struct err *err)
{
    struct notes *n = (struct notes *)s;
    const char *link = archive_entry_hardlink(h), *target = archive_entry_symlink(h);

    (void)err;
    buf_printf(&n->text, "[%s %o %d:%d %lld x%d", archive_entry_pathname(h), archive_entry_mode(h),
               (int)archive_entry_uid(h), (int)archive_entry_gid(h),
               (long long)archive_entry_size(h), archive_entry_xattr_count(h));
    if (link || target)
        buf_printf(&n->text, " %s %s", link ? "=" : "->", link ? link : target);
    buf_puts(&n->text, "]");
    return 0;
}

static int note_data(struct entry_sink *s, const void *data, uint64_t len, struct err *err)
{
    struct notes *n = (struct notes *)s;

    (void)err;
    if (data)
        buf_append(&n->text, data, (size_t)len);
    else if (len)
        buf_printf(&n->text, "(%d zeros)", (int)len);
    return 0;
}

/* A walk whose other end has sent all messages before the reader asks. */
struct walk {
    int pair[2];
    struct notes notes;
    struct merged_report report;
    bool gone; /* the image is, when the walk has ended */
};

static int check_still(void *ctx, size_t number, struct err *err)
{
    const struct walk *w = ctx;

    assert_int_equal(number, 3);
    return w->gone ? err_set(err, ERR_SYSTEM, "removed") : 0;
}

static void walk_begin(struct walk *w)
{
    static const struct entry_sink_ops ops = {.entry = note_entry, .data = note_data};
    struct err err = ERR_INIT;

    *w = (struct walk){.notes.base.ops = &ops};
    assert_works(wire_pair(w->pair, &err), err);
}

static void walk_end(struct walk *w)
{
    close(w->pair[0]);
    if (w->pair[1] >= 0)
        close(w->pair[1]);
    buf_free(&w->notes.text);
}

static void send_entry(struct walk *w, const struct wire_entry *e, const char *content)
{
    _cleanup_buf_ struct buf message = BUF_INIT;
    _cleanup_fd_ int fd = content ? memfd_create("content", MFD_CLOEXEC) : -1;
    struct err err = ERR_INIT;

    if (content)
        assert_int_equal(pwrite(fd, content, strlen(content), 0), strlen(content));
    wire_encode_entry(e, &message);
    assert_works(wire_send(w->pair[1], &message, fd, &err), err);
}

static void send_end(struct walk *w, const struct err *failure)
{
    _cleanup_buf_ struct buf message = BUF_INIT;
    struct err err = ERR_INIT;

    wire_encode_end(failure, &message);
    assert_works(wire_send(w->pair[1], &message, -1, &err), err);
}

static enum merge_result walk_merge(struct walk *w, struct err *err)
{
    struct image_tree tree = {
        .fd = w->pair[0], .size = 100, .still = check_still, .ctx = w, .number = 3};
    const struct image image = {.tree = &tree, .layer_count = 2};
    const struct merged_options options = {.semantics = SEMANTICS_OVERLAY};

    return merged_entries(&image, &options, &w->notes.base, &w->report, err);
}

static void test_entries(void **state)
{
    _cleanup_buf_ struct buf xattrs = BUF_INIT;
    struct err err = ERR_INIT;
    struct walk w;

    (void)state;
    wire_put_xattr(&xattrs, "user.a", "1", 1);
    wire_put_xattr(&xattrs, "user.overlay.opaque", "y", 1);
    wire_put_xattr(&xattrs, "trusted.overlay.redirect", "y", 1);
    walk_begin(&w);
    send_entry(
        &w,
        &(struct wire_entry){
            .mode = S_IFDIR | 0755, .path = "d", .xattrs = xattrs.data, .xattrs_size = xattrs.len},
        NULL);
    send_entry(
        &w,
        &(struct wire_entry){.mode = S_IFREG | 0640, .uid = 1, .gid = 2, .size = 5, .path = "d/f"},
        "hello");
    send_entry(
        &w, &(struct wire_entry){.mode = S_IFREG | 0640, .size = 5, .path = "d/g", .origin = "d/f"},
        NULL);
    send_entry(&w, &(struct wire_entry){.mode = S_IFLNK | 0777, .path = "l", .target = "d"}, NULL);
    send_end(&w, NULL);
    assert_int_equal(walk_merge(&w, &err), MERGE_DONE);
    assert_string_equal(w.notes.text.data,
                        "[d 40755 0:0 0 x1][d/f 100640 1:2 5 x0]hello[d/g 100640 0:0 0 x0 = d/f]"
                        "[l 120777 0:0 0 x0 -> d]");
    assert_int_equal(w.report.entries_out, 4);
    assert_int_equal(w.report.payload_out, 5);
    assert_int_equal(w.report.payload_in, 100);
    assert_int_equal(w.report.dropped, 1);
    walk_end(&w);
}

static void test_holes(void **state)
{
    struct err err = ERR_INIT;
    struct walk w;
    _cleanup_fd_ int fd = memfd_create("content", MFD_CLOEXEC);
    _cleanup_buf_ struct buf message = BUF_INIT;

    (void)state;
    walk_begin(&w);
    assert_int_equal(pwrite(fd, "x", 1, 65536), 1);
    assert_int_equal(ftruncate(fd, 1 << 20), 0);
    wire_encode_entry(
        &(struct wire_entry){.mode = S_IFREG | 0644, .size = 1 << 20, .path = "holes"}, &message);
    assert_works(wire_send(w.pair[1], &message, fd, &err), err);
    send_end(&w, NULL);
    assert_int_equal(walk_merge(&w, &err), MERGE_DONE);
    assert_non_null(strstr(w.notes.text.data, "x0](65536 zeros)x"));
    walk_end(&w);
}

/* Sends the entry and its content, and asserts the error of the merge. */
static void fails(const struct wire_entry *e, const char *content, const char *message)
{
    struct err err = ERR_INIT;
    struct walk w;

    walk_begin(&w);
    send_entry(&w, e, content);
    send_end(&w, NULL);
    assert_int_equal(walk_merge(&w, &err), MERGE_FAILED);
    assert_non_null(strstr(err.msg, message));
    walk_end(&w);
}

/* Engines unpack a directory of such a name, but a layer that has it would hide another file. */
static void test_whiteout_names(void **state)
{
    const struct wire_entry dir = {.mode = S_IFDIR | 0755, .path = ".wh.a"},
                            file = {.mode = S_IFREG | 0644, .path = "d/.wh.b"};

    (void)state;
    fails(&dir, NULL, "/.wh.a: a file of this name cannot be in a layer");
    fails(&file, NULL, "/d/.wh.b: a file of this name cannot be in a layer");
}

static void test_aufs(void **state)
{
    struct err err = ERR_INIT;
    struct walk w;

    (void)state;
    walk_begin(&w);
    send_entry(&w, &(struct wire_entry){.mode = S_IFDIR | 0700, .path = ".wh..wh.plnk"}, NULL);
    send_entry(&w, &(struct wire_entry){.mode = S_IFREG, .size = 1, .path = ".wh..wh.plnk/1"}, "x");
    send_entry(&w, &(struct wire_entry){.mode = S_IFDIR | 0755, .path = "d"}, NULL);
    send_end(&w, NULL);
    assert_int_equal(walk_merge(&w, &err), MERGE_DONE);
    assert_string_equal(w.notes.text.data, "[d 40755 0:0 0 x0]");
    walk_end(&w);
}

static void test_wrong_content(void **state)
{
    const struct wire_entry file = {.mode = S_IFREG | 0644, .size = 5, .path = "f"},
                            dir = {.mode = S_IFDIR | 0755, .path = "d"};

    (void)state;
    fails(&file, NULL, "/f: the walk sends a file without its content");
    fails(&dir, "x", "/d: the walk sends a file without its content");
    fails(&file, "four", "/f: its size changed while it was read");
}

static void test_ends(void **state)
{
    const struct err failure = {.kind = ERR_SYSTEM, .sys = 2, .msg = "/x: No such file"};
    struct err err = ERR_INIT;
    struct walk w;

    (void)state;
    walk_begin(&w);
    send_end(&w, &failure);
    assert_int_equal(walk_merge(&w, &err), MERGE_FAILED);
    assert_string_equal(err.msg, failure.msg);
    walk_end(&w);

    walk_begin(&w);
    w.gone = true;
    send_end(&w, NULL);
    assert_int_equal(walk_merge(&w, &err), MERGE_FAILED);
    assert_string_equal(err.msg, "removed");
    walk_end(&w);

    walk_begin(&w);
    send_entry(&w, &(struct wire_entry){.mode = S_IFDIR | 0755, .path = "d"}, NULL);
    assert_int_equal(shutdown(w.pair[1], SHUT_WR), 0);
    assert_int_equal(walk_merge(&w, &err), MERGE_FAILED);
    assert_string_equal(err.msg, "the process that reads the layers is gone");
    walk_end(&w);
}

UNIT_SUITE(test_merged_tree)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_entries),       cmocka_unit_test(test_holes),
        cmocka_unit_test(test_aufs),          cmocka_unit_test(test_whiteout_names),
        cmocka_unit_test(test_wrong_content), cmocka_unit_test(test_ends),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
