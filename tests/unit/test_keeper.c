/*
 * The keeper, served by readers that are anything but honest. Each act is a process of its own that
 * speaks to it; what counts is what the keeper says, and what is there afterwards.
 */
#include "flatten/keeper.h"
#include "flatten/sandbox.h"
#include "flatten/wire.h"
#include "tempdir.h"
#include "unit.h"
#include "wire_requests.h"

#include <dirent.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

typedef void act(int socket);

/* Sends it. Exit 99 where the keeper does not take it. */
static void say(int socket, const struct wire_request *request)
{
    _cleanup_buf_ struct buf message = BUF_INIT;
    struct err err = ERR_INIT;

    wire_encode_request(request, &message);
    if (wire_send(socket, &message, -1, &err) < 0)
        _exit(99);
}

/* Asks, and is granted: the descriptor that comes with it, or -1. Exit 98 where it is not. */
static int ask(int socket, const struct wire_request *request)
{
    _cleanup_buf_ struct buf message = BUF_INIT;
    struct err err = ERR_INIT;
    struct wire_reply reply;
    int fd;

    say(socket, request);
    if (wire_receive(socket, &message, &fd, &err) != 1 ||
        wire_decode_reply(&message, &reply, &err) < 0 || reply.failed)
        _exit(98);
    return fd;
}

static int plainly(int socket, enum wire_op op)
{
    return ask(socket, &(struct wire_request){.op = op});
}

static void finish(int socket)
{
    say(socket, &(struct wire_request){.op = WIRE_DONE, .status = 0});
}

/* Serves the act with a layout as source and another as destination. How the act ended is left in
 * *ended. */
static int serve(const struct tempdir *dir, act *play, int *ended, struct err *err)
{
    _cleanup_free_ char *from = strf("%s/from", dir->path), *to = strf("%s/to", dir->path);
    const struct reference source = {.transport = TRANSPORT_OCI, .path = from};
    const struct reference destination = {.transport = TRANSPORT_OCI, .path = to};
    const struct keeper_task task = {
        .sources = &source, .source_count = 1, .destination = &destination};
    int pair[2];

    (void)mkdirat(dir->fd, "from", 0700);
    *err = (struct err)ERR_INIT;
    assert_works(wire_pair(pair, err), *err);
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        close(pair[0]);
        play(pair[1]);
        _exit(0);
    }
    close(pair[1]);
    bool published;
    int rc = keeper_serve(&task, pair[0], &published, err);
    close(pair[0]);
    assert_int_equal(waitpid(pid, ended, 0), pid);
    assert_int_equal(faccessat(dir->fd, "to/index.json", F_OK, 0), published ? 0 : -1);
    return rc;
}

static size_t count_names(const struct tempdir *dir)
{
    DIR *list = opendir(dir->path);
    size_t count = 0;

    assert_non_null(list);
    while (readdir(list))
        count++;
    closedir(list);
    return count - 2;
}

/* The act is refused with these words, and leaves nothing but the source. */
static void refused(void **state, act *play, const char *why)
{
    struct err err;
    int ended;

    assert_int_equal(serve(*state, play, &ended, &err), -1);
    assert_contains(err.msg, why);
    assert_int_equal(err.kind, ERR_SYSTEM);
    if (ended != 0)
        fail_msg("%s: the act ended with %d", why, ended);
    assert_int_equal(count_names(*state), 1);
}

/* ---- one image, honestly made ---- */

static struct blob blob_of(const char *text)
{
    struct blob b = {.data = text, .len = strlen(text)};
    struct err err = ERR_INIT;

    if (sha256_digest(text, b.len, &b.digest, &err) < 0)
        _exit(97);
    return b;
}

static struct written_layer write_layer(int socket)
{
    const struct blob content = blob_of("a layer");
    const struct wire_request end = {
        .op = WIRE_END, .layer = {content.digest, content.digest, content.len, content.len, 0}};
    int fd = plainly(socket, WIRE_BEGIN);

    if (write(fd, content.data, content.len) != (ssize_t)content.len)
        _exit(96);
    close(fd);
    (void)ask(socket, &end);
    return end.layer;
}

static struct wire_request image_of(const struct written_layer *layer)
{
    return (struct wire_request){.op = WIRE_IMAGE,
                                 .image = {.config = blob_of("{}"),
                                           .manifest = blob_of("{\"schemaVersion\":2}"),
                                           .layers = layer,
                                           .layer_count = 1}};
}

static void make_image(int socket)
{
    (void)plainly(socket, WIRE_SINK);
    const struct written_layer layer = write_layer(socket);
    const struct wire_request image = image_of(&layer);
    (void)ask(socket, &image);
}

static void publish(int socket)
{
    (void)ask(socket, &(struct wire_request){.op = WIRE_PUBLISH, .image = {.name = "v1"}});
}

static void be_honest(int socket)
{
    make_image(socket);
    publish(socket);
    finish(socket);
}

static void test_honest(void **state)
{
    const struct tempdir *dir = *state;
    struct err err;
    int ended;

    assert_works(serve(dir, be_honest, &ended, &err), err);
    assert_int_equal(ended, 0);
    assert_int_equal(faccessat(dir->fd, "to/index.json", R_OK, 0), 0);
}

/* ---- the others ---- */

static void publish_twice(int socket)
{
    make_image(socket);
    publish(socket);
    say(socket, &(struct wire_request){.op = WIRE_PUBLISH, .image = {.name = "v2"}});
}

/* The first stays: it was in order. */
static void test_published_once(void **state)
{
    const struct tempdir *dir = *state;
    struct err err;
    int ended;

    assert_int_equal(serve(dir, publish_twice, &ended, &err), -1);
    assert_contains(err.msg, "nothing to publish");
    assert_int_equal(faccessat(dir->fd, "to/index.json", R_OK, 0), 0);
}

static void publish_nothing(int socket)
{
    (void)plainly(socket, WIRE_SINK);
    say(socket, &(struct wire_request){.op = WIRE_PUBLISH});
}

static void publish_two_as_one(int socket)
{
    make_image(socket);
    const struct written_layer layer = write_layer(socket);
    const struct wire_request image = image_of(&layer);
    (void)ask(socket, &image);
    say(socket, &(struct wire_request){.op = WIRE_PUBLISH});
}

static void publish_early(int socket)
{
    say(socket, &(struct wire_request){.op = WIRE_PUBLISH});
}

static void end_what_was_not_begun(int socket)
{
    (void)plainly(socket, WIRE_SINK);
    say(socket, &(struct wire_request){.op = WIRE_END, .layer = wire_sample_layer()});
}

static void begin_nowhere(int socket)
{
    say(socket, &(struct wire_request){.op = WIRE_BEGIN});
}

static void open_two_sinks(int socket)
{
    (void)plainly(socket, WIRE_SINK);
    say(socket, &(struct wire_request){.op = WIRE_SINK});
}

static void name_a_layer_that_is_not_there(int socket)
{
    const struct written_layer layer = wire_sample_layer();
    const struct wire_request image = image_of(&layer);

    (void)plainly(socket, WIRE_SINK);
    say(socket, &image);
}

static void lie_about_a_manifest(int socket)
{
    (void)plainly(socket, WIRE_SINK);
    const struct written_layer layer = write_layer(socket);
    struct wire_request image = image_of(&layer);
    image.image.manifest.digest = image.image.config.digest;
    say(socket, &image);
}

static void read_another_source(int socket)
{
    say(socket, &(struct wire_request){.op = WIRE_SOURCE, .number = 1});
}

static void open_a_source_twice(int socket)
{
    (void)plainly(socket, WIRE_SOURCE);
    say(socket, &(struct wire_request){.op = WIRE_SOURCE});
}

static void read_before_opening(int socket)
{
    say(socket, &(struct wire_request){.op = WIRE_FILE});
}

static void fill_the_disk(int socket)
{
    (void)plainly(socket, WIRE_SPOOL); /* one is what an archive may need */
    say(socket, &(struct wire_request){.op = WIRE_SPOOL});
}

static void have_sent_what_is_no_feed(int socket)
{
    (void)plainly(socket, WIRE_SOURCE);
    say(socket, &(struct wire_request){.op = WIRE_SEND});
}

static void have_sent_before_opening(int socket)
{
    say(socket, &(struct wire_request){.op = WIRE_SEND});
}

static void ask_the_daemon(int socket)
{
    say(socket, &(struct wire_request){.op = WIRE_DIFF_IDS});
}

static void be_done_too_early(int socket)
{
    make_image(socket);
    finish(socket);
}

static void babble(int socket)
{
    static const char noise[] = "\4\0\0\0GET / HTTP/1.1\r\n\r\n";

    (void)!write(socket, noise, sizeof(noise));
}

static void be_oversized(int socket)
{
    static const unsigned char length[] = {0xff, 0xff, 0xff, 0x7f};

    (void)!write(socket, length, sizeof(length));
}

static void send_descriptors(int socket)
{
    _cleanup_buf_ struct buf message = BUF_INIT;
    struct err err = ERR_INIT;

    wire_encode_request(&(struct wire_request){.op = WIRE_SINK}, &message);
    (void)!wire_send(socket, &message, STDIN_FILENO, &err);
}

static void leave(int socket)
{
    make_image(socket);
}

static void test_refused(void **state)
{
    static const struct {
        act *play;
        const char *why;
    } rows[] = {
        {publish_nothing, "nothing to publish"},
        {publish_two_as_one, "what the destination can hold"},
        {publish_early, "nothing to publish"},
        {end_what_was_not_begun, "not begun"},
        {begin_nowhere, "no destination"},
        {open_two_sinks, "a destination"},
        {name_a_layer_that_is_not_there, "not written"},
        {lie_about_a_manifest, "digest"},
        {read_another_source, "a source"},
        {have_sent_what_is_no_feed, "a feed"},
        {have_sent_before_opening, "a feed"},
        {open_a_source_twice, "a source"},
        {read_before_opening, "no layout"},
        {fill_the_disk, "temporary files"},
        {ask_the_daemon, "not the daemon's"},
        {be_done_too_early, "published nothing"},
        {babble, "malformed"},
        {be_oversized, "a message of"},
        {send_descriptors, "descriptors"},
        {leave, "ended too early"},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
        refused(state, rows[i].play, rows[i].why);
}

/* ---- processes ---- */

static const struct keeper_task nothing = {.source_count = 0};

static int say_no(struct reader *r, void *ctx, struct err *err)
{
    (void)r, (void)ctx;
    return err_set(err, ERR_DIGEST, "content differs");
}

static int differ(struct reader *r, void *ctx, struct err *err)
{
    (void)r, (void)ctx, (void)err;
    return 1;
}

static int open_a_file(struct reader *r, void *ctx, struct err *err)
{
    (void)r, (void)ctx;
    return open("/etc/passwd", O_RDONLY) < 0 ? err_set(err, ERR_POLICY, "landlock") : 0;
}

static int crash(struct reader *r, void *ctx, struct err *err)
{
    (void)r, (void)ctx, (void)err;
    signal(SIGSEGV, SIG_DFL);
    raise(SIGSEGV);
    return 0;
}

static int be_killed(struct reader *r, void *ctx, struct err *err)
{
    (void)r, (void)ctx, (void)err;
    abort();
}

static void test_ends(void **state)
{
    struct err err = ERR_INIT;

    (void)state;
    assert_int_equal(keeper_run(&nothing, differ, NULL, &err), 1);
    assert_fails(keeper_run(&nothing, say_no, NULL, &err), err, ERR_DIGEST);
    assert_string_equal(err.msg, "content differs");
    assert_fails(keeper_run(&nothing, be_killed, NULL, &err), err, ERR_SYSTEM);
    assert_contains(err.msg, "died of signal 6");
    assert_fails(keeper_run(&nothing, crash, NULL, &err), err, ERR_SYSTEM);
    assert_contains(err.msg, "died of signal 11");
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
    assert_int_equal(errno, ECHILD);
}

/* Without the list it is Landlock, where the kernel has it, that says no. */
static void test_sandboxed(void **state)
{
    struct err err = ERR_INIT;
    int rc = keeper_run(&nothing, open_a_file, NULL, &err);

    (void)state;
    if (!sandbox_has_list()) {
        if (rc == 0)
            skip();
        assert_string_equal(err.msg, "landlock");
        return;
    }
    assert_int_equal(rc, -1);
    assert_int_equal(err.kind, ERR_SYSTEM);
    assert_contains(err.msg, "a system call that its sandbox forbids");
}

#define act_test(f) cmocka_unit_test_setup_teardown(f, tempdir_make, tempdir_remove)

int main(void)
{
    const struct CMUnitTest tests[] = {
        act_test(test_honest),       act_test(test_published_once),    act_test(test_refused),
        cmocka_unit_test(test_ends), cmocka_unit_test(test_sandboxed),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
