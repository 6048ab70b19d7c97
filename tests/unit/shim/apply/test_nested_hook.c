/* The hook in config.json: put in once, in the place of an earlier one, and of nothing like it. */
#include "tests/unit/lib/shim_unit.h"

#include "shim/apply/nested_hook.h"
#include "shim/apply/own_hook.h"

#include <limits.h>
#include <unistd.h>

static const char *own_program(void)
{
    static char path[PATH_MAX];
    ssize_t len = readlink("/proc/self/exe", path, sizeof(path) - 1);

    assert_true(len > 0);
    path[len] = '\0';
    return path;
}

/* Puts the hook for three words into a document whose first hook has that option. */
static void put(const char *option, bool changes, size_t count)
{
    static const char *list[] = {"/root", "8:1", "/srv", "/mnt"};
    const struct nested_words words = {.list = list, .count = 4};
    _cleanup_free_ char *text =
        strf("{\"hooks\":{\"createContainer\":[{\"path\":\"%s\",\"args\":[\"%s\",\"%s\",\"/root\","
             "\"8:1\",\"/srv\",\"/mnt\"]},{\"path\":\"/other\"}]}}",
             own_program(), own_program(), option);
    _cleanup_arena_ struct arena arena = {0};
    _cleanup_json_ struct json_doc *doc = shim_document(text);
    struct err err = ERR_INIT;
    bool changed = false;
    struct spec spec;

    assert_works(spec_read(doc, &arena, &spec, &err), err);
    assert_works(nested_hook_put(&spec, doc, &words, &changed, &err), err);
    const struct json *hooks = json_path(json_root(doc), "hooks", "createContainer", NULL);
    assert_int_equal(changed, changes);
    assert_int_equal(json_count(hooks), count);
    assert_string_equal(json_text(json_at(json_get(json_at(hooks, 0), "args"), 1)),
                        own_hook_mounts.option);
    assert_string_equal(json_text(json_at(json_get(json_at(hooks, 0), "args"), 5)), "/mnt");
}

static void test_put(void **state)
{
    (void)state;
    put(own_hook_mounts.option, false, 2);
    /* This one would check nothing. */
    put("--flatbed-version", true, 3);
}

UNIT_SUITE(test_nested_hook)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_put)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
