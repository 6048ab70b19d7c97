/* "gpus" as values: a policy × nodes and requests → a ruling. */
#include "tests/unit/lib/shim_unit.h"

#include "shim/plan/gpu/gpu_judge.h"

#define NODE(major, minor)                                                                         \
    "{\"path\":\"/dev/x\",\"type\":\"c\",\"major\":" #major ",\"minor\":" #minor "}"
#define NODES(list)                                                                                \
    "{\"linux\":{\"devices\":[" list "],\"resources\":{\"devices\":[{\"allow\":false}]}}}"
#define ENV(value)                                                                                 \
    "{\"process\":{\"env\":[\"NVIDIA_VISIBLE_DEVICES=" value                                       \
    "\"]},\"linux\":{\"resources\":{\"devices\":[{\"allow\":false}]}}}"

static struct gpu_card cards[] = {
    {0, "GPU-a0", "1"}, {1, "GPU-b1", "2"}, {2, "GPU-c2", "3"}, {3, "GPU-d3", "4"}};
static struct gpu_right rights[] = {{GPU_RIGHT_MANAGE, 1, 0},
                                    {GPU_RIGHT_INSTANCE, 21, 1},
                                    {GPU_RIGHT_COMPUTE, 22, 1},
                                    {GPU_RIGHT_COMPUTE, 23, 1}};

struct ruled {
    enum gpu_outcome outcome;
    char reason[512], value[32];
    size_t keep;
};

/* Rules on a container; the request counts if it asks with the variable. */
static struct ruled judge_on(const struct gpu_host *host, const char *gpus, const char *config)
{
    static const char *const none[] = {NULL};
    _cleanup_arena_ struct arena arena = {0};
    _cleanup_free_ char *section = strf("\"gpus\":{%s}", gpus);
    _cleanup_policy_ struct policy *policy = shim_policy(section);
    _cleanup_json_ struct json_doc *doc = shim_document(config);
    struct gpu_facts facts = {.host = *host};
    struct gpu_ruling ruling;
    struct ruled out = {0};
    struct err err = ERR_INIT;
    struct spec spec;

    assert_works(spec_read(doc, &arena, &spec, &err), err);
    assert_works(gpu_nodes_find(&spec, host, &arena, &facts.nodes, &err), err);
    facts.asked_all = gpu_request_asked_all(&spec);
    if (!facts.nodes.used && spec.env) {
        facts.later = "/usr/bin/nvidia-container-runtime";
        assert_works(gpu_request_read(&spec, none, &arena, &facts.request, &err), err);
    }
    assert_works(gpu_judge(&policy->gpus, &facts, &arena, &ruling, &err), err);
    out.outcome = ruling.outcome;
    out.keep = ruling.keep_count;
    snprintf(out.reason, sizeof(out.reason), "%s", ruling.reason ? ruling.reason : "");
    snprintf(out.value, sizeof(out.value), "%s", ruling.value ? ruling.value : "");
    return out;
}

static struct ruled judge(const char *gpus, const char *config)
{
    const struct gpu_host host = {.uvm = 510,
                                  .caps = 237,
                                  .cards = cards,
                                  .card_count = 4,
                                  .rights = rights,
                                  .right_count = sizeof(rights) / sizeof(*rights)};

    return judge_on(&host, gpus, config);
}

static void test_nothing(void **state)
{
    (void)state;
    assert_int_equal(judge("\"max\":0", NODES("")).outcome, GPU_NOTHING);
    assert_int_equal(judge("\"max\":0", ENV("void")).outcome, GPU_NOTHING);
    assert_int_equal(judge("\"max\":0", ENV("")).outcome, GPU_NOTHING);
    assert_int_equal(judge("\"max\":1", ENV("none")).outcome, GPU_NOTHING);
    assert_string_equal(judge("\"max\":0", ENV("none")).value, "void");
}

static void test_control_nodes_are_no_gpus(void **state)
{
    (void)state;
    assert_int_equal(judge("\"max\":1", NODES(NODE(195, 0) "," NODE(195, 255) "," NODE(
                                            195, 254) "," NODE(510, 0)))
                         .outcome,
                     GPU_ALLOWED);
    assert_int_equal(judge("\"devices\":[]", NODES(NODE(195, 255))).outcome, GPU_DENIED);
    assert_int_equal(judge("\"max\":0", NODES(NODE(510, 1))).outcome, GPU_DENIED);
}

static void test_every_gpu_is_all(void **state)
{
    static const char every[] =
        NODES(NODE(195, 0) "," NODE(195, 1) "," NODE(195, 2) "," NODE(195, 3));

    (void)state;
    assert_contains(judge("", every).reason, "all GPUs of this host (0, 1, 2, 3)");
    assert_int_equal(judge("\"all\":\"allow\"", every).outcome, GPU_ALLOWED);
    assert_int_equal(judge("\"max\":4", every).outcome, GPU_ALLOWED);
    assert_int_equal(judge("", ENV("0,1,2")).outcome, GPU_ALLOWED);
    assert_int_equal(judge("", ENV("0,1,2,GPU-D3")).outcome, GPU_DENIED);
    assert_int_equal(judge("\"all\":\"allow\",\"max\":3", ENV("all")).outcome, GPU_DENIED);
    assert_int_equal(judge("\"all\":\"allow\",\"max\":4", ENV("all")).outcome, GPU_ALLOWED);
}

static void test_mig(void **state)
{
    static const char two[] =
        NODES(NODE(195, 1) "," NODE(237, 21) "," NODE(237, 22) "," NODE(237, 23));
    static const char unknown[] = NODES(NODE(195, 1) "," NODE(237, 51) "," NODE(237, 52));
    const struct gpu_host unloaded = {.uvm = 510, .caps = 237};

    (void)state;
    assert_int_equal(judge("\"max\":2,\"devices\":[\"MIG-*\"]", two).outcome, GPU_ALLOWED);
    assert_int_equal(judge("\"max\":1", two).outcome, GPU_DENIED);
    assert_int_equal(judge("\"devices\":[\"1\"]", two).outcome, GPU_ALLOWED);
    assert_int_equal(judge("\"devices\":[\"GPU-b1\"]", two).outcome, GPU_ALLOWED);
    assert_int_equal(judge("\"devices\":[\"0\",\"0:*\"]", two).outcome, GPU_DENIED);
    assert_contains(judge("\"max\":9", NODES(NODE(237, 1))).reason, "change or watch all MIG");
    assert_int_equal(judge_on(&unloaded, "\"max\":1", unknown).outcome, GPU_ALLOWED);
    assert_int_equal(judge_on(&unloaded, "\"devices\":[\"MIG-*\"]", unknown).outcome, GPU_DENIED);
    assert_int_equal(judge_on(&unloaded, "\"max\":9", NODES(NODE(237, 2))).outcome, GPU_DENIED);
    assert_int_equal(judge("\"devices\":[\"MIG-*\"]", ENV("MIG-8f")).outcome, GPU_ALLOWED);
    assert_int_equal(judge("\"devices\":[\"0-3\"]", ENV("MIG-8f")).outcome, GPU_DENIED);
    assert_int_equal(judge("\"devices\":[\"1:0\"]", ENV("1:0")).outcome, GPU_ALLOWED);
    assert_int_equal(judge("\"devices\":[\"1:0\"]", ENV("1:1")).outcome, GPU_DENIED);
    assert_int_equal(judge("\"max\":1", ENV("1:0,1:0,1:1")).outcome, GPU_DENIED);
}

static void test_uuids(void **state)
{
    const struct gpu_host unloaded = GPU_HOST_INIT;

    (void)state;
    assert_int_equal(judge("\"devices\":[\"GPU-b1\"]", ENV("1")).outcome, GPU_ALLOWED);
    assert_int_equal(judge("\"devices\":[\"1\"]", ENV("GPU-b")).outcome, GPU_ALLOWED);
    assert_int_equal(judge("\"devices\":[\"1\"]", ENV("GPU-c2")).outcome, GPU_DENIED);
    assert_int_equal(judge("\"max\":1", ENV("1,GPU-b1,1")).outcome, GPU_ALLOWED);
    assert_int_equal(judge("\"devices\":[\"GPU-e*\"]", ENV("GPU-e")).outcome, GPU_DENIED);
    assert_int_equal(judge_on(&unloaded, "\"devices\":[\"GPU-b*\"]", ENV("GPU-b1")).outcome,
                     GPU_ALLOWED);
    assert_int_equal(judge_on(&unloaded, "\"devices\":[\"0-7\"]", ENV("GPU-b1")).outcome,
                     GPU_DENIED);
}

static void test_stripping(void **state)
{
    static const char got[] =
        "{\"process\":{\"env\":[\"NVIDIA_VISIBLE_DEVICES=all\","
        "\"NVIDIA_VISIBLE_DEVICES=void\"]},\"linux\":{\"devices\":[" NODE(195, 0) "," NODE(
            195, 1) "],\"resources\":{\"devices\":[{\"allow\":false}]}}}";

    (void)state;
    assert_int_equal(judge("", got).outcome, GPU_STRIPPED);
    assert_int_equal(judge("\"default\":\"GPU-b1\"", got).keep, 1);
    assert_contains(judge("\"default\":\"2\"", got).reason, "has not got all of 2");
    assert_contains(judge("\"default\":\"1:0\"", got).reason, "has not got all of 1:0");
    assert_contains(judge("\"default\":\"0,1\",\"max\":1", got).reason, "at most 1");
}

UNIT_SUITE(test_gpu_judge)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nothing),
        cmocka_unit_test(test_control_nodes_are_no_gpus),
        cmocka_unit_test(test_every_gpu_is_all),
        cmocka_unit_test(test_mig),
        cmocka_unit_test(test_uuids),
        cmocka_unit_test(test_stripping),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
