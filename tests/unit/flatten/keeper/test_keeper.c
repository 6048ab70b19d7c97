/*
 * The keeper against hostile readers. Each act is a process of its own that
 * speaks to it. The tests check the keeper's error, and the files afterwards.
 */
#include "flatten/keeper/keeper.h"

#include "base/fdio.h"
#include "flatten/wire/wire.h"
#include "tests/unit/lib/tempdir.h"
#include "tests/unit/lib/unit.h"
#include "tests/unit/lib/wire_requests.h"

#include <dirent.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

typedef void act(int socket);

/* The requests of the command line; the source is a layout. */
static enum transport destination_kind = TRANSPORT_OCI;
static bool all_images;

/* Sends it. Exits with 99 if the keeper does not accept it. */
static void say(int socket, const struct wire_request *request)
{
    _cleanup_buf_ struct buf message = BUF_INIT;
    struct err err = ERR_INIT;

    wire_encode_request(request, &message);
    if (wire_send(socket, &message, -1, &err) < 0)
        _exit(99);
}

/* Sends a request. Returns the descriptor of the reply, or -1. Exits with 98 if it is refused. */
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
    const struct reference destination = {.transport = destination_kind, .path = to};
    const struct keeper_task task = {.sources = &source,
                                     .source_count = 1,
                                     .destination = &destination,
                                     .all_images = all_images};
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
    enum keeper_published published;
    int rc = keeper_serve(&task, pair[0], &published, err);
    close(pair[0]);
    assert_int_equal(waitpid(pid, ended, 0), pid);
    const char *made = destination_kind == TRANSPORT_OCI ? "to/index.json" : "to";
    assert_int_equal(faccessat(dir->fd, made, F_OK, 0), published == PUBLISHED_YES ? 0 : -1);
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

/* Asserts that the act is refused with this message, and that only the source is left. */
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

/* ---- one valid image ---- */

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
                                 .image = {.name = "v1",
                                           .config = blob_of("{}"),
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
    (void)plainly(socket, WIRE_PUBLISH);
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
    say(socket, &(struct wire_request){.op = WIRE_PUBLISH});
}

/* The first stays: it was valid. */
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

static void name_index(int socket)
{
    (void)ask(socket, &(struct wire_request){.op = WIRE_IMAGE,
                                             .image = {.name = "all",
                                                       .manifest = blob_of("{\"manifests\":[]}"),
                                                       .is_index = true}});
}

static void publish_an_index_of_nothing(int socket)
{
    (void)plainly(socket, WIRE_SINK);
    name_index(socket);
    say(socket, &(struct wire_request){.op = WIRE_PUBLISH});
}

static void make_inner(int socket)
{
    (void)plainly(socket, WIRE_SINK);
    const struct written_layer layer = write_layer(socket);
    struct wire_request image = image_of(&layer);
    image.image.inner = true;
    (void)ask(socket, &image);
}

static void publish_what_no_index_names(int socket)
{
    make_inner(socket);
    say(socket, &(struct wire_request){.op = WIRE_PUBLISH});
}

static void publish_an_index(int socket)
{
    make_inner(socket);
    name_index(socket);
    say(socket, &(struct wire_request){.op = WIRE_PUBLISH});
}

static void publish_an_index_and_more(int socket)
{
    make_inner(socket);
    name_index(socket);
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

static void begin_beside_nothing(int socket)
{
    (void)plainly(socket, WIRE_SINK);
    say(socket, &(struct wire_request){.op = WIRE_BEGIN, .number = WIRE_BESIDE});
}

/* As many as fit are begun side by side, then one more. */
static void begin_too_many(int socket)
{
    const struct wire_request beside = {.op = WIRE_BEGIN, .number = WIRE_BESIDE};

    (void)plainly(socket, WIRE_SINK);
    (void)plainly(socket, WIRE_BEGIN);
    for (int i = 0; i < SINK_MOST_BESIDE; i++)
        (void)ask(socket, &beside);
    say(socket, &beside);
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
    (void)plainly(socket, WIRE_SPOOL); /* an archive may need one, the unpacker more, carving one */
    for (unsigned i = 0; i < KEEPER_UNPACK_FILES + KEEPER_SPOOLS; i++)
        (void)plainly(socket, WIRE_SPOOL);
    say(socket, &(struct wire_request){.op = WIRE_SPOOL});
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
        {publish_an_index_of_nothing, "what the destination can hold"},
        {publish_what_no_index_names, "what the destination can hold"},
        {publish_an_index_and_more, "what the destination can hold"},
        {publish_early, "nothing to publish"},
        {end_what_was_not_begun, "not begun"},
        {begin_beside_nothing, "too many layers"},
        {begin_too_many, "too many layers"},
        {begin_nowhere, "no destination"},
        {open_two_sinks, "a destination"},
        {name_a_layer_that_is_not_there, "not written"},
        {lie_about_a_manifest, "digest"},
        {read_another_source, "a source"},
        {open_a_source_twice, "a source"},
        {read_before_opening, "no layout"},
        {fill_the_disk, "temporary files"},
        {ask_the_daemon, "in no engine"},
        {be_done_too_early, "published nothing"},
        {babble, "malformed"},
        {be_oversized, "a message of"},
        {send_descriptors, "descriptors"},
        {leave, "ended too early"},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
        refused(state, rows[i].play, rows[i].why);
}

/* Each of these is valid for one command line, and not for another. */
static void publish_several(int socket)
{
    make_inner(socket);
    name_index(socket);
    const struct written_layer layer = write_layer(socket);
    struct wire_request image = image_of(&layer);
    (void)ask(socket, &image);
    image.image.name = "one:v2";
    (void)ask(socket, &image);
    publish(socket);
    finish(socket);
}

static void test_several(void **state)
{
    const struct tempdir *dir = *state;
    _cleanup_buf_ struct buf index = BUF_INIT;
    struct err err;
    int ended;

    refused(state, publish_an_index_and_more, "what the destination can hold");
    all_images = true;
    assert_works(serve(dir, publish_several, &ended, &err), err);
    all_images = false;
    assert_int_equal(ended, 0);
    assert_works(file_read(dir->fd, "to/index.json", 1 << 20, &index, &err), err);
    assert_contains(index.data, "ref.name\":\"all\"");
    assert_contains(index.data, "ref.name\":\"v1\"");
    assert_contains(index.data,
                    "ref.name\":\"one:v2\""); /* the whole name: "v2" could match another */
}

static void test_no_index_in_an_archive_of_dockers(void **state)
{
    destination_kind = TRANSPORT_DOCKER_ARCHIVE;
    all_images = true;
    refused(state, publish_an_index, "what the destination can hold");
    destination_kind = TRANSPORT_OCI;
    all_images = false;
}

#define act_test(f) cmocka_unit_test_setup_teardown(f, tempdir_make, tempdir_remove)

UNIT_SUITE(test_keeper)
{
    const struct CMUnitTest tests[] = {
        act_test(test_honest),
        act_test(test_published_once),
        act_test(test_refused),
        act_test(test_several),
        act_test(test_no_index_in_an_archive_of_dockers),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
