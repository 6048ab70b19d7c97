/* Orders of flatbed-runtime and NVIDIA's runtime, as values. */
#include "tests/unit/lib/unit.h"

#include "shim/admin/check/lint_nvidia.h"

#define GONE "!" /* before a name: there is no such program */

static void set_program(struct runtime_program *program, const char *name)
{
    program->found = name[0] != GONE[0];
    snprintf(program->path, sizeof(program->path), "%s", name + !program->found);
    program->kind = runtime_kind_of(program->path);
}

/* A host: words for runtime.paths, for the toolkit's runtimes, its mode, and a runtime of docker.
 */
struct scene {
    const char *lowlevel[4], *calls[4], *mode, *runtime;
    bool no_spec, hook, off, no_toolkit;
};

/* Returns the findings as "level:rule ". */
static char *lints(const struct scene *scene, struct findings *f)
{
    struct nvidia_view view = {.toolkit = {.path = "/t",
                                           .exists = !scene->no_toolkit,
                                           .mode = scene->mode ? scene->mode : "cdi",
                                           .device_kind = "nvidia.com/gpu",
                                           .hook_in_all_modes = scene->hook},
                               .has_spec = !scene->no_spec};
    struct engine_runtime runtime = {"docker", "/d", "nvidia", scene->runtime, false};
    struct nvidia_host *host = calloc(1, sizeof(*host));
    struct buf out = BUF_INIT;
    struct err err;

    assert_non_null(host);
    host->views = &view;
    host->view_count = 1;
    while (scene->lowlevel[host->lowlevel_count]) {
        set_program(&host->lowlevel[host->lowlevel_count], scene->lowlevel[host->lowlevel_count]);
        host->lowlevel_count++;
    }
    for (; scene->calls[view.call_count]; view.call_count++)
        set_program(&view.calls[view.call_count], scene->calls[view.call_count]);
    if (scene->runtime) {
        host->runtimes[0].runtime = &runtime;
        host->runtime_count = 1;
    }
    lint_nvidia(host, scene->off, f);
    free(host);
    assert_false(f->failed);
    buf_puts(&out, "");
    for (size_t i = 0; i < f->count; i++)
        buf_printf(&out, "%s:%s ", finding_level_names[f->list[i].level], f->list[i].rule);
    return buf_take(&out, &err);
}

#define assert_lints(expected, ...)                                                                \
    do {                                                                                           \
        struct scene scene_ = {__VA_ARGS__};                                                       \
        _cleanup_findings_ struct findings f_ = {0};                                               \
        _cleanup_free_ char *found_ = lints(&scene_, &f_);                                         \
        assert_string_equal(found_, expected);                                                     \
    } while (0)

#define RUNC    .lowlevel = {"/bin/runc"}
#define NVIDIA  "/usr/bin/nvidia-container-runtime"
#define FLATBED "/usr/local/bin/flatbed-runtime"

static void the_right_order_has_no_findings(void **state)
{
    (void)state;
    assert_lints("", RUNC, .calls = {FLATBED}, .runtime = NVIDIA);
    assert_lints("", RUNC, .calls = {FLATBED}, .runtime = NVIDIA, .mode = "jit-cdi",
                 .no_spec = true);
    assert_lints("", RUNC, .calls = {FLATBED}, .runtime = NVIDIA ".cdi");
    /* no toolkit, and none of its runtimes */
    assert_lints("", RUNC, .calls = {"!docker-runc", "runc"}, .mode = "auto", .no_toolkit = true);
}

static void an_order_in_which_the_policy_judges_first(void **state)
{
    (void)state;
    assert_lints("warning:nvidia-order ", .lowlevel = {NVIDIA}, .calls = {"runc"});
    assert_lints("warning:nvidia-order ", .lowlevel = {"/bin/runc", NVIDIA}, .calls = {FLATBED});
    assert_lints("warning:nvidia-order ", .lowlevel = {"!" NVIDIA, "runc"}, .calls = {FLATBED});
    assert_lints("", .lowlevel = {NVIDIA}, .calls = {"runc"}, .off = true);
}

static void runtimes_that_call_each_other(void **state)
{
    (void)state;
    assert_lints("error:nvidia-loop ", .lowlevel = {NVIDIA}, .calls = {FLATBED});
    assert_lints("error:nvidia-loop ", .lowlevel = {"!x", NVIDIA}, .calls = {"!y", FLATBED},
                 .off = true);
    assert_lints("error:nvidia-loop ", RUNC, .calls = {NVIDIA ".cdi"});
}

static void a_runtime_that_bypasses_the_policy(void **state)
{
    (void)state;
    assert_lints("warning:nvidia-around ", RUNC, .calls = {"!docker-runc", "/bin/runc"},
                 .runtime = NVIDIA);
    assert_lints("warning:nvidia-around ", RUNC, .calls = {"/bin/runc", FLATBED},
                 .runtime = NVIDIA);
    assert_lints("warning:nvidia-around ", RUNC, .calls = {"!" FLATBED, "/bin/runc"},
                 .runtime = NVIDIA);
    assert_lints("", RUNC, .calls = {"/bin/runc"}, .runtime = NVIDIA, .off = true);
    assert_lints("", RUNC, .calls = {"/bin/runc"});
}

static void a_list_that_falls_through(void **state)
{
    (void)state;
    assert_lints("warning:nvidia-falls-through ", RUNC, .calls = {FLATBED, "/bin/runc"},
                 .runtime = NVIDIA);
    assert_lints("warning:nvidia-falls-through ", RUNC, .calls = {"!docker-runc", FLATBED},
                 .runtime = NVIDIA);
    assert_lints("error:nvidia-missing ", RUNC, .calls = {"!" FLATBED}, .runtime = NVIDIA);
    assert_lints("", RUNC, .calls = {FLATBED, FLATBED}, .runtime = NVIDIA);
}

static void modes_that_give_gpus_later(void **state)
{
    (void)state;
    assert_lints("warning:nvidia-legacy ", RUNC, .calls = {FLATBED}, .mode = "legacy");
    assert_lints("warning:nvidia-legacy ", RUNC, .calls = {FLATBED}, .mode = "auto");
    assert_lints("warning:nvidia-legacy ", RUNC, .calls = {FLATBED}, .hook = true);
    assert_lints("warning:nvidia-legacy ", RUNC, .calls = {FLATBED}, .runtime = NVIDIA ".legacy");
    assert_lints("warning:nvidia-no-spec ", RUNC, .calls = {FLATBED}, .no_spec = true);
    assert_lints("", RUNC, .calls = {FLATBED}, .mode = "legacy", .off = true);
}

UNIT_SUITE(test_lint_nvidia)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_right_order_has_no_findings),
        cmocka_unit_test(an_order_in_which_the_policy_judges_first),
        cmocka_unit_test(runtimes_that_call_each_other),
        cmocka_unit_test(a_runtime_that_bypasses_the_policy),
        cmocka_unit_test(a_list_that_falls_through),
        cmocka_unit_test(modes_that_give_gpus_later),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
