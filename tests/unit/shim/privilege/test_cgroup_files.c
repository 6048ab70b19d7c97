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

#define PAGES(size)       "{\"hugepageLimits\":[{\"pageSize\":\"2MB\",\"limit\":1},{" size "}]}"
#define OF_PAGES(name)    "linux.resources.hugepageLimits: '" name "' is no size of pages"
#define NETWORK(name)     "{\"network\":{\"priorities\":[{\"name\":" name ",\"priority\":1}]}}"
#define OF_NETWORK(name)  "linux.resources.network: '" name "' is no name of an interface"
#define LONGEST_INTERFACE "abcdefghijklmno"

/* crun makes the name of a file of each size: hugetlb.SIZE.max. */
static void test_pages(void **state)
{
    static const struct {
        const char *text, *expected;
    } rows[] = {
        {"{\"hugepageLimits\":null}", ""},
        {"{\"hugepageLimits\":[]}", ""},
        {PAGES("\"pageSize\":\"1GB\",\"limit\":0"), ""},
        {PAGES("\"limit\":0"), ""},
        {PAGES("\"pageSize\":\"2MB/../../x/hugetlb.2MB\""), OF_PAGES("2MB/../../x/hugetlb.2MB")},
        {PAGES("\"pageSize\":\"2MB.rsvd\""), OF_PAGES("2MB.rsvd")},
        {PAGES("\"pageSize\":\"\""), OF_PAGES("")},
        {PAGES("\"pageSize\":7"), OF_PAGES("")},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
        assert_finds(rows[i].text, rows[i].expected);
}

/* crun prints the name into a buffer of 128 bytes. */
static void test_interfaces(void **state)
{
    (void)state;
    assert_finds("{\"network\":{\"classID\":1}}", "");
    assert_finds(NETWORK("\"eth0\""), "");
    assert_finds(NETWORK("\"" LONGEST_INTERFACE "\""), "");
    assert_finds(NETWORK("\"" LONGEST_INTERFACE "p\""), OF_NETWORK(LONGEST_INTERFACE "p"));
    assert_finds(NETWORK("7"), OF_NETWORK(""));
}

UNIT_SUITE(test_cgroup_files)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_unified),
        cmocka_unit_test(test_pages),
        cmocka_unit_test(test_interfaces),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
