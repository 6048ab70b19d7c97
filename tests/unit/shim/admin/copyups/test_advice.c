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
        {"/root/.cache/torch", "cache",
         "-v /dev/null:/run/flatbed/request/cache/torch, sets TORCH_HOME"},
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

static void test_profiles(void **state)
{
    _cleanup_policy_ struct policy *policy = shim_policy(
        "\"profiles\":[{\"name\":\"train\",\"match\":{\"image\":[\"x/*\"]},\"volumes\":{\"ckpt\":{"
        "\"source\":\"/srv/c\",\"target\":\"/ckpt\",\"access\":\"rw\"}}}],"
        "\"volumes\":{\"logs\":{\"source\":\"/srv/l\",\"target\":\"/logs\",\"access\":\"rw\"}}");
    _cleanup_arena_ struct arena arena = {0};
    struct advice a = advise("/ckpt/run1", 0, policy, &arena);

    (void)state;
    assert_string_equal(a.volume, "ckpt");
    assert_contains(a.say, "flatbed.ckpt=NAME (only in profile \"train\")");
    a = advise("/logs/x", 0, policy, &arena);
    assert_string_equal(a.volume, "logs");
    assert_null(strstr(a.say, "profile"));
}

/* Returns the policy with what is advised for the paths. */
static struct policy *policy_for(const char *const *paths, size_t count, struct arena *arena)
{
    _cleanup_buf_ struct buf text = BUF_INIT;
    struct advice list[8];

    for (size_t i = 0; i < count; i++)
        list[i] = advise(paths[i], 0, NULL, arena);
    buf_puts(&text, "\"volumes\":{");
    advice_snippet(list, count, "  ", &text);
    buf_puts(&text, "}");
    return shim_policy(text.data);
}

/* The addition is a policy that loads, whatever the names of the directories. */
static void test_snippets(void **state)
{
    static const char *const paths[] = {
        "/root/.cache",           "/root/.cache/torch/hub", "/home/u/.cache/torch", "/app/logs/x",
        "/srv/\"{user}\"/ckpt/x", "/srv/a b/notebooks",     "/root/.triton/cache",  "/app/tmp"};
    _cleanup_arena_ struct arena arena = {0};
    _cleanup_policy_ struct policy *all = policy_for(paths, 8, &arena);

    (void)state;
    assert_int_equal(all->volume_count, 4);
    const struct policy_volume *cache = policy_volume_find(all, "cache", 5);
    assert_int_equal(cache->presets.count, 2);
    assert_string_equal(cache->presets.items[0], "torch");
    assert_string_equal(cache->presets.items[1], "triton");
    assert_string_equal(policy_volume_find(all, "logs", 4)->target.text, "/app/logs");
    assert_string_equal(policy_volume_find(all, "notebooks", 9)->target.text,
                        "/workspace/notebooks");
    _cleanup_policy_ struct policy *one = policy_for(paths, 1, &arena);
    assert_string_equal(policy_volume_find(one, "cache", 5)->presets.items[0], "xdg");
    _cleanup_policy_ struct policy *none = policy_for(paths + 7, 1, &arena);
    assert_int_equal(none->volume_count, 0);
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
        cmocka_unit_test(test_habits),   cmocka_unit_test(test_policy),
        cmocka_unit_test(test_profiles), cmocka_unit_test(test_snippets),
        cmocka_unit_test(test_image),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
