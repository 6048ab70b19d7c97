/* Files of cgroups that config.json, or the file of an update, names. */
#include "tests/unit/lib/shim_unit.h"

#include "shim/privilege/cgroup_files.h"

/* `expected`: "KEY: 'NAME' PROBLEM"; "": nothing. */
static void assert_finds(const char *text, const char *expected)
{
    _cleanup_json_ struct json_doc *doc = shim_document(text);
    struct cgroup_file file;
    bool found = cgroup_file_find(json_root(doc), &file);
    _cleanup_free_ char *got =
        found ? strf("%s: '%s' %s", file.key, file.name, file.problem) : strf("%s", "");

    if (strcmp(got, expected) != 0)
        fail_msg("%s: \"%s\", not \"%s\"", text, got, expected);
}

#define UNIFIED(members)    "{\"unified\":{" members "}}"
#define OF_UNIFIED(problem) "linux.resources.unified: " problem
#define PROCESSES           " moves, stops or kills processes of this host"
#define ELSEWHERE           " is a file of another cgroup"

static void test_unified(void **state)
{
    static const struct {
        const char *text, *expected;
    } rows[] = {
        {"{}", ""},
        {"{\"unified\":null}", ""},
        {UNIFIED(""), ""},
        {UNIFIED("\"memory.max\":\"1\",\"io.weight\":\"9\",\"hugetlb.2MB.max\":\"1\""), ""},
        {UNIFIED("\"cgroup.max.descendants\":\"9\",\"cgroup.max.depth\":\"9\""), ""},
        {UNIFIED("\"cgroup.procs\":\"1\""), OF_UNIFIED("'cgroup.procs'" PROCESSES)},
        {UNIFIED("\"a\":\"1\",\"cgroup.kill\":\"1\""), OF_UNIFIED("'cgroup.kill'" PROCESSES)},
        {UNIFIED("\"cgroup.freeze\":\"1\""), OF_UNIFIED("'cgroup.freeze'" PROCESSES)},
        {UNIFIED("\"a/../memory.max\":\"1\""), OF_UNIFIED("'a/../memory.max'" ELSEWHERE)},
        {UNIFIED("\"cgroup.max./../../x\":\"\""), OF_UNIFIED("'cgroup.max./../../x'" ELSEWHERE)},
        {UNIFIED("\"cgroup.procs\\u0000x\":\"1\""), OF_UNIFIED("'cgroup.procs'" PROCESSES)},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
        assert_finds(rows[i].text, rows[i].expected);
}

UNIT_SUITE(test_cgroup_files)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_unified),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
