/* "tuning" before planning: sizes, limits of a container, the policy's section, requests. */
#include "tests/unit/lib/shim_unit.h"

#include "base/size.h"
#include "shim/gather/limits.h"
#include "shim/gather/tuning.h"
#include "shim/request/request.h"

#include <sched.h>
#include <sys/resource.h>

static const uint64_t gib = (uint64_t)1 << 30;

/* ---- sizes ---- */

static void test_sizes(void **state)
{
    static const struct {
        const char *text;
        uint64_t bytes;
    } rows[] = {
        {"0", 0},
        {"65537", 65537},
        {"65536k", (uint64_t)64 << 20},
        {"64m", (uint64_t)64 << 20},
        {"64Mi", (uint64_t)64 << 20},
        {"8g", (uint64_t)8 << 30},
        {"8GI", (uint64_t)8 << 30},
        {"2t", (uint64_t)2 << 40},
        {"8388607t", (uint64_t)8388607 << 40},
        {"9223372036854775807", INT64_MAX},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        uint64_t bytes = 1;
        assert_true(size_parse(rows[i].text, &bytes));
        assert_int_equal(bytes, rows[i].bytes);
    }
}

static void test_no_sizes(void **state)
{
    static const char *const rows[] = {"",
                                       "g",
                                       "8 g",
                                       " 8g",
                                       "8gb",
                                       "8q",
                                       "-1",
                                       "+1",
                                       "1.5g",
                                       "8i",
                                       "8gi ",
                                       "0x10",
                                       "8e3",
                                       "8%",
                                       "8kk",
                                       "8388608t",
                                       "9223372036854775808",
                                       "99999999999999999999999"};

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        uint64_t bytes;
        if (size_parse(rows[i], &bytes))
            fail_msg("'%s' is taken for a size", rows[i]);
    }
}

static void test_sizes_in_words(void **state)
{
    static const struct {
        uint64_t bytes;
        const char *text;
    } rows[] = {
        {0, "0"},
        {1023, "1023"},
        {1024, "1k"},
        {65537, "65537"},
        {(uint64_t)64 << 20, "64m"},
        {(uint64_t)1536 << 20, "1536m"},
        {(uint64_t)8 << 30, "8g"},
        {(uint64_t)4096 << 40, "4096t"},
        {UINT64_MAX, "unlimited"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        _cleanup_buf_ struct buf out = BUF_INIT;
        size_print(rows[i].bytes, &out);
        assert_string_equal(out.data, rows[i].text);
    }
}

/* ---- limits ---- */

static void test_lists_of_cpus(void **state)
{
    static const struct {
        const char *list;
        uint64_t count;
    } rows[] = {
        {"0", 1},
        {"0-3", 4},
        {"0-3,8,10-11", 7},
        {"0-3,2-5", 6},
        {"8191", 1},
        {"0-8191", 8192},
        {"7,7,7", 1},
        {"", 0},
        {"0-", 0},
        {"-3", 0},
        {"3-0", 0},
        {"0,", 0},
        {",0", 0},
        {"8192", 0},
        {"0-8192", 0},
        {"0 - 3", 0},
        {"a", 0},
        {"0-3\n", 0},
        {"0-3-5", 0},
        {"0-99999999999", 0},
        {"18446744073709551616", 0},
        {"1:2", 0},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
        if (limits_count_cpus(rows[i].list) != rows[i].count)
            fail_msg("'%s' is not %u", rows[i].list, (unsigned)rows[i].count);
}

/* A long list that repeats all CPUs is refused early. */
static void test_endless_list_of_cpus(void **state)
{
    _cleanup_buf_ struct buf list = BUF_INIT;

    (void)state;
    buf_puts(&list, "0-8191");
    for (int i = 0; i < 7000; i++)
        buf_puts(&list, ",0-8191");
    assert_int_equal(limits_count_cpus(list.data), 8192);
    for (int i = 0; i < 100; i++)
        buf_puts(&list, ",0-8191");
    assert_int_equal(limits_count_cpus(list.data), 0);
}

#define V1(quota, period) "\"cpu\":{\"quota\":" quota ",\"period\":" period "}"
#define V2(member)        "\"unified\":{" member "}"

static void test_limits(void **state)
{
    static const struct {
        const char *resources;
        uint64_t memory, quota_cpus, set_cpus;
    } rows[] = {
        {"", 0, 0, 0},
        {"\"memory\":{\"limit\":1073741824}", 1073741824, 0, 0},
        {"\"memory\":{\"limit\":-1}", 0, 0, 0},
        {"\"memory\":{\"limit\":0}", 0, 0, 0},
        {"\"memory\":{\"limit\":null}", 0, 0, 0},
        {"\"memory\":{\"limit\":\"1g\"}", 0, 0, 0},
        {"\"memory\":[],\"cpu\":7,\"unified\":[]", 0, 0, 0},
        {V1("400000", "100000"), 0, 4, 0},
        {V1("150000", "100000"), 0, 1, 0},
        {V1("199999", "100000"), 0, 1, 0},
        {V1("50000", "100000"), 0, 1, 0},
        {V1("250000", "0"), 0, 2, 0},
        {V1("20000", "10000"), 0, 2, 0},
        {V1("-1", "100000"), 0, 0, 0},
        {V1("0", "100000"), 0, 0, 0},
        {"\"cpu\":{\"quota\":300000}", 0, 3, 0},
        {"\"cpu\":{\"cpus\":\"0-3,8\"}", 0, 0, 5},
        {"\"cpu\":{\"cpus\":\"\"}", 0, 0, 0},
        {V2("\"memory.max\":\"2147483648\""), 2147483648, 0, 0},
        {V2("\"memory.max\":\"max\""), 0, 0, 0},
        {V2("\"memory.max\":\"99999999999999999999\""), 0, 0, 0},
        {V2("\"cpu.max\":\"200000 100000\""), 0, 2, 0},
        {V2("\"cpu.max\":\"300000\""), 0, 3, 0},
        {V2("\"cpu.max\":\"max 100000\""), 0, 0, 0},
        {V2("\"cpu.max\":\"200000 100000 x\""), 0, 0, 0},
        {V2("\"cpuset.cpus\":\"4-7\""), 0, 0, 4},
        {V1("800000", "100000") "," V2("\"cpu.max\":\"200000 100000\""), 0, 2, 0},
        {V1("200000", "100000") "," V2("\"cpu.max\":\"800000 100000\""), 0, 2, 0},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        _cleanup_arena_ struct arena arena = {0};
        _cleanup_free_ char *config = strf("{\"linux\":{\"resources\":{%s}}}", rows[i].resources);
        _cleanup_json_ struct json_doc *doc = shim_document(config);
        struct container_limits limits;
        struct err err = ERR_INIT;
        struct spec spec;
        assert_works(spec_read(doc, &arena, &spec, &err), err);
        limits_read(&spec, &limits);
        if (limits.memory != rows[i].memory || limits.quota_cpus != rows[i].quota_cpus ||
            limits.set_cpus != rows[i].set_cpus)
            fail_msg("%s: %llu, %llu, %llu", config, (unsigned long long)limits.memory,
                     (unsigned long long)limits.quota_cpus, (unsigned long long)limits.set_cpus);
    }
}

/* ---- the host ---- */

static void test_this_process(void **state)
{
    struct tuning_facts facts;
    struct rlimit nofile;
    cpu_set_t one;

    (void)state;
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &nofile), 0);
    CPU_ZERO(&one);
    CPU_SET(sched_getcpu(), &one);
    assert_int_equal(sched_setaffinity(0, sizeof(one), &one), 0);
    tuning_gather(&facts);
    assert_int_equal(facts.cpus, 1);
    assert_true(facts.memory > 64 * 1024 * 1024);
    assert_int_equal(facts.limits[TUNING_NOFILE].soft, nofile.rlim_cur);
    assert_int_equal(facts.limits[TUNING_NOFILE].hard, nofile.rlim_max);
    assert_true(facts.files >= 1024);
}

/* ---- the policy ---- */

static void test_policy(void **state)
{
    _cleanup_policy_ struct policy *p = shim_policy(
        "\"tuning\":{\"shm_size\":{\"default\":\"50%\",\"max\":\"16g\"},\"memlock\":\"unlimited\","
        "\"nofile\":1048576,\"stack\":\"16m\",\"threads\":true,\"workers\":\"75%\","
        "\"worker_memory\":\"2g\"}");
    const struct policy_tuning *t = &p->tuning;

    (void)state;
    assert_true(t->given);
    assert_true(t->of[TUNING_SHM].value.share);
    assert_int_equal(t->of[TUNING_SHM].value.number, 50);
    assert_false(t->of[TUNING_SHM].most.share);
    assert_int_equal(t->of[TUNING_SHM].most.number, 16 * gib);
    assert_int_equal(t->of[TUNING_MEMLOCK].value.number, UINT64_MAX);
    assert_false(t->of[TUNING_MEMLOCK].most.given);
    assert_int_equal(t->of[TUNING_NOFILE].value.number, 1048576);
    assert_int_equal(t->of[TUNING_STACK].value.number, 16 << 20);
    assert_true(t->threads);
    assert_int_equal(t->of[TUNING_WORKERS].value.number, 75);
    assert_int_equal(t->worker_memory, 2 * gib);
}

static void test_later_files(void **state)
{
    struct err err = ERR_INIT;
    _cleanup_policy_ struct policy *p = policy_new(&err);

    (void)state;
    assert_works(shim_add_text(p, "a.json",
                               "{\"version\":1,\"tuning\":{\"shm_size\":\"2g\",\"workers\":4,"
                               "\"memlock\":{\"default\":\"1g\",\"max\":\"2g\"},\"nofile\":9}}",
                               &err),
                 err);
    assert_works(shim_add_text(p, "b.json",
                               "{\"version\":1,\"tuning\":{\"shm_size\":{\"max\":\"4g\"},"
                               "\"workers\":false,\"memlock\":\"3g\"}}",
                               &err),
                 err);
    assert_works(policy_decode(p, &err), err);
    assert_int_equal(p->tuning.of[TUNING_SHM].value.number, 2 * gib);
    assert_int_equal(p->tuning.of[TUNING_SHM].most.number, 4 * gib);
    assert_false(p->tuning.of[TUNING_WORKERS].value.given);
    assert_int_equal(p->tuning.of[TUNING_MEMLOCK].value.number, 3 * gib);
    assert_false(p->tuning.of[TUNING_MEMLOCK].most.given);
    assert_int_equal(p->tuning.of[TUNING_NOFILE].value.number, 9);
}

#define TUNING(text) "{\"version\":1,\"tuning\":{" text "}}"

static void test_errors(void **state)
{
    static const struct {
        const char *text, *message;
    } rows[] = {
        {TUNING("\"shm\":\"1g\""), "p.json:1:24: unknown key \"shm\""},
        {TUNING("\"shm_sise\":\"1g\""), "did you mean \"shm_size\"?"},
        {TUNING("\"shm_size\":\"1q\""), "p.json:1:35: '1q': expected a size such as \"8g\""},
        {TUNING("\"shm_size\":\"0%\""), "'0%': expected a size"},
        {TUNING("\"shm_size\":\"101%\""), "'101%': expected"},
        {TUNING("\"shm_size\":\"%\""), "'%': expected"},
        {TUNING("\"shm_size\":\"0\""), "'0': expected"},
        {TUNING("\"shm_size\":\"unlimited\""), "'unlimited': expected"},
        {TUNING("\"shm_size\":true"), "expected a size"},
        {TUNING("\"shm_size\":[]"), "expected a size"},
        {TUNING("\"shm_size\":{\"maximum\":1}"), "unknown key \"maximum\""},
        {TUNING("\"shm_size\":{\"default\":\"8g\",\"max\":\"4g\"}"),
         "p.json:1:35: the default is more than the maximum"},
        {TUNING("\"shm_size\":{\"default\":\"80%\",\"max\":\"60%\"}"), "more than the maximum"},
        {TUNING("\"memlock\":\"50%\""), "expected a size such as \"512m\", \"unlimited\""},
        {TUNING("\"nofile\":\"many\""), "'many': expected a number"},
        {TUNING("\"nofile\":\"1024\""), "expected a number"},
        {TUNING("\"nofile\":0"), "expected a number"},
        {TUNING("\"nofile\":-1"), "expected a number"},
        {TUNING("\"nofile\":1.5"), "expected a number"},
        {TUNING("\"nofile\":18446744073709551615"), "expected a number"},
        {TUNING("\"nofile\":{\"max\":9}"), "unknown key \"max\""},
        {TUNING("\"workers\":\"4\""), "'4': expected a number, a share of the CPUs"},
        {TUNING("\"threads\":\"yes\""), "expected true or false, not a string"},
        {TUNING("\"worker_memory\":\"x\""), "'x': expected a size"},
        {"{\"version\":1,\"tuning\":[]}", "expected an object"},
        {"{\"version\":1,\"rootfs\":{\"max_depth\":0}}",
         "0: expected a number of layers, 1 to 500"},
        {"{\"version\":1,\"rootfs\":{\"max_depth\":501}}", "expected a number of layers"},
        {"{\"version\":1,\"rootfs\":{\"max_dept\":5}}", "did you mean \"max_depth\"?"},
        {"{\"version\":1,\"rootfs\":{\"beyond\":\"allow\"}}",
         "expected one of warn, deny, restack"},
        {"{\"version\":1,\"rootfs\":{\"cache\":\"restack\"}}",
         "'restack' is not a clean absolute path"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        struct err err = shim_policy_error(rows[i].text);
        if (!strstr(err.msg, rows[i].message))
            fail_msg("%s: '%s' instead of '%s'", rows[i].text, err.msg, rows[i].message);
        assert_int_equal(err.kind, ERR_POLICY);
    }
}

/* ---- requests ---- */

static void test_requests(void **state)
{
    static const char config[] =
        "{\"annotations\":{\"flatbed.shm\":\"8g\"},"
        "\"process\":{\"env\":[\"FLATBED_SHM=1g\",\"FLATBED_MEMLOCK=unlimited\","
        "\"FLATBED_WORKERS=9\"]},"
        "\"mounts\":[{\"destination\":\"/run/flatbed/request/shm/2g\",\"source\":\"/dev/null\","
        "\"type\":\"bind\"},{\"destination\":\"/run/flatbed/request/workers/3\","
        "\"source\":\"/dev/null\",\"type\":\"bind\"}]}";
    static const struct {
        const char *carriers;
        uint64_t shm, memlock, workers;
        size_t mounts;
    } rows[] = {
        {"\"annotations\"", 8 * (uint64_t)1073741824, 0, 0, 0},
        {"\"environment\"", 1073741824, UINT64_MAX, 0, 0},
        {"\"mounts\"", 2147483648, 0, 3, 2},
        {"\"mounts\",\"annotations\",\"environment\"", 2147483648, UINT64_MAX, 3, 2},
        {"\"annotations\",\"mounts\"", 8 * (uint64_t)1073741824, 0, 3, 2},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        _cleanup_arena_ struct arena arena = {0};
        _cleanup_free_ char *sections = strf(
            "\"requests\":[%s],\"tuning\":{\"shm_size\":\"8g\",\"memlock\":{\"max\":\"unlimited\"},"
            "\"workers\":4}",
            rows[i].carriers);
        _cleanup_policy_ struct policy *policy = shim_policy(sections);
        _cleanup_json_ struct json_doc *doc = shim_document(config);
        struct requests requests;
        struct err err = ERR_INIT;
        struct spec spec;
        assert_works(spec_read(doc, &arena, &spec, &err), err);
        assert_works(requests_read(policy, &spec, &arena, &requests, &err), err);
        assert_int_equal(requests.count, 0);
        assert_int_equal(requests.tuning[TUNING_SHM].amount, rows[i].shm);
        assert_int_equal(requests.tuning[TUNING_MEMLOCK].amount, rows[i].memlock);
        assert_int_equal(requests.tuning[TUNING_WORKERS].amount, rows[i].workers);
        assert_int_equal(requests.mount_count, rows[i].mounts);
        if (rows[i].mounts)
            assert_string_equal(requests.remembered, "shm/2g,workers/3");
    }
}

UNIT_SUITE(test_tuning)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sizes),
        cmocka_unit_test(test_no_sizes),
        cmocka_unit_test(test_sizes_in_words),
        cmocka_unit_test(test_lists_of_cpus),
        cmocka_unit_test(test_endless_list_of_cpus),
        cmocka_unit_test(test_limits),
        cmocka_unit_test(test_this_process),
        cmocka_unit_test(test_policy),
        cmocka_unit_test(test_later_files),
        cmocka_unit_test(test_errors),
        cmocka_unit_test(test_requests),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
