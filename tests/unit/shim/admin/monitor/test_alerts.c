/* Raising, holding and clearing alerts; their metrics and the file between two runs. */
#include "tests/unit/lib/unit.h"

#include "shim/admin/monitor/alert_send.h"

static struct measured_container box = {
    .engine = "docker", .id = "1", .name = "box", .store = "/d", .known = true};
static struct measured_store store = {.path = "/d", .known = true, .size = 1000};
static struct measures measures = {
    .containers = &box, .container_count = 1, .stores = &store, .store_count = 1};

/* Judges the measures after the alerts of `before`, and asserts what became of the only alert. */
static void judge(const struct policy_alerts *limits, struct alert_list *alerts,
                  enum alert_change wanted)
{
    struct alert_list before = *alerts;
    struct err err = ERR_INIT;

    assert_int_equal(alerts_judge(limits, &measures, &before, alerts, &err), 0);
    alerts_free(&before);
    assert_int_equal(alerts->count, 1);
    assert_int_equal(alerts->list[0].change, wanted);
}

/* Passes the alerts to the next run, as the program does. */
static void pass_on(struct alert_list *alerts)
{
    _cleanup_buf_ struct buf text = BUF_INIT;
    struct err err = ERR_INIT;

    assert_int_equal(alerts_save(alerts, &text, &err), 0);
    alerts_free(alerts);
    assert_int_equal(alerts_load(&text, alerts, &err), 0);
}

static void assert_none(const struct policy_alerts *limits, struct alert_list *alerts)
{
    struct alert_list before = *alerts;
    struct err err = ERR_INIT;

    assert_int_equal(alerts_judge(limits, &measures, &before, alerts, &err), 0);
    alerts_free(&before);
    assert_int_equal(alerts->count, 0);
}

static void test_upper(void **state)
{
    const struct policy_alerts limits = {.upper_bytes = 100};
    _cleanup_alerts_ struct alert_list alerts = {0};

    (void)state;
    box.values[ALERT_UPPER] = 100;
    assert_none(&limits, &alerts);
    box.values[ALERT_UPPER] = 101;
    judge(&limits, &alerts, ALERT_RAISED);
    assert_int_equal(alerts.list[0].value, 101);
    pass_on(&alerts);
    box.values[ALERT_UPPER] = 91; /* a tenth below the limit is not reached yet */
    judge(&limits, &alerts, ALERT_HELD);
    pass_on(&alerts);
    box.values[ALERT_UPPER] = 90;
    judge(&limits, &alerts, ALERT_CLEARED);
    assert_false(alerts.list[0].gone);
    pass_on(&alerts);
    assert_none(&limits, &alerts);
}

static void test_store(void **state)
{
    struct policy_alerts limits = {.store_free.percent = 10};
    _cleanup_alerts_ struct alert_list alerts = {0};

    (void)state;
    store.free = 100;
    assert_none(&limits, &alerts);
    store.free = 99;
    judge(&limits, &alerts, ALERT_RAISED);
    assert_int_equal(alerts.list[0].limit, 100);
    pass_on(&alerts);
    store.free = 109;
    judge(&limits, &alerts, ALERT_HELD);
    pass_on(&alerts);
    limits = (struct policy_alerts){.store_free.bytes = 99};
    judge(&limits, &alerts, ALERT_CLEARED);
}

static void test_gone_and_unknown(void **state)
{
    const struct policy_alerts limits = {.copyup_bytes = 1}, none = {0};
    _cleanup_alerts_ struct alert_list alerts = {0};

    (void)state;
    box.values[ALERT_COPYUP] = 2;
    judge(&limits, &alerts, ALERT_RAISED);
    box.known = false;
    judge(&limits, &alerts, ALERT_HELD);
    box.known = true;
    store.known = false; /* the containers of a store that is silent are not seen */
    measures.container_count = 0;
    judge(&limits, &alerts, ALERT_HELD);
    store.known = true;
    judge(&limits, &alerts, ALERT_CLEARED);
    assert_true(alerts.list[0].gone);
    pass_on(&alerts);
    measures.container_count = 1;
    judge(&limits, &alerts, ALERT_RAISED);
    judge(&none, &alerts, ALERT_CLEARED);
}

static void test_state_of_others(void **state)
{
    static const char *const wrong[] = {"[", "{\"alerts\":[{}]}", "{\"alerts\":[1]}",
                                        "{\"alerts\":[{\"alert\":\"x\",\"value\":1,\"limit\":1}]}"};

    (void)state;
    for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
        _cleanup_buf_ struct buf text = BUF_INIT;
        _cleanup_alerts_ struct alert_list alerts = {0};
        struct err err = ERR_INIT;
        buf_puts(&text, wrong[i]);
        assert_int_equal(alerts_load(&text, &alerts, &err), -1);
    }
}

static void test_metrics(void **state)
{
    const struct policy_alerts limits = {.upper_bytes = 100};
    _cleanup_alerts_ struct alert_list alerts = {0};
    _cleanup_buf_ struct buf out = BUF_INIT;

    (void)state;
    box.name = "a\"b\n\\c";
    box.values[ALERT_UPPER] = 101;
    judge(&limits, &alerts, ALERT_RAISED);
    alert_metrics(&limits, &measures, &alerts, 7, &out);
    assert_contains(out.data, "\nflatbed_container_upper_bytes{engine=\"docker\",container=\"1\","
                              "name=\"a\\\"b\\\\x0a");
    assert_contains(out.data, "\nflatbed_alert{alert=\"upper_bytes\",engine=\"docker\"");
    assert_contains(out.data, "\nflatbed_alert_limit_bytes{alert=\"upper_bytes\"} 100\n");
    assert_contains(out.data, "\nflatbed_monitor_run_timestamp_seconds 7\n");
    box.name = "box";
    _cleanup_free_ char *path = alert_metrics_path("/m/flatbed.prom");
    assert_string_equal(path, "/m/flatbed-monitor.prom");
}

/* Judges a start with `seconds` until it was ready at `ready_at`, or 0: until now. */
static struct alert_list judge_start(const struct alert_list *before, uint64_t seconds,
                                     time_t ready_at)
{
    const struct policy_alerts limits = {.start_seconds = 15, .ready = {READY_HEALTH, NULL}};
    struct alert_list alerts;
    struct err err = ERR_INIT;

    box.running = true;
    box.start = (struct start){
        .known = true, .ready = ready_at != 0, .ready_at = ready_at, .seconds = seconds};
    measures.time = 1000;
    assert_int_equal(alerts_judge(&limits, &measures, before, &alerts, &err), 0);
    box.running = false;
    return alerts;
}

static void test_start(void **state)
{
    const struct alert_list none = {.time = 900}, first = {0};
    _cleanup_alerts_ struct alert_list slow = judge_start(&none, 16, 0);
    _cleanup_alerts_ struct alert_list held = judge_start(&slow, 20, 0);
    _cleanup_alerts_ struct alert_list ready = judge_start(&slow, 21, 950);
    _cleanup_alerts_ struct alert_list late = judge_start(&none, 21, 950);
    _cleanup_alerts_ struct alert_list known = judge_start(&none, 21, 899);
    _cleanup_alerts_ struct alert_list older = judge_start(&first, 21, 950);
    _cleanup_alerts_ struct alert_list quick = judge_start(&none, 15, 0);

    (void)state;
    assert_int_equal(slow.list[0].change, ALERT_RAISED);
    assert_int_equal(held.list[0].change, ALERT_HELD);
    assert_int_equal(ready.list[0].change, ALERT_CLEARED);
    assert_int_equal(late.list[0].change, ALERT_RAISED);
    assert_int_equal(known.count + older.count + quick.count, 0);
    pass_on(&slow);
    assert_int_equal(slow.time, 1000);
}

UNIT_SUITE(test_alerts)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_start),           cmocka_unit_test(test_upper),
        cmocka_unit_test(test_store),           cmocka_unit_test(test_gone_and_unknown),
        cmocka_unit_test(test_state_of_others), cmocka_unit_test(test_metrics),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
