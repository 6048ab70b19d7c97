/* Marks of a container that is ready, and the control groups of its processes. */
#include "tests/unit/lib/unit.h"

#include "shim/admin/monitor/ready/docker_health.h"
#include "shim/admin/monitor/ready/mark.h"
#include "shim/admin/monitor/ready/process.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#define ID "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

static void test_control_groups(void **state)
{
    static const char *const containers[] = {
        "1:cpu:/docker/" ID "\n",
        "0::/system.slice/docker-" ID ".scope\n",
        "2:pids:/\n1:cpu:/libpod_parent/libpod-" ID "\n",
        "0::/kubepods.slice/pod1.slice/cri-containerd-" ID ".scope\n",
    };
    static const char *const others[] = {
        "",
        "0::/\n",
        "0::/user.slice\n1:x:/a",
        "1:cpu:/libpod_parent/libpod-conmon-" ID "\n",
        "0::/machine.slice/libpod-conmon-" ID ".scope\n",
        "0::/docker/0123456789abcdef\n",
    };

    (void)state;
    for (size_t i = 0; i < sizeof(containers) / sizeof(*containers); i++) {
        const char *id = process_container(containers[i]);
        assert_non_null(id);
        assert_memory_equal(id, ID, strlen(ID));
    }
    for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++)
        assert_null(process_container(others[i]));
}

static enum mark_answer look(const char *log, const char *pattern, double *at)
{
    return mark_in_log(pattern, log, strlen(log), 1000, at);
}

static void test_logs(void **state)
{
    static const char json[] =
        "{\"log\":\"ready\\n\",\"stream\":\"stdout\",\"time\":\"1970-01-01T00:16:39.9Z\"}\n"
        "not a line\n"
        "{\"log\":\"not ready\\n\",\"time\":\"1970-01-01T00:16:41Z\"}\n"
        "{\"log\":\"ready\\n\",\"time\":\"1970-01-01T00:16:42.5Z\"}\n";
    static const char journal[] =
        "{\"MESSAGE\":\"ready\",\"__REALTIME_TIMESTAMP\":\"999900000\"}\n"
        "{\"MESSAGE\":[1,2],\"__REALTIME_TIMESTAMP\":\"1001000000\"}\n"
        "{\"MESSAGE\":\"ready\",\"__REALTIME_TIMESTAMP\":\"soon\"}\n"
        "{\"__CURSOR\":\"s=1\",\"MESSAGE\":\"ready\",\"__REALTIME_TIMESTAMP\":\"1003500000\"}\n";
    static const char plain[] = "1970-01-01T01:16:41.25+01:00 stdout F ready on port 80";
    double at = 0;

    (void)state;
    assert_int_equal(look(json, "^ready$", &at), MARK_SET);
    assert_true(at == 1002.5);
    assert_int_equal(look(json, "ready", &at), MARK_SET);
    assert_true(at == 1001);
    assert_int_equal(look(json, "^not a line", &at), MARK_MISSING);
    assert_int_equal(look(journal, "^ready$", &at), MARK_SET);
    assert_true(at == 1003.5);
    assert_int_equal(look(plain, "^ready on port [0-9]+$", &at), MARK_SET);
    assert_true(at == 1001.25);
    assert_int_equal(look(plain, "stdout", &at), MARK_MISSING);
    assert_int_equal(look("", "x", &at), MARK_MISSING);
    assert_int_equal(look(plain, "(", &at), MARK_UNKNOWN);
}

static enum mark_answer check(const char *text, double *at)
{
    struct err err = ERR_INIT;
    _cleanup_json_ struct json_doc *doc = json_parse(text, strlen(text), NULL, &err);

    assert_non_null(doc);
    return mark_of_health(json_root(doc), 1000, at);
}

#define CHECK(end, status) "{\"End\":\"" end "\",\"ExitCode\":" status "}"
#define GOOD               CHECK("1970-01-01T00:17:00Z", "0")
#define BAD                CHECK("1970-01-01T00:16:50Z", "1")

static void test_health(void **state)
{
    double at = 0;

    (void)state;
    assert_int_equal(check("{}", &at), MARK_UNKNOWN);
    assert_int_equal(check("{\"Log\":[]}", &at), MARK_MISSING);
    assert_int_equal(check("{\"Log\":[" BAD "]}", &at), MARK_MISSING);
    assert_int_equal(check("{\"Log\":[" BAD "," GOOD "]}", &at), MARK_SET);
    assert_true(at == 1020);
    assert_int_equal(check("{\"Log\":[" CHECK("1970-01-01T00:16:00Z", "0") "]}", &at),
                     MARK_MISSING);
    /* Docker keeps five checks: with a bad one first, the next is the first that succeeded. */
    assert_int_equal(check("{\"Log\":[" GOOD "," GOOD "," GOOD "," GOOD "," GOOD "]}", &at),
                     MARK_PASSED);
    assert_int_equal(check("{\"Log\":[" BAD "," GOOD "," GOOD "," GOOD "," GOOD "]}", &at),
                     MARK_SET);
    assert_int_equal(
        check("{\"log\":[{\"start\":\"\",\"end\":\"1970-01-01T00:17:00Z\",\"exitCode\":0}]}", &at),
        MARK_SET);
}

/* Answers one request at the socket as a daemon does, in a child. */
static pid_t serve(const char *path, const char *answer)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    char request[256];
    int server = socket(AF_UNIX, SOCK_STREAM, 0);

    snprintf(address.sun_path, sizeof(address.sun_path), "%s", path);
    unlink(path);
    assert_int_equal(bind(server, (struct sockaddr *)&address, sizeof(address)), 0);
    assert_int_equal(listen(server, 1), 0);
    pid_t pid = fork();
    if (pid == 0) {
        int client = accept(server, NULL, NULL);
        ssize_t n = read(client, request, sizeof(request) - 1);
        request[n > 0 ? n : 0] = '\0';
        bool right = strncmp(request, "GET /containers/" ID "/json HTTP/1.0\r\n", 95) == 0;
        _exit(right && write(client, answer, strlen(answer)) > 0 ? 0 : 1);
    }
    close(server);
    return pid;
}

/* True if the answer of a daemon was taken for a document. */
static bool is_taken(const char *path, const char *answer)
{
    pid_t pid = serve(path, answer);
    _cleanup_json_ struct json_doc *doc = docker_health_ask(ID);
    int status;

    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
    return doc != NULL;
}

static void test_a_daemon_is_asked(void **state)
{
    char dir[] = "/tmp/fb-ready.XXXXXX", path[64], host[80];

    (void)state;
    assert_non_null(mkdtemp(dir));
    snprintf(path, sizeof(path), "%s/s", dir);
    snprintf(host, sizeof(host), "unix://%s", path);
    setenv("DOCKER_HOST", host, 1);
    assert_null(docker_health_ask(ID)); /* nobody is there */
    assert_true(is_taken(path, "HTTP/1.0 200 OK\r\nA: b\r\n\r\n{\"State\":{}}"));
    assert_false(is_taken(path, "HTTP/1.0 404 Not Found\r\n\r\n{\"message\":\"no\"}"));
    assert_false(is_taken(path, "HTTP/1.0 200 OK\r\n\r\n{\"State\":"));
    assert_false(is_taken(path, "HTTP/1.0 200 OK\r\n"));
    assert_null(docker_health_ask("../images"));
    setenv("DOCKER_HOST", "tcp://127.0.0.1:1", 1);
    assert_null(docker_health_ask(ID));
    unsetenv("DOCKER_HOST");
    unlink(path);
    rmdir(dir);
}

UNIT_SUITE(test_ready)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_control_groups),
        cmocka_unit_test(test_logs),
        cmocka_unit_test(test_health),
        cmocka_unit_test(test_a_daemon_is_asked),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
