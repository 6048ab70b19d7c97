/* Marks of a container that is ready, and the control groups of its processes. */
#include "tests/unit/lib/unit.h"

#include "shim/admin/monitor/ready/mark.h"
#include "shim/admin/monitor/ready/process.h"

#include <string.h>

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

UNIT_SUITE(test_ready)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_control_groups),
        cmocka_unit_test(test_logs),
        cmocka_unit_test(test_health),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
