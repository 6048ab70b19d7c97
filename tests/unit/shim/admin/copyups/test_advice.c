#include "tests/unit/lib/shim_unit.h"

#include "shim/admin/copyups/advice.h"
#include "shim/admin/copyups/habits.h"

static void test_habits(void **state)
{
    static const struct {
        const char *path, *what;
        size_t len;
    } rows[] = {
        {"/root/.cache/torch/hub/checkpoints", "PyTorch's cache of models", 18},
        {"/root/.cache/huggingface", "the cache of Hugging Face", 24},
        {"/root/.cache/other/x", "caches of programs", 12},
        {"/tmp/torchinductor_root/x", "Inductor's cache", 23},
        {"/tmp/x", "temporary files", 4},
        {"/opt/conda/pkgs/x", "conda's packages", 15},
        {"/usr/lib/python3/site-packages/torch", "Python's packages", 30},
        {"/var/log/app", "logs", 8},
        {"/srv/checkpoints", "checkpoints", 16},
        {"/srv/mycheckpoints", NULL, 0},
        {"/", NULL, 0},
        {"", NULL, 0},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        size_t len = 0;
        const struct habit *habit = habit_of(rows[i].path, &len);
        if (!rows[i].what) {
            assert_null(habit);
            continue;
        }
        assert_non_null(habit);
        assert_string_equal(habit->what, rows[i].what);
        assert_int_equal(len, rows[i].len);
    }
}

static const char volumes[] =
    "\"volumes\":{"
    "\"data\":{\"source\":\"/srv/{name}\",\"target\":\"/data/{name}\",\"access\":\"ro\"},"
    "\"work\":{\"source\":\"/srv/w/{user}\",\"target\":\"/home/{user}/work\",\"access\":\"rw\"},"
    "\"logs\":{\"source\":\"/srv/l\",\"target\":\"/workspace/logs\",\"access\":\"rw\","
    "\"always\":true},"
    "\"cache\":{\"source\":\"/srv/c/{user}/{name}\",\"target\":\"/var/cache/x/{name}\","
    "\"access\":\"rw\",\"presets\":[\"torch\"]}}";

static struct advice advise(const char *path, uint64_t hidden, const struct policy *policy,
                            struct arena *arena)
{
    _cleanup_free_ char *copy = strdup(path);
    const struct tally_directory directory = {
        .path = copy, .sum = {1, 1000, 1000}, .hidden = hidden};
    struct advice advice;
    struct err err = ERR_INIT;

    assert_works(advice_on(&directory, policy, arena, &advice, &err), err);
    return advice;
}

static void test_policy(void **state)
{
    static const struct {
        const char *path, *volume, *say;
    } rows[] = {
        {"/root/.cache/torch", "cache", "--annotation flatbed.cache=torch sets TORCH_HOME"},
        {"/app/logs", "logs", "write to the policy's volume \"logs\" instead, at /workspace/logs"},
        {"/workspace/logs/run1", "logs", "is mounted there"},
        {"/home/eve/work/results", "work", "flatbed.work=NAME"},
        {"/home/eve/works", NULL, NULL},
        {"/data/coco", "data", "flatbed.data=NAME mounts it at /data/{name}"},
        {"/root/.cache/pip", NULL, "PIP_CACHE_DIR"},
        {"/var/cache/x/torch/y", "cache", "the policy's volume \"cache\""},
    };
    _cleanup_policy_ struct policy *policy = shim_policy(volumes);
    _cleanup_arena_ struct arena arena = {0};

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        struct advice a = advise(rows[i].path, 0, policy, &arena);
        if (rows[i].volume)
            assert_string_equal(a.volume, rows[i].volume);
        else
            assert_null(a.volume);
        if (rows[i].say)
            assert_contains(a.say, rows[i].say);
        else
            assert_null(a.say);
    }
}

/* Each addition is a policy that loads, whatever the name of the directory. */
static void test_snippets(void **state)
{
    static const char *const paths[] = {"/root/.cache/torch/hub", "/app/logs/x",
                                        "/srv/\"{user}\"/checkpoints", "/srv/a b/notebooks",
                                        "/x/.cache"};
    _cleanup_arena_ struct arena arena = {0};

    (void)state;
    for (size_t i = 0; i < sizeof(paths) / sizeof(*paths); i++) {
        struct advice a = advise(paths[i], 0, NULL, &arena);
        assert_non_null(a.snippet);
        _cleanup_free_ char *text = strf("\"volumes\":{%s}", a.snippet);
        _cleanup_policy_ struct policy *policy = shim_policy(text);
        assert_int_equal(policy->volume_count, 1);
    }
    assert_contains(advise("/app/logs/x", 0, NULL, &arena).snippet, "\"/app/logs\"");
    assert_contains(advise("/srv/a b/notebooks", 0, NULL, &arena).snippet,
                    "\"/workspace/notebooks\"");
}

static void test_image(void **state)
{
    _cleanup_arena_ struct arena arena = {0};

    (void)state;
    assert_contains(advise("/opt/app", 900, NULL, &arena).say, "Dockerfile");
    assert_contains(advise("/usr/lib/python3/dist-packages", 0, NULL, &arena).say, "Dockerfile");
    assert_null(advise("/opt/app", 100, NULL, &arena).say);
    assert_contains(advise("/tmp", 0, NULL, &arena).say, "--tmpfs");
}

UNIT_SUITE(test_advice)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_habits),
        cmocka_unit_test(test_policy),
        cmocka_unit_test(test_snippets),
        cmocka_unit_test(test_image),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
