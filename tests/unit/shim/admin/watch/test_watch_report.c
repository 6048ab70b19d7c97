#include "tests/unit/lib/unit.h"

#include "base/json/json.h"
#include "shim/admin/watch/report.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char costs_text[] =
    "{\"version\": 1, \"k\": {\"stat\": {\"mount\": 0.5}, \"missing\": {\"mount\": 0.25}},"
    " \"lookups\": [{\"kind\": \"stat\", \"cold\": \"disk\", \"layers\": {\"1\": 9}},"
    " {\"kind\": \"stat\", \"cold\": \"mount\", \"layers\": {\"1\": 2e-3}},"
    " {\"kind\": \"missing\", \"cold\": \"mount\", \"layers\": {\"1\": 4e-3}}]}";

static void test_costs(void **state)
{
    struct watch_costs costs;
    struct err err = ERR_INIT;

    (void)state;
    assert_int_equal(watch_costs_parse(costs_text, strlen(costs_text), &costs, &err), 0);
    assert_true(costs.known);
    assert_true(fabs(costs.seconds[0] - 2e-3) < 1e-12 && fabs(costs.seconds[1] - 4e-3) < 1e-12);
    assert_true(fabs(costs.more[0] - 0.5) < 1e-12 && fabs(costs.more[1] - 0.25) < 1e-12);
    assert_int_equal(watch_costs_parse("{}", 2, &costs, &err), -1);
    assert_int_equal(err.kind, ERR_FORMAT);
    assert_false(costs.known);
    assert_int_equal(watch_costs_read("/nonexistent/costs", false, &costs, &err), 0);
    assert_int_equal(watch_costs_read("/nonexistent/costs", true, &costs, &err), -1);
}

/* A container with 10 misses in a directory of 3 layers, 4 opens in one of 2, and one in none. */
static struct watch_report *sample(struct watch *w, struct watch_costs *costs)
{
    static const struct container_found container = {
        .engine = CONTAINER_PODMAN, .name = "evil\x1b[2J", .id = "0123"};
    struct watch_report *r = calloc(1, sizeof(*r));
    struct err err = ERR_INIT;

    assert_non_null(r);
    *w = (struct watch)WATCH_INIT;
    assert_int_equal(seen_begin(&w->seen, &err), 0);
    assert_int_equal(watch_costs_parse(costs_text, strlen(costs_text), costs, &err), 0);
    for (int i = 0; i < 10; i++)
        seen_add(&w->seen, "/lib/a\nb", "sh", WATCH_STAT, -ENOENT);
    for (int i = 0; i < 4; i++)
        seen_add(&w->seen, "/etc", "sh", WATCH_OPEN, 3);
    seen_add(&w->seen, "/proc", "sh", WATCH_OPEN, 3);
    *r = (struct watch_report){
        .container = &container, .watch = w, .costs = costs, .seconds = 2.5, .layers = 5};
    r->directory_count = seen_top(&w->seen.directories, false, r->directories, WATCH_TOP_MOST);
    r->program_count = seen_top(&w->seen.programs, false, r->programs, WATCH_TOP_MOST);
    r->directories[0]->layers = 3;
    r->directories[1]->layers = 2;
    return r;
}

static void test_depth(void **state)
{
    struct watch w;
    struct watch_costs costs;
    _cleanup_free_ struct watch_report *r = sample(&w, &costs);
    struct watch_depth d = watch_depth(r);

    (void)state;
    assert_int_equal(d.lookups, 14);
    assert_int_equal(d.probes, 10 * 3 + 4 * 2);
    /* 10 misses of 4 ms, two more layers at a quarter; 4 files of 2 ms, one more at a half */
    assert_true(fabs(d.saved - (10 * 4e-3 * 0.25 * 2 + 4 * 2e-3 * 0.5)) < 1e-9);
    watch_end(&w);
}

static void test_text(void **state)
{
    struct watch w;
    struct watch_costs costs;
    _cleanup_free_ struct watch_report *r = sample(&w, &costs);
    _cleanup_buf_ struct buf out = BUF_INIT;

    (void)state;
    w.lost = 1;
    snprintf(w.why, sizeof(w.why), "no\x1bway");
    watch_print(r, 80, &out);
    assert_null(strchr(out.data, '\x1b'));
    assert_non_null(strstr(out.data, "15 lookups: 5 opens, 10 stats, 0 accesses, 0 readlinks; "
                                     "10 misses (67%)\n"));
    assert_non_null(
        strstr(out.data, "10        10  100%        0       3         30  /lib/a\\x0ab"));
    assert_non_null(strstr(out.data, "-  /proc\n"));
    assert_non_null(strstr(out.data, "1 call was lost"));
    assert_non_null(strstr(out.data, "not seen: no\\x1bway\n"));
    assert_non_null(strstr(out.data, "the 14 lookups in directories of the image take up to 38 "));
    assert_non_null(strstr(out.data, "save up to 0.024 s"));
    watch_end(&w);
}

static void test_json(void **state)
{
    struct watch w;
    struct watch_costs costs;
    struct err err = ERR_INIT;
    _cleanup_free_ struct watch_report *r = sample(&w, &costs);
    _cleanup_buf_ struct buf out = BUF_INIT;
    uint64_t n;

    (void)state;
    assert_int_equal(watch_json(r, &out, &err), 0);
    _cleanup_json_ struct json_doc *doc = json_parse(out.data, out.len, NULL, &err);
    assert_non_null(doc);
    const struct json *root = json_root(doc), *first = json_at(json_get(root, "directories"), 0);
    assert_string_equal(json_text(json_get(first, "directory")), "/lib/a\nb");
    assert_true(json_u64(json_get(first, "probes"), &n) && n == 30);
    assert_true(json_u64(json_path(root, "depth", "probes", NULL), &n) && n == 38);
    assert_true(json_u64(json_path(root, "depth", "probes_with_one_layer", NULL), &n) && n == 14);
    assert_true(json_u64(json_path(root, "all", "misses", NULL), &n) && n == 10);
    assert_true(fabs(strtod(json_path(root, "depth", "seconds_saved", NULL)->text, NULL) - 0.024) <
                1e-6);
    assert_null(json_get(json_at(json_get(root, "directories"), 2), "layers"));
    assert_string_equal(json_text(json_get(root, "by")), "tracepoints");
    watch_end(&w);
}

UNIT_SUITE(test_watch_report)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_costs),
        cmocka_unit_test(test_depth),
        cmocka_unit_test(test_text),
        cmocka_unit_test(test_json),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
