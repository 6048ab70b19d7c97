/* HTTP against a scripted peer; URLs and headers as values. */
#include "flatten/keeper/http/http.h"
#include "tests/unit/lib/unit.h"

#include <netinet/in.h>
#include <pthread.h>
#include <signal.h>
#include <sys/socket.h>

/* ---- the peer ---- */

struct peer {
    int listener;
    char url[64];
    const char *reply; /* sent as soon as a request has come */
    size_t times;      /* how often it is sent */
    bool hold;         /* the connection stays open then */
    struct http_reach *reach;
    char request[4096];
    pthread_t thread;
};

static void *serve(void *ctx)
{
    struct peer *p = ctx;
    char rest[4096];
    int fd = accept(p->listener, NULL, NULL);
    ssize_t got = fd < 0 ? 0 : read(fd, p->request, sizeof(p->request) - 1);

    for (size_t i = 0; got > 0 && i < p->times; i++)
        if (write(fd, p->reply, strlen(p->reply)) < 0)
            break;
    shutdown(fd, p->hold ? SHUT_RD : SHUT_WR);
    while (fd >= 0 && !p->hold && read(fd, rest, sizeof(rest)) > 0)
        ;
    if (p->hold) /* until the test closes the listener */
        (void)!accept(p->listener, NULL, NULL);
    close(fd);
    return NULL;
}

static void peer_start(struct peer *p)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
    socklen_t len = sizeof(address);

    p->listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(bind(p->listener, (struct sockaddr *)&address, len), 0);
    assert_int_equal(listen(p->listener, 4), 0);
    assert_int_equal(getsockname(p->listener, (struct sockaddr *)&address, &len), 0);
    snprintf(p->url, sizeof(p->url), "http://127.0.0.1:%u/x", ntohs(address.sin_port));
    assert_int_equal(pthread_create(&p->thread, NULL, serve, p), 0);
}

static void peer_stop(struct peer *p)
{
    shutdown(p->listener, SHUT_RDWR);
    pthread_join(p->thread, NULL);
    close(p->listener);
}

static int take(void *ctx, const char *data, size_t len, struct err *err)
{
    struct buf *out = ctx;

    (void)err;
    buf_append(out, data, len);
    return 0;
}

/* Sends a request to a peer with these replies. */
static int ask(struct peer *p, struct http_request *request, struct http_reply *reply,
               struct buf *body, struct err *err)
{
    const struct http_options options = {.reach = p->reach};
    _cleanup_http_ struct http *h = http_new(&options, err);

    assert_non_null(h);
    p->times = p->times ? p->times : 1;
    peer_start(p);
    request->url = p->url;
    request->take = take;
    request->ctx = body;
    int rc = http_perform(h, request, reply, err);
    cleanup_http(&h); /* otherwise the peer waits for more */
    h = NULL;
    peer_stop(p);
    return rc;
}

#define ASK(peer_, ...)                                                                            \
    _cleanup_http_reply_ struct http_reply reply = {0};                                            \
    _cleanup_buf_ struct buf body = BUF_INIT;                                                      \
    struct http_request request = {__VA_ARGS__};                                                   \
    struct err err = ERR_INIT;                                                                     \
    int rc = ask(peer_, &request, &reply, &body, &err)

/* ---- replies ---- */

static void test_success(void **state)
{
    struct peer p = {.reply = "HTTP/1.1 200 OK\r\nContent-Length: 3\r\nX-A:  b \r\n\r\nabc"};
    static const char *const headers[] = {"X-Mine: 1", NULL};
    size_t len;
    ASK(&p, .method = "GET", .headers = headers);

    (void)state;
    assert_works(rc, err);
    assert_int_equal(reply.status, 200);
    assert_string_equal(body.data, "abc");
    assert_int_equal(reply.refusal.len, 0);
    const char *value = http_header(&reply, "x-a", 0, &len);
    assert_non_null(value);
    assert_int_equal(len, 1);
    assert_null(http_header(&reply, "X-A", 1, &len));
    assert_contains(p.request, "X-Mine: 1\r\n");
}

static void test_refusal(void **state)
{
    struct peer p = {.reply = "HTTP/1.1 404 No\r\nContent-Length: 3\r\n\r\nabc"};
    ASK(&p, .method = "GET");

    (void)state;
    assert_works(rc, err);
    assert_int_equal(reply.status, 404);
    assert_int_equal(body.len, 0);
    assert_string_equal(reply.refusal.data, "abc");
}

static void test_upload(void **state)
{
    struct peer p = {.reply = "HTTP/1.1 201 Made\r\nContent-Length: 0\r\n\r\n"};
    const struct http_body content = {.data = "hello", .size = 5};
    ASK(&p, .method = "PUT", .body = &content);

    (void)state;
    assert_works(rc, err);
    assert_int_equal(reply.status, 201);
    assert_contains(p.request, "PUT /x HTTP/1.1\r\n");
    assert_contains(p.request, "Content-Length: 5\r\n");
}

static void test_truncated(void **state)
{
    struct peer p = {.reply = "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc"};
    ASK(&p, .method = "GET");

    (void)state;
    assert_fails(rc, err, ERR_SYSTEM);
    assert_int_equal(reply.failure, HTTP_BROKEN);
    assert_string_equal(body.data, "abc");
}

static void test_chunks_without_an_end(void **state)
{
    struct peer p = {.reply = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n"};
    ASK(&p, .method = "GET");

    (void)state;
    assert_fails(rc, err, ERR_SYSTEM);
    assert_int_equal(reply.failure, HTTP_BROKEN);
}

/* A slow trickle of bytes must time out. */
static void test_stalled(void **state)
{
    struct peer p = {.reply = "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc", .hold = true};
    ASK(&p, .method = "GET", .stall_seconds = 1);

    (void)state;
    assert_fails(rc, err, ERR_SYSTEM);
    assert_int_equal(reply.failure, HTTP_BROKEN);
}

static void test_endless_interim_replies(void **state)
{
    struct peer p = {.reply = "HTTP/1.1 103 Wait\r\nX-Filler: aaaaaaaaaaaaaaaaaaaaaaaaaaaa\r\n\r\n",
                     .times = 100000};
    ASK(&p, .method = "GET");

    (void)state;
    assert_fails(rc, err, ERR_LIMIT);
    assert_int_equal(reply.failure, HTTP_GAVE_UP);
}

static void test_not_http(void **state)
{
    struct peer p = {.reply = "SSH-2.0-OpenSSH\r\n"};
    ASK(&p, .method = "GET");

    (void)state;
    assert_fails(rc, err, ERR_SYSTEM);
    assert_int_equal(body.len, 0);
}

static void test_nobody_listens(void **state)
{
    static const struct http_options options = {0};
    struct err err = ERR_INIT;
    _cleanup_http_ struct http *h = http_new(&options, &err);
    _cleanup_http_reply_ struct http_reply reply = {0};
    const struct http_request request = {.method = "GET", .url = "http://127.0.0.1:1/"};

    (void)state;
    assert_fails(http_perform(h, &request, &reply, &err), err, ERR_SYSTEM);
    assert_int_equal(reply.failure, HTTP_NO_CONNECT);
    assert_int_equal(reply.sys, ECONNREFUSED);
}

static void test_line_breaks_are_not_sent(void **state)
{
    static const struct http_options options = {0};
    static const char *const headers[] = {"X: a\r\nY: b", NULL};
    struct err err = ERR_INIT;
    _cleanup_http_ struct http *h = http_new(&options, &err);
    _cleanup_http_reply_ struct http_reply reply = {0};
    struct http_request request = {
        .method = "GET", .url = "http://127.0.0.1:1/", .headers = headers};

    (void)state;
    assert_fails(http_perform(h, &request, &reply, &err), err, ERR_FORMAT);
    request.headers = NULL;
    request.url = "http://127.0.0.1:1/\r\nX: y";
    assert_fails(http_perform(h, &request, &reply, &err), err, ERR_FORMAT);
    request.url = "file:///etc/passwd";
    assert_fails(http_perform(h, &request, &reply, &err), err, ERR_SYSTEM);
    request.url = "https://127.0.0.1:1/"; /* without the option tls */
    assert_fails(http_perform(h, &request, &reply, &err), err, ERR_SYSTEM);
    assert_int_equal(reply.failure, HTTP_FAILED);
}

/* ---- places ---- */

static const char fine[] = "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabc";

static void test_the_first_connection_settles_the_place(void **state)
{
    struct http_reach reach = {0};
    struct peer p = {.reply = fine, .reach = &reach}, again = p;

    (void)state;
    {
        ASK(&p, .method = "GET");
        assert_works(rc, err);
    }
    assert_true(reach.settled);
    assert_int_equal(reach.place, HTTP_LOOPBACK);
    ASK(&again, .method = "GET", .loopback_only = true);
    assert_works(rc, err);
}

/* Makes a request to a listener, and returns true if it got a connection. */
static bool reaches(const char *host, struct http_reach *reach, bool loopback_only, struct err *err)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
    const struct http_options options = {.reach = reach};
    _cleanup_http_ struct http *h = http_new(&options, err);
    _cleanup_http_reply_ struct http_reply reply = {0};
    socklen_t len = sizeof(address);
    char url[64];
    int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

    assert_non_null(h);
    assert_int_equal(bind(listener, (struct sockaddr *)&address, len), 0);
    assert_int_equal(listen(listener, 4), 0);
    assert_int_equal(getsockname(listener, (struct sockaddr *)&address, &len), 0);
    snprintf(url, sizeof(url), "http://%s:%u/x", host, ntohs(address.sin_port));
    const struct http_request request = {
        .method = "GET", .url = url, .timeout_seconds = 1, .loopback_only = loopback_only};
    assert_fails(http_perform(h, &request, &reply, err), *err, ERR_SYSTEM);
    int fd = accept(listener, NULL, NULL);
    if (fd >= 0)
        close(fd);
    close(listener);
    return fd >= 0;
}

static void test_other_places_are_not_reached(void **state)
{
    static const char *const hosts[] = {"127.0.0.1", "localhost", "2130706433",        "127.1",
                                        "0",         "[::]",      "[::ffff:127.0.0.1]"};
    struct http_reach elsewhere = {.settled = true}, near = {true, HTTP_LINK_LOCAL},
                      here = {true, HTTP_LOOPBACK};
    struct err err = ERR_INIT;

    (void)state;
    for (size_t i = 0; i < sizeof(hosts) / sizeof(*hosts); i++) {
        assert_false(reaches(hosts[i], &elsewhere, false, &err));
        assert_contains(err.msg, "an address of this host or its link");
        assert_false(reaches(hosts[i], &near, false, &err));
    }
    assert_true(reaches("127.0.0.1", &here, false, &err)); /* and gets no reply in time */
}

static void test_link_local_addresses_are_not_reached(void **state)
{
    struct http_reach here = {true, HTTP_LOOPBACK}, fresh = {0};
    struct err err = ERR_INIT;

    (void)state;
    assert_false(reaches("169.254.169.254", &here, false, &err));
    assert_contains(err.msg, "169.254.169.254");
    assert_false(reaches("169.254.169.254", &fresh, true, &err));
    assert_contains(err.msg, "--insecure");
    assert_false(fresh.settled);
}

/* ---- URLs ---- */

static void check_join(const char *base, const char *location, const char *expected)
{
    struct err err = ERR_INIT;
    _cleanup_free_ char *joined = http_url_join(base, location, &err);

    assert_string_equal(joined ? joined : "-", expected);
}

static void test_url_join(void **state)
{
    (void)state;
    check_join("https://a.org/v2/x", "/y?z=1", "https://a.org/y?z=1");
    check_join("https://a.org:5000/v2/x", "y", "https://a.org:5000/v2/y");
    check_join("https://a.org/v2/x", "//b.org/y", "https://b.org/y");
    check_join("https://a.org/v2/x", "http://b.org:81/y?a=b%2Fc#f", "http://b.org:81/y?a=b%2Fc");
    check_join("https://a.org/v2/x", "ftp://b.org/y", "-");
    check_join("https://a.org/v2/x", "file:///etc/passwd", "-");
    check_join("https://a.org/v2/x", "https://", "-");
    check_join(NULL, "https://a.org/y#f", "https://a.org/y");
    check_join(NULL, "//a.org/y", "-");
    check_join(NULL, "/y", "-");
    check_join(NULL, "a.org/y", "-");
}

/* Locations that parsers read differently, or that carry a user. */
static void test_url_of_two_readings(void **state)
{
    static const char *const bad[] = {
        "http://localhost\\@2130706434:1/",
        "http://localhost\\.a.org/",
        "http://user@a.org/",
        "http://user:word@a.org/",
        "//user@a.org/",
        "http://@a.org/",
        "http://\u24d5localhost/",
        "http://%e2%93%9blocalhost/",
        "http://a.org:99999/",
        "http://a b/",
        "http://[::1/",
        "https:\\\\a.org/",
    };

    (void)state;
    for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
        check_join("https://a.org/v2/x", bad[i], "-");
}

static void test_same_origin(void **state)
{
    (void)state;
    assert_true(http_same_origin("https://a.org/x", "https://A.org:443/y"));
    assert_true(http_same_origin("http://a.org:80", "http://a.org/y"));
    assert_false(http_same_origin("https://a.org", "http://a.org"));
    assert_false(http_same_origin("https://a.org", "https://b.a.org"));
    assert_false(http_same_origin("https://a.org", "https://a.org:444"));
    assert_false(http_same_origin("https://a.org", "https://a.org.evil/"));
    assert_false(http_same_origin("https://a.org", "https://a.org@evil/"));
    assert_false(http_same_origin("https://[fe80::1]/", "https://[fe80::1%25lo]/"));
    assert_false(http_same_origin("", ""));
}

static void test_escaped(void **state)
{
    _cleanup_buf_ struct buf out = BUF_INIT;

    (void)state;
    http_put_escaped(&out, "a-Z_0.~/: \r\n\xff%+&=");
    assert_string_equal(out.data, "a-Z_0.~%2F%3A%20%0D%0A%FF%25%2B%26%3D");
}

UNIT_SUITE(test_http)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_success),
        cmocka_unit_test(test_refusal),
        cmocka_unit_test(test_upload),
        cmocka_unit_test(test_truncated),
        cmocka_unit_test(test_chunks_without_an_end),
        cmocka_unit_test(test_stalled),
        cmocka_unit_test(test_endless_interim_replies),
        cmocka_unit_test(test_not_http),
        cmocka_unit_test(test_nobody_listens),
        cmocka_unit_test(test_line_breaks_are_not_sent),
        cmocka_unit_test(test_the_first_connection_settles_the_place),
        cmocka_unit_test(test_other_places_are_not_reached),
        cmocka_unit_test(test_link_local_addresses_are_not_reached),
        cmocka_unit_test(test_url_join),
        cmocka_unit_test(test_url_of_two_readings),
        cmocka_unit_test(test_same_origin),
        cmocka_unit_test(test_escaped),
    };

    signal(SIGPIPE, SIG_IGN);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
