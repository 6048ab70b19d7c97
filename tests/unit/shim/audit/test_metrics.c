/* Counters as text: reading, adding, writing. */
#include "tests/unit/lib/unit.h"

#include "shim/audit/metrics.h"

static char *print(const struct metrics *m)
{
    struct buf out = BUF_INIT;

    metrics_print(m, &out);
    assert_non_null(out.data);
    return out.data;
}

/* Asserts that the text contains the whole line of a sample. */
static void assert_sample(const struct metrics *m, const char *sample)
{
    _cleanup_free_ char *text = print(m);
    _cleanup_free_ char *line = strf("\n%s\n", sample);

    assert_contains(text, line);
}

static void test_counting(void **state)
{
    static struct metrics m;
    struct plan_op ops[] = {
        {.kind = PLAN_MOUNT, .verdict = PLAN_ADDED},
        {.kind = PLAN_ENV, .verdict = PLAN_ADDED},
        {.kind = PLAN_MOUNT, .verdict = PLAN_ADDED},
        {.kind = PLAN_MOUNT, .verdict = PLAN_DENIED},
    };
    const struct plan plan = {.ops = ops, .count = 4};
    _cleanup_arena_ struct arena arena = {0};
    struct decision decision;
    struct audit_record record = {.verdict = AUDIT_DENIED, .decision = &decision};
    struct err err = ERR_INIT;

    (void)state;
    assert_works(decision_begin(&plan, &arena, &decision, &err), err);
    metrics_count(&m, &record, false);
    assert_sample(&m, "flatbed_containers_total{verdict=\"denied\"} 1");
    assert_sample(&m, "flatbed_containers_total{verdict=\"allowed\"} 0");
    assert_sample(&m, "flatbed_operations_total{kind=\"volume\",verdict=\"added\"} 2");
    assert_sample(&m, "flatbed_operations_total{kind=\"volume\",verdict=\"denied\"} 1");
    assert_sample(&m, "flatbed_operations_total{kind=\"variable\",verdict=\"added\"} 1");
    assert_sample(&m, "flatbed_permissive_total 0");
    assert_sample(&m, "flatbed_audit_errors_total 0");
    record = (struct audit_record){.verdict = AUDIT_ALLOWED, .warning = "w"};
    metrics_count(&m, &record, true);
    assert_sample(&m, "flatbed_containers_total{verdict=\"denied\"} 1");
    assert_sample(&m, "flatbed_containers_total{verdict=\"allowed\"} 1");
    assert_sample(&m, "flatbed_permissive_total 1");
    assert_sample(&m, "flatbed_audit_errors_total 1");
}

static void test_copies(void **state)
{
    static struct metrics m, again;
    struct audit_copy copy = {.result = "made", .bytes = 5, .evicted = 2, .cache = "/c", .room = 9};

    (void)state;
    metrics_count_copy(&m, &copy);
    copy = (struct audit_copy){.evicted = 1, .cache = "/c", .room = 4};
    metrics_count_copy(&m, &copy);
    assert_sample(&m, "flatbed_stage_copies_total{result=\"made\"} 1");
    assert_sample(&m, "flatbed_stage_copied_bytes_total 5");
    assert_sample(&m, "flatbed_stage_evictions_total 3");
    assert_sample(&m, "# TYPE flatbed_stage_room_bytes gauge");
    assert_sample(&m, "flatbed_stage_room_bytes{cache=\"/c\"} 4");
    _cleanup_free_ char *text = print(&m);
    assert_true(metrics_parse(&again, text));
    copy.cache = "/odd}\"";
    metrics_count_copy(&again, &copy);
    _cleanup_free_ char *odd = print(&again);
    assert_null(strstr(odd, "odd"));
}

static void test_staged_volumes(void **state)
{
    static struct metrics m;
    struct plan_op op = {.kind = PLAN_MOUNT, .verdict = PLAN_ADDED};
    struct outcome outcomes[] = {{.op = &op, .stage = {"hit", 100, 0}},
                                 {.op = &op, .stage = {"copying", 0, 30}},
                                 {.op = &op}};
    const struct decision decision = {.list = outcomes, .count = 3};
    const struct audit_record record = {.verdict = AUDIT_CHANGED, .decision = &decision};

    (void)state;
    metrics_count(&m, &record, false);
    assert_sample(&m, "flatbed_stage_launches_total{result=\"hit\"} 1");
    assert_sample(&m, "flatbed_stage_launches_total{result=\"copying\"} 1");
    assert_sample(&m, "flatbed_stage_hit_bytes_total 100");
    assert_sample(&m, "flatbed_stage_waited_milliseconds_total 30");
}

static void test_form(void **state)
{
    static struct metrics m;
    const struct audit_record record = {.verdict = AUDIT_CHANGED};

    (void)state;
    metrics_count(&m, &record, false);
    _cleanup_free_ char *text = print(&m);
    assert_contains(text, "# HELP flatbed_containers_total Containers that were decided on.\n"
                          "# TYPE flatbed_containers_total counter\n"
                          "flatbed_containers_total{verdict=\"allowed\"} 0\n");
    for (const char *line = text; *line; line = strchr(line, '\n') + 1)
        assert_true(strncmp(line, "# HELP ", 7) == 0 || strncmp(line, "# TYPE ", 7) == 0 ||
                    strncmp(line, "flatbed_", 8) == 0);
}

static void test_round_trip(void **state)
{
    static struct metrics m, again;

    (void)state;
    metrics_add(&m, METRIC_CONTAINERS, "{verdict=\"changed\"}", UINT64_MAX - 1);
    metrics_add(&m, METRIC_CONTAINERS, "{verdict=\"changed\"}", 1);
    metrics_add(&m, METRIC_OPERATIONS, "{kind=\"x\",verdict=\"added\"}", 3);
    metrics_add(&m, METRIC_AUDIT_ERRORS, "", 4);
    _cleanup_free_ char *text = print(&m);
    assert_true(metrics_parse(&again, text));
    _cleanup_free_ char *twice = print(&again);
    assert_string_equal(text, twice);
    assert_sample(&again, "flatbed_containers_total{verdict=\"changed\"} 18446744073709551615");
}

static const char *const foreign[] = {
    "flatbed_containers_total{verdict=\"allowed\"} x\n",
    "flatbed_containers_total{verdict=\"allowed\"} -1\n",
    "flatbed_containers_total{verdict=\"allowed\"} 1.5\n",
    "flatbed_containers_total{verdict=\"allowed\"} 99999999999999999999\n",
    "flatbed_containers_total{verdict=\"allowed\"}\n",
    "flatbed_containers_total{verdict=\"allowed\" 1\n",
    "flatbed_containers_total{verdict=\"allowed\n\"} 1\n",
    "flatbed_containers_total\n",
    "flatbed_containers_total",
    "flatbed_conta",
    "node_load1 1\n",
    "flatbed_audit_errors_total 1\n\x01\x02\n",
};

static void test_foreign_texts_count_as_nothing(void **state)
{
    static struct metrics m;

    (void)state;
    for (size_t i = 0; i < sizeof(foreign) / sizeof(*foreign); i++) {
        if (metrics_parse(&m, foreign[i]))
            fail_msg("%s: accepted", foreign[i]);
        assert_int_equal(m.count, 0);
    }
    assert_true(metrics_parse(&m, NULL));
    assert_true(metrics_parse(&m, "# only a comment"));
    assert_true(metrics_parse(&m, "\n\nflatbed_audit_errors_total 1"));
    assert_int_equal(m.count, 1);
}

static void test_bounds(void **state)
{
    static struct metrics m;
    char labels[METRICS_LABELS + 1];

    (void)state;
    memset(labels, 'x', sizeof(labels));
    labels[METRICS_LABELS] = '\0';
    metrics_add(&m, METRIC_CONTAINERS, labels, 1);
    assert_int_equal(m.count, 0);
    for (int i = 0; i < METRICS_SAMPLES + 5; i++) {
        snprintf(labels, sizeof(labels), "{i=\"%d\"}", i);
        metrics_add(&m, METRIC_CONTAINERS, labels, 1);
    }
    assert_int_equal(m.count, METRICS_SAMPLES);
}

UNIT_SUITE(test_metrics)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_counting),
        cmocka_unit_test(test_form),
        cmocka_unit_test(test_round_trip),
        cmocka_unit_test(test_foreign_texts_count_as_nothing),
        cmocka_unit_test(test_bounds),
        cmocka_unit_test(test_copies),
        cmocka_unit_test(test_staged_volumes),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
