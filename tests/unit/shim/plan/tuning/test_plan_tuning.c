/* "tuning" in a container: defaults are filled in, choices of the user stay. */
#include "tests/unit/lib/plan_unit.h"

#include "shim/apply/apply.h"
#include "shim/plan/decision/describe.h"

static const struct plan_op *op_of(const struct fixture *f, enum plan_kind kind)
{
    for (size_t i = 0; i < f->plan.count; i++)
        if (f->plan.ops[i].kind == kind)
            return &f->plan.ops[i];
    return NULL;
}

static const struct plan_op *limit_of(const struct fixture *f, const char *limit)
{
    for (size_t i = 0; i < f->plan.count; i++)
        if (f->plan.ops[i].kind == PLAN_RLIMIT && strcmp(f->plan.ops[i].rlimit.name, limit) == 0)
            return &f->plan.ops[i];
    fail_msg("no limit %s", limit);
    return NULL;
}

/* Plans on a new fixture, which the caller frees by teardown. */
static struct fixture *fresh(const char *tuning, const char *config, void **own)
{
    _cleanup_free_ char *sections = strf("\"tuning\":{%s}", tuning);

    assert_int_equal(setup(own), 0);
    plan_for(*own, sections, config);
    return *own;
}

/* Returns the document after the plan. The caller frees it. */
static char *applied(struct fixture *f)
{
    struct buf out = BUF_INIT;
    struct err err = ERR_INIT;

    assert_works(apply_decision(&f->decision, f->doc, &f->spec, &err), err);
    assert_works(json_write(f->doc, &out, &err), err);
    return buf_take(&out, &err);
}

/* ---- /dev/shm ---- */

#define SHM(type, options)                                                                         \
    "\"mounts\":[{\"destination\":\"/dev/shm\",\"type\":\"" type                                   \
    "\",\"source\":\"shm\",\"options\":[" options "]}]"
#define ASKS(key, value) "\"annotations\":{\"flatbed." key "\":\"" value "\"}"
#define MEMORY           "\"linux\":{\"resources\":{\"memory\":{\"limit\":4294967296}}}"
#define DEFAULT          SHM("tmpfs", "\"nosuid\",\"size=65536k\"")

static void test_shm(void **state)
{
    static const struct {
        const char *tuning, *config;
        int verdict;
        const char *says, *size;
    } rows[] = {
        {"\"shm_size\":\"2g\"", DEFAULT, PLAN_ADDED, "default of 64m", "size=2147483648"},
        {"\"shm_size\":\"2g\"", SHM("tmpfs", "\"size=67108864\""), PLAN_ADDED, "default",
         "size=21"},
        {"\"shm_size\":\"50%\"", DEFAULT, PLAN_ADDED, "default", "size=34359738368"},
        {"\"shm_size\":\"50%\"", DEFAULT "," MEMORY, PLAN_ADDED, "default", "size=2147483648"},
        {"\"shm_size\":\"33%\"", DEFAULT "," MEMORY, PLAN_ADDED, "default", "size=1417338880"},
        {"\"shm_size\":\"2g\"", SHM("tmpfs", "\"size=2g\""), PLAN_KEPT, "that large", "size=2g"},
        {"\"shm_size\":\"2g\"", SHM("tmpfs", "\"size=1g\""), PLAN_KEPT, "itself: 1g", "size=1g"},
        {"\"shm_size\":\"2g\"", SHM("tmpfs", "\"size=32m\""), PLAN_KEPT, "itself", "size=32m"},
        {"\"shm_size\":\"2g\"", SHM("tmpfs", "\"size=50%\""), PLAN_KEPT, "itself", "size=50%"},
        {"\"shm_size\":\"2g\"", SHM("tmpfs", "\"size=64m\",\"nr_blocks=9\""), PLAN_KEPT, "itself",
         "size=64m"},
        {"\"shm_size\":\"2g\"", SHM("tmpfs", "\"nosuid\""), PLAN_KEPT, "the kernel", "nosuid"},
        {"\"shm_size\":\"32m\"", DEFAULT, PLAN_KEPT, "is more", "size=65536k"},
        {"\"shm_size\":\"2g\"", SHM("bind", ""), PLAN_SKIPPED, "from elsewhere", "bind"},
        {"\"shm_size\":\"2g\"", SHM("tmpfs", "\"rbind\""), PLAN_SKIPPED, "elsewhere", "rbind"},
        {"\"shm_size\":\"2g\"", SHM("ext4", ""), PLAN_SKIPPED, "from elsewhere", "ext4"},
        {"\"shm_size\":\"2g\"", "\"hostname\":\"h\"", PLAN_SKIPPED, "no /dev/shm", "h"},
        /* the last size wins, and only one is left */
        {"\"shm_size\":\"2g\"", SHM("tmpfs", "\"size=1g\",\"size=64m\",\"nodev\""), PLAN_ADDED,
         "default", "[\"size=2147483648\",\"nodev\"]"},
        {"\"shm_size\":\"2g\"", SHM("tmpfs", "\"size=64m\",\"size=1g\""), PLAN_KEPT, "1g", "64m"},
        /* asked for */
        {"\"shm_size\":\"8g\"", DEFAULT "," ASKS("shm", "1g"), PLAN_ADDED, "default", "size=10737"},
        {"\"shm_size\":\"8g\"", DEFAULT "," ASKS("shm", "32m"), PLAN_ADDED, "", "size=33554432"},
        {"\"shm_size\":{\"default\":\"1g\",\"max\":\"8g\"}", DEFAULT "," ASKS("shm", "8g"),
         PLAN_ADDED, "", "size=8589934592"},
        {"\"shm_size\":{\"default\":\"1g\",\"max\":\"50%\"}", DEFAULT "," ASKS("shm", "32g"),
         PLAN_ADDED, "", "size=34359738368"},
        {"\"shm_size\":{\"max\":\"8g\"}", DEFAULT "," ASKS("shm", "8g"), PLAN_ADDED, "", "size=85"},
        {"\"shm_size\":\"8g\"", SHM("tmpfs", "\"size=2g\"") "," ASKS("shm", "1g"), PLAN_KEPT,
         "itself: 2g", "size=2g"},
        {"\"shm_size\":\"8g\"", SHM("bind", "") "," ASKS("shm", "1g"), PLAN_DENIED, "elsewhere",
         "bind"},
        /* a default never exceeds the maximum */
        {"\"shm_size\":{\"default\":\"50%\",\"max\":\"8g\"}", DEFAULT, PLAN_ADDED, "",
         "size=8589934592"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        _cleanup_free_ char *config = strf("{%s}", rows[i].config);
        void *own = NULL;
        struct fixture *f = fresh(rows[i].tuning, config, &own);
        const struct plan_op *op = op_of(f, PLAN_SHM);
        assert_non_null(op);
        if ((int)op->verdict != rows[i].verdict)
            fail_msg("%s under %s: %d, %s", config, rows[i].tuning, op->verdict, op->reason);
        assert_contains(op->reason, rows[i].says);
        _cleanup_free_ char *text = applied(f);
        assert_contains(text, rows[i].size);
        if (rows[i].verdict != PLAN_ADDED)
            assert_string_equal(text, config);
        teardown(&own);
    }
}

static void test_nothing_of_shm_without_a_default(void **state)
{
    void *own = NULL;

    (void)state;
    assert_null(op_of(fresh("\"shm_size\":{\"max\":\"8g\"}", "{" DEFAULT "}", &own), PLAN_SHM));
    teardown(&own);
    assert_null(op_of(fresh("\"shm_size\":false", "{" DEFAULT "}", &own), PLAN_SHM));
    teardown(&own);
    assert_int_equal(fresh("", "{" DEFAULT "}", &own)->plan.count, 0);
    teardown(&own);
}

/* ---- resource limits ---- */

#define LIMIT(type, soft, hard) "{\"type\":\"RLIMIT_" type "\",\"hard\":" hard ",\"soft\":" soft "}"
#define LIMITS(list)            "{\"process\":{\"rlimits\":[" list "]}}"
#define UNLIMITED               "18446744073709551615"

static void test_rlimits(void **state)
{
    static const struct {
        const char *tuning, *config, *limit;
        int verdict;
        const char *says, *text;
    } rows[] = {
        {"\"memlock\":\"unlimited\"", "{\"process\":{}}", "RLIMIT_MEMLOCK", PLAN_ADDED,
         "not limited", LIMITS(LIMIT("MEMLOCK", UNLIMITED, UNLIMITED))},
        {"\"memlock\":\"unlimited\"", LIMITS(LIMIT("MEMLOCK", "65536", "65536")), "RLIMIT_MEMLOCK",
         PLAN_KEPT, "itself", LIMITS(LIMIT("MEMLOCK", "65536", "65536"))},
        {"\"stack\":\"16m\"", "{\"process\":{}}", "RLIMIT_STACK", PLAN_ADDED, "not limited",
         LIMITS(LIMIT("STACK", "16777216", "16777216"))},
        {"\"nofile\":65536", LIMITS(LIMIT("NOFILE", "1024", "1024")), "RLIMIT_NOFILE", PLAN_ADDED,
         "default", LIMITS(LIMIT("NOFILE", "65536", "65536"))},
        {"\"nofile\":65536", LIMITS(LIMIT("NOFILE", "1048576", "1048576")), "RLIMIT_NOFILE",
         PLAN_ADDED, "default", LIMITS(LIMIT("NOFILE", "65536", "65536"))},
        {"\"nofile\":65536", LIMITS(LIMIT("NOFILE", "1000", "20000")), "RLIMIT_NOFILE", PLAN_ADDED,
         "default", LIMITS(LIMIT("NOFILE", "65536", "65536"))},
        {"\"nofile\":65536", LIMITS(LIMIT("NOFILE", "1024", "2048")), "RLIMIT_NOFILE", PLAN_KEPT,
         "itself", LIMITS(LIMIT("NOFILE", "1024", "2048"))},
        {"\"nofile\":65536", LIMITS(LIMIT("NOFILE", "65536", "65536")), "RLIMIT_NOFILE", PLAN_KEPT,
         "set already", LIMITS(LIMIT("NOFILE", "65536", "65536"))},
        {"\"nofile\":65536", LIMITS(LIMIT("NOFILE", UNLIMITED, UNLIMITED)), "RLIMIT_NOFILE",
         PLAN_KEPT, "itself", LIMITS(LIMIT("NOFILE", UNLIMITED, UNLIMITED))},
        /* fs.nr_open limits root, too */
        {"\"nofile\":9999999", "{\"process\":{}}", "RLIMIT_NOFILE", PLAN_DOWNGRADED,
         "9999999 is wanted", LIMITS(LIMIT("NOFILE", "1048576", "1048576"))},
        {"\"nofile\":9", "{}", "RLIMIT_NOFILE", PLAN_SKIPPED, "no process", "{}"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        void *own = NULL;
        struct fixture *f = fresh(rows[i].tuning, rows[i].config, &own);
        const struct plan_op *op = limit_of(f, rows[i].limit);
        if ((int)op->verdict != rows[i].verdict)
            fail_msg("row %zu: %d, %s", i, op->verdict, op->reason);
        assert_contains(op->reason, rows[i].says);
        _cleanup_free_ char *text = applied(f);
        _cleanup_json_ struct json_doc *expected = shim_document(rows[i].text);
        _cleanup_json_ struct json_doc *got = shim_document(text);
        for (int part = 0; part < 2; part++) {
            const char *key = part ? "hard" : "soft";
            uint64_t a = 0, b = 0;
            const struct json *one = json_path(json_root(expected), "process", "rlimits", NULL);
            const struct json *other = json_path(json_root(got), "process", "rlimits", NULL);
            assert_int_equal(json_count(one), json_count(other));
            (void)json_u64(json_get(json_at(one, 0), key), &a);
            (void)json_u64(json_get(json_at(other, 0), key), &b);
            assert_int_equal(a, b);
        }
        teardown(&own);
    }
}

static void test_others_limits_stay(void **state)
{
    void *own = NULL;
    struct fixture *f =
        fresh("\"nofile\":4096",
              LIMITS(LIMIT("NPROC", "7", "7") "," LIMIT("NOFILE", "1024", "1024")), &own);
    _cleanup_free_ char *text = applied(f);

    (void)state;
    assert_string_equal(
        text, "{\"process\":{\"rlimits\":[{\"type\":\"RLIMIT_NPROC\",\"hard\":7,\"soft\":7},"
              "{\"type\":\"RLIMIT_NOFILE\",\"hard\":4096,\"soft\":4096}]}}");
    teardown(&own);
}

/* Without CAP_SYS_RESOURCE or in a user namespace, the hard limit of the runtime is the maximum. */
static void test_clamping(void **state)
{
    static const struct {
        bool may_raise;
        const char *config, *limit, *value;
    } rows[] = {
        {false, "{\"process\":{}}", "RLIMIT_NOFILE", "20000"},
        {false, "{\"process\":{}}", "RLIMIT_MEMLOCK", "8m"},
        {false, LIMITS(LIMIT("NOFILE", "1048576", "1048576")), "RLIMIT_NOFILE", "20000"},
        {true,
         "{\"process\":{},\"linux\":{\"namespaces\":[{\"type\":\"user\"}],\"uidMappings\":[{"
         "\"containerID\":0,\"hostID\":9,\"size\":1}]}"
         "}",
         "RLIMIT_MEMLOCK", "8m"},
        {true,
         "{\"process\":{},\"linux\":{\"namespaces\":[{\"type\":\"user\",\"path\":\"/proc/1/ns/"
         "user\"}"
         "]}}",
         "RLIMIT_MEMLOCK", "8m"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        void *own = NULL;
        assert_int_equal(setup(&own), 0);
        struct fixture *f = own;
        f->host.may_raise = rows[i].may_raise;
        plan_for(f, "\"tuning\":{\"nofile\":65536,\"memlock\":\"unlimited\"}", rows[i].config);
        const struct plan_op *op = limit_of(f, rows[i].limit);
        assert_int_equal(op->verdict, PLAN_DOWNGRADED);
        assert_string_equal(op->rlimit.value, rows[i].value);
        assert_contains(op->reason, "more than the runtime may give");
        assert_true(decision_changes(&f->decision));
        teardown(&own);
    }
}

/* ---- threads ---- */

static const char *const followers[] = {"MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS",
                                        "BLIS_NUM_THREADS", "NUMEXPR_NUM_THREADS"};
static const char *const leaders[] = {"OMP_NUM_THREADS", "NUMEXPR_MAX_THREADS", "NUMBA_NUM_THREADS",
                                      "RAYON_NUM_THREADS"};

#define CPU(members) "{\"process\":{},\"linux\":{\"resources\":{\"cpu\":{" members "}}}}"

static void test_threads(void **state)
{
    static const struct {
        const char *config, *value;
    } rows[] = {
        {"{\"process\":{}}", "16"},
        {CPU("\"quota\":400000,\"period\":100000"), "4"},
        {CPU("\"quota\":150000,\"period\":100000"), "1"},
        {CPU("\"quota\":6400000,\"period\":100000"), "16"},
        {CPU("\"cpus\":\"0-7\""), "8"},
        {CPU("\"cpus\":\"0-7\",\"quota\":300000,\"period\":100000"), "3"},
        {CPU("\"cpus\":\"0-1\",\"quota\":300000,\"period\":100000"), "2"},
        {"{\"process\":{},\"linux\":{\"resources\":{\"unified\":{\"cpu.max\":\"500000 100000\"}}}}",
         "5"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        void *own = NULL;
        struct fixture *f = fresh("\"threads\":true", rows[i].config, &own);
        for (int n = 0; n < 4; n++) {
            assert_string_equal(variable(f, followers[n])->variable.value, rows[i].value);
            assert_string_equal(variable(f, leaders[n])->variable.value, rows[i].value);
            assert_int_equal(variable(f, leaders[n])->verdict, PLAN_ADDED);
        }
        assert_int_equal(f->plan.count, 8);
        teardown(&own);
    }
}

static void test_threads_that_the_container_sets(void **state)
{
    void *own = NULL;
    struct fixture *f = fresh("\"threads\":true",
                              "{\"process\":{\"env\":[\"OMP_NUM_THREADS=4\","
                              "\"BLIS_NUM_THREADS=2\",\"NUMBA_NUM_THREADS=16\"]}}",
                              &own);

    (void)state;
    assert_int_equal(variable(f, "OMP_NUM_THREADS")->verdict, PLAN_KEPT);
    assert_false(variable(f, "OMP_NUM_THREADS")->variable.same);
    assert_int_equal(variable(f, "MKL_NUM_THREADS")->verdict, PLAN_SKIPPED);
    assert_contains(variable(f, "MKL_NUM_THREADS")->reason, "follows OMP_NUM_THREADS");
    assert_int_equal(variable(f, "BLIS_NUM_THREADS")->verdict, PLAN_KEPT);
    assert_int_equal(variable(f, "RAYON_NUM_THREADS")->verdict, PLAN_ADDED);
    assert_true(variable(f, "NUMBA_NUM_THREADS")->variable.same);
    teardown(&own);
}

static void test_no_threads(void **state)
{
    void *own = NULL;

    (void)state;
    assert_int_equal(fresh("\"threads\":false", "{\"process\":{}}", &own)->plan.count, 0);
    teardown(&own);
}

/* A volume that is left out removes its own variables, and no others. */
static void test_variables_of_no_volume_outlive_it(void **state)
{
    struct fixture *f = *state;

    plan_for(f,
             "\"volumes\":{\"d\":{\"source\":\"/s\",\"target\":\"/t\",\"always\":true,"
             "\"env\":{\"D\":\"{target}\"}}},\"tuning\":{\"threads\":true}",
             "{\"process\":{}}");
    decision_skip(&f->decision, 0, "it is not there");
    assert_int_equal(variable_outcome(f, "D")->verdict, PLAN_SKIPPED);
    assert_int_equal(variable_outcome(f, "OMP_NUM_THREADS")->verdict, PLAN_ADDED);
}

/* ---- workers ---- */

#define BOTH(memory, quota)                                                                        \
    "{\"process\":{},\"linux\":{\"resources\":{\"memory\":{\"limit\":" memory                      \
    "},\"cpu\":{\"quota\":" quota ",\"period\":100000}}}}"

static void test_workers(void **state)
{
    static const struct {
        const char *tuning, *config, *value;
    } rows[] = {
        {"\"workers\":\"75%\"", "{\"process\":{}}", "12"},
        {"\"workers\":\"75%\"", BOTH("68719476736", "800000"), "6"},
        {"\"workers\":\"75%\"", BOTH("68719476736", "300000"), "2"},
        {"\"workers\":\"75%\"", BOTH("68719476736", "100000"), "1"},
        {"\"workers\":\"75%\"", BOTH("3221225472", "800000"), "3"}, /* 3 GiB */
        {"\"workers\":\"75%\"", BOTH("67108864", "800000"), "1"},
        {"\"workers\":\"75%\",\"worker_memory\":\"8g\"", "{\"process\":{}}", "8"},
        {"\"workers\":5", "{\"process\":{}}", "5"},
        {"\"workers\":5", BOTH("2147483648", "100000"), "2"},
        /* requested: any number up to the maximum */
        {"\"workers\":4", "{\"process\":{},\"annotations\":{\"flatbed.workers\":\"2\"}}", "2"},
        {"\"workers\":{\"default\":4,\"max\":\"100%\"}",
         "{\"process\":{},\"annotations\":{\"flatbed.workers\":\"16\"}}", "16"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        void *own = NULL;
        struct fixture *f = fresh(rows[i].tuning, rows[i].config, &own);
        if (strcmp(variable(f, "FLATBED_WORKERS")->variable.value, rows[i].value) != 0)
            fail_msg("row %zu: %s", i, variable(f, "FLATBED_WORKERS")->variable.value);
        assert_int_equal(variable(f, "FLATBED_WORKERS")->verdict, PLAN_ADDED);
        teardown(&own);
    }
}

static void test_workers_that_the_container_sets(void **state)
{
    void *own = NULL;
    struct fixture *f =
        fresh("\"workers\":4", "{\"process\":{\"env\":[\"FLATBED_WORKERS=9\"]}}", &own);

    (void)state;
    assert_int_equal(variable(f, "FLATBED_WORKERS")->verdict, PLAN_KEPT);
    teardown(&own);
}

/* ---- requests ---- */

static void test_asking_for_too_much(void **state)
{
    static const struct {
        const char *key, *value, *message;
    } rows[] = {
        {"shm", "32g", "flatbed.shm: 32g is more than is offered: at most 16g (policy.json:1)"},
        {"memlock", "unlimited", "flatbed.memlock: unlimited is more than is offered: at most 2g"},
        {"workers", "17", "flatbed.workers: 17 is more than is offered: at most 16"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        void *own = NULL;
        struct err err = ERR_INIT;
        _cleanup_free_ char *config =
            strf("{\"process\":{}," DEFAULT ",\"annotations\":{\"flatbed.%s\":\"%s\"}}",
                 rows[i].key, rows[i].value);
        struct fixture *f = fresh("\"shm_size\":{\"default\":\"1g\",\"max\":\"25%\"},"
                                  "\"memlock\":{\"default\":\"1g\",\"max\":\"2g\"},"
                                  "\"workers\":{\"default\":2,\"max\":\"100%\"}",
                                  config, &own);
        assert_fails(decision_check(&f->decision, &err), err, ERR_POLICY);
        assert_contains(err.msg, rows[i].message);
        /* Under a permissive policy a refused request is ignored. */
        _cleanup_free_ char *text = applied(f);
        assert_contains(text, "size=1073741824");
        assert_contains(text, "\"type\":\"RLIMIT_MEMLOCK\",\"hard\":1073741824");
        assert_contains(text, "FLATBED_WORKERS=2");
        teardown(&own);
    }
}

/* ---- all of it ---- */

static const char everything[] =
    "\"tuning\":{\"shm_size\":\"50%\",\"memlock\":\"unlimited\",\"nofile\":1048576,"
    "\"stack\":\"16m\",\"threads\":true,\"workers\":\"75%\"}";

static void test_a_second_edit_changes_nothing(void **state)
{
    static const char config[] =
        "{\"process\":{\"rlimits\":[" LIMIT("NOFILE", "1024", "1024") "]}," DEFAULT "," MEMORY "}";

    (void)state;
    for (int may_raise = 0; may_raise < 2; may_raise++) {
        void *first = NULL, *second = NULL;
        assert_int_equal(setup(&first), 0);
        assert_int_equal(setup(&second), 0);
        struct fixture *f = first, *g = second;
        f->host.may_raise = g->host.may_raise = may_raise;
        plan_for(f, everything, config);
        assert_true(decision_changes(&f->decision));
        _cleanup_free_ char *text = applied(f);
        plan_for(g, everything, text);
        assert_int_equal(g->plan.count, f->plan.count);
        for (size_t i = 0; i < g->plan.count; i++) {
            assert_int_equal(g->plan.ops[i].verdict, PLAN_KEPT);
            assert_true(g->plan.ops[i].kind != PLAN_ENV || g->plan.ops[i].variable.same);
        }
        assert_false(decision_changes(&g->decision));
        teardown(&first);
        teardown(&second);
    }
}

static void test_in_words(void **state)
{
    static const struct {
        const char *kind, *subject, *value, *asked_by;
    } rows[] = {
        {"shm", "/dev/shm", "2g", "flatbed.shm"},
        {"limit", "RLIMIT_MEMLOCK", "1g", "tuning.memlock"},
        {"limit", "RLIMIT_NOFILE", "4096", "tuning.nofile"},
        {"variable", "FLATBED_WORKERS", "12", "tuning.workers"},
        {"variable", "OMP_NUM_THREADS", "16", "tuning.threads"},
    };
    struct fixture *f = *state;

    plan_for(f,
             "\"tuning\":{\"shm_size\":\"8g\",\"memlock\":\"1g\",\"nofile\":4096,"
             "\"workers\":\"75%\",\"threads\":true}",
             "{\"process\":{}," DEFAULT "," ASKS("shm", "2g") "}");
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        struct description d;
        struct err err = ERR_INIT;
        assert_works(describe_outcome(&f->decision.list[i], &f->arena, &d, &err), err);
        assert_string_equal(d.kind, rows[i].kind);
        assert_string_equal(d.subject, rows[i].subject);
        assert_string_equal(d.value, rows[i].value);
        assert_string_equal(d.asked_by, rows[i].asked_by);
        assert_string_equal(d.verdict, "added");
        assert_string_equal(d.policy, "policy.json:1");
    }
}

UNIT_SUITE(test_plan_tuning)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_shm),
        cmocka_unit_test(test_nothing_of_shm_without_a_default),
        cmocka_unit_test(test_rlimits),
        cmocka_unit_test(test_others_limits_stay),
        cmocka_unit_test(test_clamping),
        cmocka_unit_test(test_threads),
        cmocka_unit_test(test_threads_that_the_container_sets),
        cmocka_unit_test(test_no_threads),
        cmocka_unit_test_setup_teardown(test_variables_of_no_volume_outlive_it, setup, teardown),
        cmocka_unit_test(test_workers),
        cmocka_unit_test(test_workers_that_the_container_sets),
        cmocka_unit_test(test_asking_for_too_much),
        cmocka_unit_test(test_a_second_edit_changes_nothing),
        cmocka_unit_test_setup_teardown(test_in_words, setup, teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
