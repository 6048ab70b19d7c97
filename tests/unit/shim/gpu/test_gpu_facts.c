/* The program that fulfils a request, and what the request is. */
#include "tests/unit/lib/shim_unit.h"

#include "shim/gpu/gpu_facts.h"

#define HOOK(path, name)                                                                           \
    "{\"hooks\":{\"prestart\":[{\"path\":\"" path "\",\"args\":[\"" name "\"]}]}}"

static void test_who_acts_later(void **state)
{
    static const struct {
        const char *config, *lowlevel;
        bool later;
    } cases[] = {
        {"{}", NULL, false},
        {"{}", "/usr/bin/runc", false},
        {"{}", "/usr/lib/flatbed/runc", false},
        {"{}", "/usr/bin/crun", false},
        {"{}", "/usr/bin/nvidia-container-runtime", true},
        {"{}", "/opt/wrapper", true},
        {HOOK("/usr/bin/nvidia-container-runtime-hook", "x"), "/usr/bin/runc", true},
        {HOOK("/usr/bin/x", "nvidia-container-toolkit"), "/usr/bin/runc", true},
        {HOOK("/usr/bin/nvidia-ctk", "nvidia-ctk"), "/usr/bin/runc", false},
        {HOOK("/usr/bin/nvidia-cdi-hook", "nvidia-cdi-hook"), "/usr/bin/runc", false},
        {HOOK("/proc/1/exe", "libnetwork-setkey"), "/usr/bin/runc", false},
        {"{\"hooks\":{\"poststop\":{},\"prestart\":[1,{\"path\":2}]}}", "/usr/bin/runc", false},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        _cleanup_arena_ struct arena arena = {0};
        _cleanup_json_ struct json_doc *doc = shim_document(cases[i].config);
        struct err err = ERR_INIT;
        struct spec spec;
        assert_works(spec_read(doc, &arena, &spec, &err), err);
        if ((gpu_facts_later(&spec, cases[i].lowlevel) != NULL) != cases[i].later)
            fail_msg("%s %s", cases[i].config, cases[i].lowlevel ? cases[i].lowlevel : "");
    }
}

static void test_swarm_resources(void **state)
{
    _cleanup_arena_ struct arena arena = {0};
    const char *const *list = gpu_facts_swarm("#swarm-resource = \"X\"\n", &arena);

    (void)state;
    assert_null(list[0]);
    assert_null(gpu_facts_swarm(NULL, &arena)[0]);
    assert_null(gpu_facts_swarm("swarm-resource-of-mine = \"A\"", &arena)[0]);
    list = gpu_facts_swarm("a = 1\n  swarm-resource=' A ,B,, C'\n", &arena);
    assert_string_equal(list[0], "A");
    assert_string_equal(list[1], "B");
    assert_string_equal(list[2], "C");
    assert_null(list[3]);
}

UNIT_SUITE(test_gpu_facts)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_who_acts_later),
        cmocka_unit_test(test_swarm_resources),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
