/* Configurations of engines and of NVIDIA's toolkit, as values. */
#include "tests/unit/lib/unit.h"

#include "shim/admin/engine/engine_runtimes.h"
#include "shim/admin/engine/nvidia_toolkit.h"

static struct toml scan(const char *text, struct arena *arena)
{
    struct toml toml;
    struct err err = ERR_INIT;

    assert_works(toml_scan(text, strlen(text), arena, &toml, &err), err);
    return toml;
}

static const char *text_of(const char *line, struct arena *arena)
{
    struct toml toml = scan(line, arena);

    return toml_text(&toml, &toml.items[0], arena);
}

static void texts_are_decoded_or_not_at_all(void **state)
{
    (void)state;
    _cleanup_arena_ struct arena arena = {0};

    assert_string_equal(text_of("a = \"x y\" # c", &arena), "x y");
    assert_string_equal(text_of("a = \"\"", &arena), "");
    assert_string_equal(text_of("a = 'c:\\x'", &arena), "c:\\x");
    assert_string_equal(text_of("a = \"q\\\"b\\\\t\\tn\\n\"", &arena), "q\"b\\t\tn\n");
    static const char *const others[] = {"a = 1",         "a = \"\\u0041\"", "a = \"\"\"x\"\"\"",
                                         "a = '''\nx'''", "a = [\"x\"]",     "[a]"};
    for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++)
        if (text_of(others[i], &arena))
            fail_msg("%s: decoded", others[i]);
}

static void lists_of_texts_are_decoded_or_not_at_all(void **state)
{
    (void)state;
    _cleanup_arena_ struct arena arena = {0};
    struct toml toml = scan("a = [\"x\", # ], \"no\"\n 'y',\n]\nb = []\nc = [1]\nd = [[\"x\"]]\n"
                            "e = \"x\"\nf = true",
                            &arena);
    struct toml_texts list;

    assert_true(toml_texts(&toml, &toml.items[0], &arena, &list));
    assert_int_equal(list.count, 2);
    assert_string_equal(list.items[0], "x");
    assert_string_equal(list.items[1], "y");
    assert_true(toml_texts(&toml, &toml.items[1], &arena, &list));
    assert_int_equal(list.count, 0);
    for (size_t i = 2; i < 5; i++)
        assert_false(toml_texts(&toml, &toml.items[i], &arena, &list));
    assert_false(toml_texts(&toml, NULL, &arena, &list));
    assert_true(toml_true(&toml, &toml.items[5]));
    assert_false(toml_true(&toml, &toml.items[4]));
}

static void programs_are_known_by_their_names(void **state)
{
    (void)state;
    assert_int_equal(runtime_kind_of("/opt/bin/flatbed-runtime"), RUNTIME_FLATBED);
    assert_int_equal(runtime_kind_of("nvidia-container-runtime"), RUNTIME_NVIDIA);
    assert_int_equal(runtime_kind_of("/usr/bin/nvidia-container-runtime.cdi"), RUNTIME_NVIDIA);
    assert_int_equal(runtime_kind_of("/usr/bin/nvidia-container-runtime-hook"), RUNTIME_OTHER);
    assert_int_equal(runtime_kind_of("/usr/bin/nvidia-container-runtime/runc"), RUNTIME_OTHER);
    assert_int_equal(runtime_kind_of(""), RUNTIME_OTHER);
}

static void the_toolkit_has_its_defaults(void **state)
{
    (void)state;
    _cleanup_nvidia_toolkit_ struct nvidia_toolkit t = {0};
    struct err err = ERR_INIT;

    assert_works(nvidia_toolkit_parse("/x", NULL, 0, &t, &err), err);
    assert_false(t.exists);
    assert_string_equal(t.mode, "auto");
    assert_int_equal(t.runtimes.count, 3);
    assert_string_equal(t.device_kind, "nvidia.com/gpu");
    assert_string_equal(t.spec_dirs.items[1], "/var/run/cdi");
}

static void the_toolkit_is_read(void **state)
{
    (void)state;
    static const char text[] =
        "[nvidia-container-runtime]\nmode = \"jit-cdi\"\nruntimes = [\"/a/flatbed-runtime\"]\n"
        "modes.cdi.spec-dirs = [\"/spec\"]\n"
        "[nvidia-container-runtime-hook]\nskip-mode-detection = true\n";
    _cleanup_nvidia_toolkit_ struct nvidia_toolkit t = {0};
    struct err err = ERR_INIT;

    assert_works(nvidia_toolkit_parse("/x", text, sizeof(text) - 1, &t, &err), err);
    assert_true(t.exists && t.hook_in_all_modes);
    assert_string_equal(t.mode, "jit-cdi");
    assert_string_equal(t.runtimes.items[0], "/a/flatbed-runtime");
    assert_string_equal(t.spec_dirs.items[0], "/spec");
}

static void a_toolkit_in_another_form_is_refused(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "nvidia-container-runtime = { mode = \"cdi\" }",
        "[nvidia-container-runtime]\nmodes = { cdi = {} }",
        "[[nvidia-container-runtime]]",
        "[nvidia-container-runtime]\nmode = 1",
        "[nvidia-container-runtime]\nruntimes = [\"\"\"runc\"\"\"]",
        "nvidia-container-runtime-hook = { skip-mode-detection = true }",
    };
    for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
        _cleanup_nvidia_toolkit_ struct nvidia_toolkit t = {0};
        struct err err = ERR_INIT;
        assert_fails(nvidia_toolkit_parse("/x", texts[i], strlen(texts[i]), &t, &err), err,
                     ERR_UNSUPPORTED);
        assert_contains(err.msg, "line ");
    }
}

/* Returns the ID of the plugin in a text; "" with an error. */
static const char *plugin_of(const char *text, const char *importer)
{
    _cleanup_arena_ struct arena arena = {0};
    struct toml toml = scan(text, &arena);
    struct err err = ERR_INIT;
    const char *plugin = containerd_plugin(&toml, importer, &err);

    return plugin ? plugin : "";
}

static void the_plugin_follows_from_the_version(void **state)
{
    (void)state;
    static const char old[] = "io.containerd.grpc.v1.cri", new[] = "io.containerd.cri.v1.runtime";

    assert_string_equal(plugin_of("", NULL), old);
    assert_string_equal(plugin_of("version = 2", NULL), old);
    assert_string_equal(plugin_of("version = 3", NULL), new);
    assert_string_equal(plugin_of("version = 4", NULL), new);
    assert_string_equal(plugin_of("version = 1", NULL), "");
    assert_string_equal(plugin_of("root = '/x'", NULL), "");
    assert_string_equal(plugin_of("version = 5", NULL), "");
    /* a file that is imported and says no version */
    assert_string_equal(plugin_of("", new), new);
    assert_string_equal(plugin_of("[plugins.\"io.containerd.grpc.v1.cri\"]", new), old);
    assert_string_equal(plugin_of("[plugins.\"io.containerd.cri.v1.runtime\"]", new), new);
}

static void runtimes_of_docker_are_listed(void **state)
{
    (void)state;
    static const char text[] =
        "{\"default-runtime\":\"gpu\",\"runtimes\":{\"gpu\":{\"path\":\"nvidia-container-runtime\"}"
        ",\"shim\":{\"runtimeType\":\"io.containerd.runc.v2\",\"options\":{\"BinaryName\":\"/x\"}},"
        "\"none\":{\"runtimeType\":\"io.containerd.kata.v2\"}}}";
    _cleanup_engine_runtimes_ struct engine_runtimes r = {0};
    struct err err = ERR_INIT;
    _cleanup_json_ struct json_doc *doc = json_parse(text, sizeof(text) - 1, NULL, &err);

    assert_works(engine_runtimes_add_docker(&r, "/d", json_root(doc), &err), err);
    assert_int_equal(r.count, 2);
    assert_string_equal(r.list[1].path, "/x");
    assert_ptr_equal(engine_runtimes_nvidia_default(&r, "docker"), &r.list[0]);
    assert_null(engine_runtimes_nvidia_default(&r, "podman"));
}

static void runtimes_of_podman_are_listed(void **state)
{
    (void)state;
    _cleanup_engine_runtimes_ struct engine_runtimes r = {0};
    struct toml toml = scan("[engine]\nruntime = \"gpu\"\n[engine.runtimes]\n"
                            "gpu = [\"/none/x\", \"/bin/sh\"]\nlost = [\"/none/y\"]\nbad = 1\n",
                            &r.arena);
    struct err err = ERR_INIT;

    assert_works(engine_runtimes_add_podman(&r, "/c", &toml, &err), err);
    assert_int_equal(r.count, 2);
    assert_string_equal(r.list[0].path, "/bin/sh");
    assert_true(r.list[0].is_default);
    assert_string_equal(r.list[1].path, "/none/y");
}

UNIT_SUITE(test_engine)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(texts_are_decoded_or_not_at_all),
        cmocka_unit_test(lists_of_texts_are_decoded_or_not_at_all),
        cmocka_unit_test(programs_are_known_by_their_names),
        cmocka_unit_test(the_toolkit_has_its_defaults),
        cmocka_unit_test(the_toolkit_is_read),
        cmocka_unit_test(a_toolkit_in_another_form_is_refused),
        cmocka_unit_test(the_plugin_follows_from_the_version),
        cmocka_unit_test(runtimes_of_docker_are_listed),
        cmocka_unit_test(runtimes_of_podman_are_listed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
