/* Targets lead through the links of a real root, and not through those of earlier mounts. */
#include "tests/unit/lib/shim_unit.h"

#include "shim/gather/targets.h"

#include <fcntl.h>
#include <sys/stat.h>

#define BIND(target) "{\"destination\":\"" target "\",\"type\":\"bind\",\"source\":\"/s\"}"
#define TMPFS(target, options)                                                                     \
    "{\"destination\":\"" target "\",\"type\":\"tmpfs\",\"options\":[" options "]}"

static int make_root(char *path)
{
    assert_non_null(mkdtemp(path));
    int root = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
    assert_true(root >= 0);
    assert_int_equal(mkdirat(root, "mnt", 0755), 0);
    assert_int_equal(symlinkat("/mnt/deep", root, "into"), 0);
    assert_int_equal(symlinkat("/etc", root, "mnt/q"), 0);
    assert_int_equal(symlinkat("mnt", root, "m"), 0);
    return root;
}

static void remove_root(int root, const char *path)
{
    assert_int_equal(unlinkat(root, "mnt/q", 0), 0);
    assert_int_equal(unlinkat(root, "into", 0), 0);
    assert_int_equal(unlinkat(root, "m", 0), 0);
    assert_int_equal(unlinkat(root, "mnt", AT_REMOVEDIR), 0);
    close(root);
    rmdir(path);
}

static const struct {
    const char *mounts, *path; /* of the last one */
    bool foreign;
    size_t within;
} rows[] = {
    {BIND("/mnt/q/x"), "/etc/x", false, TARGET_ROOT},
    {BIND("/m"), "/mnt", false, TARGET_ROOT},
    {BIND("/mnt") "," BIND("/mnt/q/x"), "/mnt/q/x", true, 0},
    {BIND("/m") "," BIND("/mnt/q/x"), "/mnt/q/x", true, 0},
    {BIND("/mnt") "," BIND("/m/q/x"), "/mnt/q/x", true, 0},
    {BIND("/mnt") "," BIND("/into/x"), "/mnt/deep/x", true, 0},
    {BIND("/mnt") "," BIND("/m/q/../../x"), "/x", true, TARGET_ROOT},
    {BIND("/mnt") "," BIND("/mnt"), "/mnt", false, TARGET_ROOT},
    {BIND("/mnt") "," BIND("/mnt2"), "/mnt2", false, TARGET_ROOT},
    {BIND("/mnt") "," BIND("/mnt/a") "," TMPFS("/mnt/a/b", ""), "/mnt/a/b", true, 1},
    {TMPFS("/mnt", "") "," BIND("/mnt/q/x"), "/mnt/q/x", false, 0},
    {TMPFS("/mnt", "\"tmpcopyup\"") "," BIND("/mnt/q/x"), "/etc/x", false, TARGET_ROOT},
    {BIND("/mnt") "," TMPFS("/mnt/t", "") "," BIND("/mnt/t/x"), "/mnt/t/x", true, 1},
};

static void test_ways(void **state)
{
    char path[] = "/tmp/fb-targets.XXXXXX";
    int root = make_root(path);

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        _cleanup_arena_ struct arena arena = {0};
        _cleanup_free_ char *config = strf("{\"mounts\":[%s]}", rows[i].mounts);
        _cleanup_json_ struct json_doc *doc = shim_document(config);
        struct err err = ERR_INIT;
        struct targets targets;
        struct spec spec;
        assert_works(spec_read(doc, &arena, &spec, &err), err);
        assert_works(targets_find(&spec, root, &arena, &targets, &err), err);
        const struct target *last = &targets.list[targets.count - 1];
        if (strcmp(last->path, rows[i].path) != 0 || last->foreign != rows[i].foreign ||
            last->within != rows[i].within)
            fail_msg("%s: %s, %d, %zu", rows[i].mounts, last->path, last->foreign, last->within);
    }
    remove_root(root, path);
}

/* Finds where a bind on the path leads; NULL if that cannot be told. */
static char *lead_of(int root, const char *path)
{
    _cleanup_arena_ struct arena arena = {0};
    _cleanup_free_ char *config = strf("{\"mounts\":[" BIND("%s") "]}", path);
    _cleanup_json_ struct json_doc *doc = shim_document(config);
    struct err err = ERR_INIT;
    struct targets targets;
    struct target lead;
    struct spec spec;

    assert_works(spec_read(doc, &arena, &spec, &err), err);
    bool found = targets_find(&spec, root, &arena, &targets, &err) == 0;
    if (!found)
        assert_int_equal(err.kind, ERR_POLICY);
    targets.count = 0;
    if (targets_lead(&targets, root, path, &arena, &lead, &err) < 0) {
        assert_int_equal(err.kind, ERR_FORMAT);
        assert_false(found);
        return NULL;
    }
    assert_true(found);
    assert_string_equal(targets.list[0].path, lead.path);
    return strdup(lead.path);
}

/* runc follows 255 links, and takes a path by its components; the kernel 40 links, and 4095 bytes.
 */
static void test_ways_that_are_given_up(void **state)
{
    enum { MOST = 40, LONG = 250 };
    char path[] = "/tmp/fb-targets.XXXXXX", self[LONG + 1];
    int root = make_root(path);
    _cleanup_buf_ struct buf far = BUF_INIT;

    (void)state;
    for (int i = 0; i <= MOST; i++) {
        _cleanup_free_ char *name = strf("k%d", i), *next = i ? strf("k%d", i - 1) : strdup("etc");
        assert_int_equal(symlinkat(next, root, name), 0);
    }
    _cleanup_free_ char *most = lead_of(root, "/k39/x"), *more = lead_of(root, "/k40/x");
    assert_string_equal(most, "/etc/x");
    assert_null(more);
    memset(self, 'a', LONG);
    self[LONG] = '\0';
    assert_int_equal(symlinkat(".", root, self), 0);
    for (int i = 0; i < MOST / 2; i++)
        buf_printf(&far, "/%s", self);
    buf_puts(&far, "/into");
    _cleanup_free_ char *through = lead_of(root, far.data);
    assert_string_equal(through, "/mnt/deep");
    buf_truncate(&far, 0);
    for (int i = 0; i < MOST / 2; i++)
        buf_printf(&far, "/%.*s", LONG - 1, self);
    _cleanup_free_ char *new = lead_of(root, far.data);
    assert_null(new);
    for (int i = 0; i <= MOST; i++) {
        _cleanup_free_ char *name = strf("k%d", i);
        assert_int_equal(unlinkat(root, name, 0), 0);
    }
    assert_int_equal(unlinkat(root, self, 0), 0);
    /* Few links, but with thousands of components each. */
    _cleanup_buf_ struct buf slow = BUF_INIT;
    for (int i = 0; i < 2000; i++)
        buf_puts(&slow, "./");
    for (int i = 0; i < 6; i++) {
        _cleanup_free_ char *name = strf("s%d", i), *next = strf("%ss%d", slow.data, i - 1);
        assert_int_equal(symlinkat(i ? next : "etc", root, name), 0);
    }
    _cleanup_free_ char *short_way = lead_of(root, "/s4/x"), *long_way = lead_of(root, "/s5/x");
    assert_string_equal(short_way, "/etc/x");
    assert_null(long_way);
    for (int i = 0; i < 6; i++) {
        _cleanup_free_ char *name = strf("s%d", i);
        assert_int_equal(unlinkat(root, name, 0), 0);
    }
    remove_root(root, path);
}

static bool is_refused(int root, const char *mounts)
{
    _cleanup_arena_ struct arena arena = {0};
    _cleanup_free_ char *config = strf("{\"mounts\":[%s]}", mounts);
    _cleanup_json_ struct json_doc *doc = shim_document(config);
    struct err err = ERR_INIT;
    struct targets targets;
    struct spec spec;

    assert_works(spec_read(doc, &arena, &spec, &err), err);
    return targets_find(&spec, root, &arena, &targets, &err) < 0 && err.kind == ERR_POLICY;
}

#define PROC "{\"destination\":\"/mnt\",\"type\":\"proc\"},"

static void test_ways_through_a_process(void **state)
{
    char path[] = "/tmp/fb-targets.XXXXXX";
    int root = make_root(path);

    (void)state;
    assert_true(is_refused(root, PROC BIND("/mnt/self/root/x")));
    assert_true(is_refused(root, PROC BIND("/mnt/12/cwd")));
    assert_true(is_refused(root, PROC BIND("/m/thread-self/root/x")));
    assert_true(is_refused(root, PROC BIND("/mnt/self/root/etc/../../../sys")));
    assert_false(is_refused(root, PROC BIND("/mnt/self")));
    assert_false(is_refused(root, PROC BIND("/mnt/sys/kernel/x")));
    assert_false(is_refused(root, PROC BIND("/mnt/cpuinfo")));
    assert_false(is_refused(root, BIND("/mnt/self/root/x")));
    remove_root(root, path);
}

UNIT_SUITE(test_targets)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_ways),
                                       cmocka_unit_test(test_ways_that_are_given_up),
                                       cmocka_unit_test(test_ways_through_a_process)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
