/* A layer that an engine has unpacked gives the entries that its archive would. */
#include "flatten/layer/layer.h"
#include "flatten/wire/wire.h"
#include "flatten/wire/wire_entry.h"
#include "tests/unit/lib/unit.h"

#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>

/* A walk whose other end has sent all messages before the reader asks. */
struct walk {
    int pair[2];
    struct image_tree tree;
    struct layer layer;
};

static void walk_begin(struct walk *w)
{
    struct err err = ERR_INIT;

    *w = (struct walk){.layer = {.number = 2, .fd = -1}};
    assert_works(wire_pair(w->pair, &err), err);
    w->tree = (struct image_tree){.apart = true, .fd = w->pair[0]};
    w->layer.walk = &w->tree;
}

static void walk_end(struct walk *w)
{
    close(w->pair[0]);
    close(w->pair[1]);
}

static void send_entry(struct walk *w, struct wire_entry e, const char *xattr, const char *content)
{
    _cleanup_buf_ struct buf message = BUF_INIT, xattrs = BUF_INIT;
    _cleanup_fd_ int fd = content ? memfd_create("content", MFD_CLOEXEC) : -1;
    struct err err = ERR_INIT;

    if (content)
        assert_int_equal(pwrite(fd, content, strlen(content), 0), strlen(content));
    if (xattr)
        wire_put_xattr(&xattrs, xattr, "y", 1);
    e.xattrs = xattrs.data;
    e.xattrs_size = xattrs.len;
    wire_encode_entry(&e, &message);
    assert_works(wire_send(w->pair[1], &message, fd, &err), err);
}

static void send_end(struct walk *w)
{
    _cleanup_buf_ struct buf message = BUF_INIT;
    struct err err = ERR_INIT;

    wire_encode_end(NULL, &message);
    assert_works(wire_send(w->pair[1], &message, -1, &err), err);
}

static void expect_next(struct layer_reader *r, enum entry_kind kind, const char *path)
{
    struct err err = ERR_INIT;
    struct layer_entry e;

    assert_works(layer_reader_next(r, &e, &err) - 1, err);
    assert_int_equal(e.info.kind, kind);
    assert_string_equal(e.info.path, path);
    assert_int_equal(archive_entry_xattr_count(e.header), 0);
}

static void test_marks(void **state)
{
    struct err err = ERR_INIT;
    struct layer_entry e;
    struct walk w;
    uint32_t asked = 0;
    _cleanup_buf_ struct buf request = BUF_INIT;

    (void)state;
    walk_begin(&w);
    send_entry(&w, (struct wire_entry){.mode = S_IFDIR | 0755, .path = "d"},
               "trusted.overlay.opaque", NULL);
    send_entry(&w, (struct wire_entry){.mode = S_IFCHR, .path = "d/gone"}, NULL, NULL);
    send_entry(&w, (struct wire_entry){.mode = S_IFCHR, .path = "gone", .origin = "d/gone"}, NULL,
               NULL);
    send_entry(&w, (struct wire_entry){.mode = S_IFDIR, .path = "up"}, "trusted.overlay.origin",
               NULL);
    send_end(&w);
    _cleanup_layer_reader_ struct layer_reader *r = layer_reader_open_unchecked(&w.layer, &err);
    assert_non_null(r);
    assert_true(layer_reader_skips(r));
    expect_next(r, ENTRY_DIR, "d");
    expect_next(r, ENTRY_OPAQUE, "d");
    expect_next(r, ENTRY_WHITEOUT, "d/gone");
    expect_next(r, ENTRY_WHITEOUT, "gone");
    expect_next(r, ENTRY_DIR, "up");
    assert_int_equal(layer_reader_next(r, &e, &err), 0);
    assert_int_equal(wire_receive(w.pair[1], &request, NULL, &err), 1);
    assert_works(wire_decode_walk(&request, &asked, &err), err);
    assert_int_equal(asked, 2);
    walk_end(&w);
}

static void test_content(void **state)
{
    struct err err = ERR_INIT;
    struct walk w;
    const void *data;
    uint64_t offset;
    size_t len;

    (void)state;
    walk_begin(&w);
    send_entry(&w, (struct wire_entry){.mode = S_IFREG | 0640, .size = 5, .path = "f"}, NULL,
               "hello");
    send_entry(&w, (struct wire_entry){.mode = S_IFREG, .size = 5, .path = "g", .origin = "f"},
               NULL, NULL);
    send_end(&w);
    _cleanup_layer_reader_ struct layer_reader *r = layer_reader_open_unchecked(&w.layer, &err);
    assert_non_null(r);
    expect_next(r, ENTRY_FILE, "f");
    assert_int_equal(layer_reader_data(r, &data, &len, &offset, &err), 1);
    assert_int_equal(len, 5);
    assert_int_equal(offset, 0);
    assert_memory_equal(data, "hello", 5);
    assert_int_equal(layer_reader_data(r, &data, &len, &offset, &err), 0);
    expect_next(r, ENTRY_HARDLINK, "g");
    assert_int_equal(layer_reader_data(r, &data, &len, &offset, &err), 0);
    walk_end(&w);
}

/* A layer that keeps a part of a file elsewhere is not one by itself. */
static void test_refused(void **state)
{
    static const char *const marks[] = {"redirect", "metacopy", "whiteout"};

    (void)state;
    for (size_t i = 0; i < sizeof(marks) / sizeof(*marks); i++) {
        char name[64], message[128];
        struct err err = ERR_INIT;
        struct layer_entry e;
        struct walk w;
        walk_begin(&w);
        snprintf(name, sizeof(name), "trusted.overlay.%s", marks[i]);
        send_entry(&w, (struct wire_entry){.mode = S_IFDIR, .path = "d"}, name, NULL);
        send_end(&w);
        struct layer_reader *r = layer_reader_open_unchecked(&w.layer, &err);
        assert_non_null(r);
        assert_int_equal(layer_reader_next(r, &e, &err), -1);
        assert_int_equal(err.kind, ERR_UNSUPPORTED);
        snprintf(message, sizeof(message), "layer 2: /d: the attribute %s,", name);
        assert_memory_equal(err.msg, message, strlen(message));
        layer_reader_free(r);
        walk_end(&w);
    }
}

/* The next walk begins behind the end of one that was given up. */
static void test_given_up(void **state)
{
    struct err err = ERR_INIT;
    struct walk w;

    (void)state;
    walk_begin(&w);
    for (int i = 0; i < 3; i++)
        send_entry(&w, (struct wire_entry){.mode = S_IFREG, .size = 1, .path = "old"}, NULL, "x");
    send_end(&w);
    send_entry(&w, (struct wire_entry){.mode = S_IFDIR, .path = "new"}, NULL, NULL);
    send_end(&w);
    struct layer_reader *r = layer_reader_open_unchecked(&w.layer, &err);
    assert_non_null(r);
    expect_next(r, ENTRY_FILE, "old");
    layer_reader_free(r);
    r = layer_reader_open_unchecked(&w.layer, &err);
    assert_non_null(r);
    expect_next(r, ENTRY_DIR, "new");
    layer_reader_free(r);
    walk_end(&w);
}

/* After an error the reader does not wait for a walker that has not come to the end. */
static void test_end_not_awaited(void **state)
{
    struct err err = ERR_INIT;
    struct wire_entry e;
    struct walk w;
    _cleanup_buf_ struct buf rest = BUF_INIT;

    (void)state;
    walk_begin(&w);
    send_entry(&w, (struct wire_entry){.mode = S_IFDIR, .path = "read"}, NULL, NULL);
    send_entry(&w, (struct wire_entry){.mode = S_IFDIR, .path = "left"}, NULL, NULL);
    assert_int_equal(shutdown(w.pair[1], SHUT_WR), 0); /* else a reader that waits would hang */
    struct layer_reader *r = layer_reader_open_unchecked(&w.layer, &err);
    assert_non_null(r);
    expect_next(r, ENTRY_DIR, "read");
    layer_reader_free(r);
    assert_int_equal(wire_receive(w.pair[0], &rest, NULL, &err), 1);
    assert_int_equal(wire_decode_entry(&rest, &e, &err), 1);
    assert_string_equal(e.path, "left");
    walk_end(&w);
}

UNIT_SUITE(test_walked_reader)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_marks),           cmocka_unit_test(test_content),
        cmocka_unit_test(test_refused),         cmocka_unit_test(test_given_up),
        cmocka_unit_test(test_end_not_awaited),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
