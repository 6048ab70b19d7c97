/* policy × requests × spec → operations: every verdict, and the order. */
#include "tests/unit/lib/plan_unit.h"

static void test_always_and_asked_for(void **state)
{
    struct fixture *f = *state;

    plan_for(f, plan_volumes,
             "{\"process\":{},\"annotations\":{\"flatbed.data\":\"imagenet,coco-17:ro:/c\"}}");
    const struct plan_op *logs = mount_on(f, "/work");
    assert_int_equal(logs->verdict, PLAN_ADDED);
    assert_string_equal(logs->mount.source, "/srv/logs/c1");
    assert_int_equal(logs->mount.access, ACCESS_RW);
    assert_null(logs->asked_by);
    assert_true(logs->mount.ours);
    const struct plan_op *data = mount_on(f, "/work/data/imagenet");
    assert_string_equal(data->mount.source, "/srv/data/imagenet");
    assert_int_equal(data->mount.access, ACCESS_RO);
    assert_string_equal(data->asked_by, "flatbed.data");
    assert_string_equal(mount_on(f, "/c")->mount.source, "/srv/data/coco-17");
    assert_string_equal(mount_on(f, "/cache/torch")->mount.source, "/srv/cache/alice/torch");
    assert_string_equal(variable(f, "TORCH_HOME")->variable.value, "/cache/torch");
    assert_int_equal(variable(f, "TORCH_HOME")->verdict, PLAN_ADDED);
    assert_true(decision_changes(&f->decision));
}

static void test_shallow_targets_come_first(void **state)
{
    struct fixture *f = *state;
    size_t last = 0;

    plan_for(f, plan_volumes,
             "{\"annotations\":{\"flatbed.data\":\"imagenet,coco-1:/a,coco-2:/x/y/z/w\"}}");
    for (size_t i = 0; i < f->plan.count && f->plan.ops[i].kind == PLAN_MOUNT; i++) {
        size_t depth = 0;
        for (const char *c = f->plan.ops[i].mount.target; *c; c++)
            depth += *c == '/';
        assert_true(depth >= last);
        last = depth;
    }
    assert_int_equal(last, 4);
}

static void test_a_variable_of_two_volumes_is_the_firsts(void **state)
{
    struct fixture *f = *state;
    size_t added = 0, skipped = 0;

    plan_for(f, plan_volumes,
             "{\"process\":{},\"annotations\":{\"flatbed.data\":\"coco-1,coco-2\"}}");
    for (size_t i = 0; i < f->plan.count; i++) {
        const struct plan_op *op = &f->plan.ops[i];
        if (op->kind != PLAN_ENV || strcmp(op->variable.name, "DATA") != 0)
            continue;
        added += op->verdict == PLAN_ADDED;
        skipped += op->verdict == PLAN_SKIPPED;
        if (op->verdict == PLAN_SKIPPED)
            assert_string_equal(op->reason, "set for data already");
    }
    assert_int_equal(added, 1);
    assert_int_equal(skipped, 1);
    assert_string_equal(variable(f, "DATA")->variable.value, "/work/data/coco-1");
}

static void test_the_containers_own_things_win(void **state)
{
    struct fixture *f = *state;

    plan_for(f, plan_volumes,
             "{\"process\":{\"env\":[\"TORCH_HOME=/mine\"]},"
             "\"mounts\":[{\"destination\":\"/work/\",\"source\":\"/home/alice\"}]}");
    assert_int_equal(mount_on(f, "/work")->verdict, PLAN_KEPT);
    assert_false(mount_on(f, "/work")->mount.ours);
    assert_int_equal(variable(f, "TORCH_HOME")->verdict, PLAN_KEPT);
    assert_contains(variable(f, "TORCH_HOME")->reason, "sets it itself");
}

/* An entry as apply.c writes it. */
#define WRITTEN(target, source, access)                                                            \
    "{\"destination\":\"" target "\",\"type\":\"bind\",\"source\":\"" source                       \
    "\",\"options\":[\"rbind\",\"" access "\",\"rprivate\",\"nosuid\",\"nodev\"]}"

/* A mount with the source of a volume counts as the user's, unless it equals that of the volume. */
static void test_a_forged_mount_is_not_taken_for_ours(void **state)
{
    static const char *const forged[] = {
        WRITTEN("/work/data/imagenet", "/srv/data/imagenet", "rw"),
        "{\"destination\":\"/work/data/imagenet\",\"source\":\"/srv/data/imagenet\"}",
        "{\"destination\":\"/work/data/imagenet\",\"type\":\"none\",\"source\":\"/srv/data/"
        "imagenet\","
        "\"options\":[\"rbind\",\"ro\",\"rprivate\",\"nosuid\",\"nodev\"]}",
        "{\"destination\":\"/work/data/imagenet\",\"type\":\"bind\",\"source\":\"/srv/data/"
        "imagenet\","
        "\"options\":[\"rbind\",\"ro\",\"rprivate\",\"nosuid\",\"nodev\",\"rw\"]}",
        "{\"destination\":\"/work/data/imagenet\",\"type\":\"bind\",\"source\":\"/srv/data/"
        "imagenet\","
        "\"options\":[\"rbind\",\"ro\",\"rprivate\",\"nosuid\",\"nodev\"],\"uidMappings\":[]}",
    };

    for (size_t i = 0; i < sizeof(forged) / sizeof(*forged); i++) {
        void *own = NULL;
        char config[512];
        assert_int_equal(setup(&own), 0);
        struct fixture *f = own;
        snprintf(config, sizeof(config),
                 "{\"annotations\":{\"flatbed.data\":\"imagenet\"},\"mounts\":[%s]}", forged[i]);
        plan_for(f, plan_volumes, config);
        assert_contains(denial(f)->reason, "something else is mounted on /work/data/imagenet");
        assert_false(denial(f)->mount.ours);
        teardown(&own);
    }
    struct fixture *f = *state;
    plan_for(f, plan_volumes, "{\"mounts\":[" WRITTEN("/work", "/srv/logs/c1", "ro") "]}");
    assert_int_equal(mount_on(f, "/work")->verdict, PLAN_KEPT);
    assert_false(mount_on(f, "/work")->mount.ours);
}

static void test_only_this_program_mounts_pins(void **state)
{
    static const char *const mounts[] = {
        WRITTEN("/work", "/run/flatbed/pin/logs:", "ro"),
        WRITTEN("/x", "/run/flatbed/pin/logs:", "rw"),
        WRITTEN("/x", "/run//flatbed/./pin", "rw"),
        WRITTEN("/x", "/var/run/flatbed/pin/cache:torch", "rw"),
        WRITTEN("/x", "../../run/flatbed/pin/cache:torch", "rw"),
        WRITTEN("/x", "/../run/flatbed/pin/cache:torch", "rw"),
        WRITTEN("/work",
                "/run/flatbed/pin/logs:", "rw") "," WRITTEN("/x", "/run/flatbed/pin/logs:", "rw"),
    };

    (void)state;
    for (size_t i = 0; i < sizeof(mounts) / sizeof(*mounts); i++) {
        void *own = NULL;
        struct err err = ERR_INIT;
        char config[512];
        assert_int_equal(setup(&own), 0);
        struct fixture *f = own;
        snprintf(config, sizeof(config), "{\"mounts\":[%s]}", mounts[i]);
        plan_for(f, plan_volumes, config);
        assert_contains(denial(f)->reason, "has a source in /run/flatbed/pin");
        assert_fails(decision_check(&f->decision, &err), err, ERR_POLICY);
        assert_contains(err.msg, "mounts: the container's own mount on ");
        teardown(&own);
    }
}

static void test_a_second_edit_changes_nothing(void **state)
{
    struct fixture *f = *state;

    plan_for(f, plan_volumes,
             "{\"process\":{\"env\":[\"TORCH_HOME=/cache/torch\",\"DATA=/work/data/coco-1\"]},"
             "\"annotations\":{\"flatbed.data\":\"coco-1\"},"
             "\"mounts\":[" WRITTEN("/work", "/srv/logs/c1", "rw") "," WRITTEN(
                 "/cache/torch", "/run/flatbed/pin/cache:torch",
                 "rw") "," WRITTEN("/work/data/coco-1", "/srv/data/coco-1", "ro") "]}");
    assert_false(decision_changes(&f->decision));
    assert_int_equal(mount_on(f, "/work")->verdict, PLAN_KEPT);
    assert_true(mount_on(f, "/work")->mount.ours);
    assert_false(mount_on(f, "/work")->mount.pinned);
    assert_true(mount_on(f, "/cache/torch")->mount.ours);
    assert_true(mount_on(f, "/cache/torch")->mount.pinned);
    assert_string_equal(mount_on(f, "/cache/torch")->mount.source, "/srv/cache/alice/torch");
}

/* A mount of the same source that could write is not this volume. */
static void test_the_same_source_with_more_access_is_another_mount(void **state)
{
    struct fixture *f = *state;

    plan_for(f, plan_volumes,
             "{\"annotations\":{\"flatbed.data\":\"coco-1\"},\"mounts\":[{\"destination\":"
             "\"/work/data/coco-1\",\"source\":\"/srv/data/coco-1\","
             "\"options\":[\"rbind\",\"ro\",\"rw\"]}]}");
    assert_contains(denial(f)->reason, "something else is mounted");
    assert_false(denial(f)->mount.ours || denial(f)->mount.pinned);
}

/* Volumes that were asked for by mounts, the directories that {project} stands for, and no more. */
static void test_request_mounts(void **state)
{
    struct fixture *f = *state;

    plan_for(
        f, plan_volumes,
        "{\"mounts\":[{\"destination\":\"/run/flatbed/request/scratch/x\",\"source\":"
        "\"/dev/null\",\"type\":\"bind\"},{\"destination\":"
        "\"/run/flatbed/request/project/apollo\",\"source\":\"/dev/null\",\"type\":\"bind\"}]}");
    assert_string_equal(mount_on(f, "/scratch")->mount.source, "/srv/apollo");
    assert_string_equal(mount_on(f, "/scratch")->asked_by, "/run/flatbed/request/scratch/x");
    assert_true(decision_changes(&f->decision));
}

static void test_a_request_mount_alone_is_a_change(void **state)
{
    struct fixture *f = *state;

    plan_for(f, "\"requests\":[\"mounts\"]",
             "{\"mounts\":[{\"destination\":\"/run/flatbed/request/project/x\",\"source\":"
             "\"/dev/null\",\"type\":\"bind\"}]}");
    assert_int_equal(f->plan.count, 0);
    assert_true(decision_changes(&f->decision));
}

/* A request changes how a default is mounted: the second run must recognise that mount. */
static void test_a_second_edit_of_a_default_asked_for_otherwise(void **state)
{
    struct fixture *f = *state;

    plan_for(f, plan_volumes,
             "{\"annotations\":{\"flatbed.logs\":\"x:ro\",\"flatbed.cache\":\"torch:ro\"},"
             "\"mounts\":[" WRITTEN("/work", "/srv/logs/c1", "ro") "," WRITTEN(
                 "/cache/torch", "/srv/cache/alice/torch", "ro") "]}");
    assert_false(decision_changes(&f->decision));
    assert_true(mount_on(f, "/work")->mount.ours);
    assert_true(mount_on(f, "/cache/torch")->mount.ours);
}

static void test_denials(void **state)
{
    static const struct {
        const char *annotations, *mounts, *says, *place;
    } rows[] = {
        {"\"flatbed.data\":\"secret\"", "",
         "'secret' is not offered (policy.json:1); there are: imagenet, coco-*", "policy.json:1"},
        {"\"flatbed.data\":\".imagenet\"", "", "is not offered", ""},
        {"\"flatbed.data\":\"imagenet:rw\"", "", "read-only, not read-write: ask for imagenet:ro",
         ""},
        {"\"flatbed.cache\":\"conda\"", "", "is not offered (policy.json:1); there are: torch, pip",
         ""},
        {"\"flatbed.scratch\":\"x\"", "", "no value for {project}: name it", ""},
        {"\"flatbed.data\":\"imagenet:/work\"", "", "logs has the target /work already", ""},
        {"\"flatbed.data\":\"coco-1:/a,coco-2:/a\"", "", "data has the target /a already", ""},
        {"\"flatbed.data\":\"imagenet\"",
         "{\"destination\":\"/work/data//imagenet\",\"source\":\"/other\"}",
         "something else is mounted on /work/data/imagenet already", ""},
        {"\"flatbed.nope\":\"x\"", "",
         "there are no volumes called 'nope' here; there are: data, logs, cache, scratch", ""},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        void *own = NULL;
        struct err err = ERR_INIT;
        struct buf config = BUF_INIT;
        assert_int_equal(setup(&own), 0);
        struct fixture *f = own;
        buf_printf(&config, "{\"annotations\":{%s},\"mounts\":[%s]}", rows[i].annotations,
                   rows[i].mounts);
        plan_for(f, plan_volumes, config.data);
        assert_fails(decision_check(&f->decision, &err), err, ERR_POLICY);
        assert_contains(err.msg, rows[i].says);
        assert_contains(err.msg, rows[i].place);
        assert_contains(err.msg, "flatbed.");
        buf_free(&config);
        teardown(&own);
    }
    (void)state;
}

static void test_all_denials_are_told(void **state)
{
    struct fixture *f = *state;
    struct err err = ERR_INIT;

    plan_for(f, plan_volumes,
             "{\"annotations\":{\"flatbed.data\":\"secret,imagenet:rw\",\"flatbed.x\":\"y\"}}");
    assert_fails(decision_check(&f->decision, &err), err, ERR_POLICY);
    assert_contains(err.msg, "secret");
    assert_contains(err.msg, "imagenet:ro");
    assert_contains(err.msg, "flatbed.x: ");
}

/* A hint says once what is allowed, whatever the number of denials and of equal items. */
static void test_each_hint_is_said_once(void **state)
{
    static const char volumes[] = "\"volumes\":{\"data\":{\"source\":\"/srv/{name}\","
                                  "\"target\":\"/d/{name}\",\"names\":[\"a\",\"b-*\",\"a\"]}}";
    struct fixture *f = *state;
    struct err err = ERR_INIT;

    plan_for(f, volumes,
             "{\"annotations\":{\"flatbed.data\":\"x,y\",\"flatbed.dat\":\"a\","
             "\"flatbed.dta\":\"a\"}}");
    assert_fails(decision_check(&f->decision, &err), err, ERR_POLICY);
    assert_string_equal(err.msg,
                        "flatbed.data: 'x' is not offered (policy.json:1); there are: a, b-*; "
                        "flatbed.data: 'y' is not offered (policy.json:1); "
                        "flatbed.dat: there are no volumes called 'dat' here; there are: data; "
                        "flatbed.dta: there are no volumes called 'dta' here");
}

/* A message has an end that can be read, however many denials there are. */
static void test_too_many_denials_are_counted(void **state)
{
    struct fixture *f = *state;
    struct err err = ERR_INIT;

    plan_for(f, plan_volumes,
             "{\"annotations\":{\"flatbed.data\":\"n1,n2,n3,n4,n5,n6,n7,n8,n9,n10,n11,n12,n13,n14,"
             "n15,n16,n17,n18,n19,n20,n21,n22,n23,n24,n25,n26,n27,n28,n29,n30\"}}");
    assert_fails(decision_check(&f->decision, &err), err, ERR_POLICY);
    assert_contains(err.msg, "flatbed.data: 'n1' is not offered (policy.json:1); there are: ");
    assert_contains(err.msg, " more");
    assert_true(strlen(err.msg) < sizeof(err.msg) - 1);
}

static void test_asking_for_a_default_changes_its_access(void **state)
{
    struct fixture *f = *state;
    size_t mounts = 0;

    plan_for(f, plan_volumes,
             "{\"annotations\":{\"flatbed.cache\":\"torch:ro\",\"flatbed.logs\":\"x:ro\"}}");
    for (size_t i = 0; i < f->plan.count; i++)
        mounts += f->plan.ops[i].kind == PLAN_MOUNT;
    assert_int_equal(mounts, 2);
    assert_int_equal(mount_on(f, "/cache/torch")->mount.access, ACCESS_RO);
    assert_int_equal(mount_on(f, "/work")->mount.access, ACCESS_RO);
    assert_string_equal(mount_on(f, "/work")->asked_by, "flatbed.logs");
}

static void test_unsafe_values_are_denied_for_defaults_too(void **state)
{
    struct fixture *f = *state;

    plan_for(
        f, "\"volumes\":{\"h\":{\"source\":\"/srv/{hostname}\",\"target\":\"/h\",\"always\":true}}",
        "{}");
    assert_contains(denial(f)->reason, "no value for {hostname}");
    struct err err = ERR_INIT;
    assert_fails(decision_check(&f->decision, &err), err, ERR_POLICY);
    assert_contains(err.msg, "volumes.h: ");
}

static void test_variables_need_a_process(void **state)
{
    struct fixture *f = *state;

    plan_for(f, plan_volumes, "{}");
    assert_int_equal(variable(f, "TORCH_HOME")->verdict, PLAN_SKIPPED);
}

static void test_skipping_a_mount_skips_its_variables(void **state)
{
    struct fixture *f = *state;

    plan_for(f, plan_volumes, "{\"process\":{}}");
    for (size_t i = 0; i < f->plan.count; i++)
        if (f->plan.ops[i].kind == PLAN_MOUNT && f->plan.ops[i].verdict == PLAN_ADDED)
            decision_skip(&f->decision, i, "gone");
    assert_int_equal(variable_outcome(f, "TORCH_HOME")->verdict, PLAN_SKIPPED);
    assert_int_equal(variable(f, "TORCH_HOME")->verdict, PLAN_ADDED); /* the plan stays */
    assert_false(decision_changes(&f->decision));
}

static void test_an_empty_policy_plans_nothing(void **state)
{
    struct fixture *f = *state;

    plan_for(f, "", "{\"process\":{}}");
    assert_int_equal(f->plan.count, 0);
    assert_false(decision_changes(&f->decision));
}

UNIT_SUITE(test_plan)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_always_and_asked_for, setup, teardown),
        cmocka_unit_test_setup_teardown(test_shallow_targets_come_first, setup, teardown),
        cmocka_unit_test_setup_teardown(test_a_variable_of_two_volumes_is_the_firsts, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(test_the_containers_own_things_win, setup, teardown),
        cmocka_unit_test_setup_teardown(test_a_forged_mount_is_not_taken_for_ours, setup, teardown),
        cmocka_unit_test_setup_teardown(test_a_second_edit_of_a_default_asked_for_otherwise, setup,
                                        teardown),
        cmocka_unit_test(test_only_this_program_mounts_pins),
        cmocka_unit_test_setup_teardown(test_a_second_edit_changes_nothing, setup, teardown),
        cmocka_unit_test_setup_teardown(test_the_same_source_with_more_access_is_another_mount,
                                        setup, teardown),
        cmocka_unit_test_setup_teardown(test_request_mounts, setup, teardown),
        cmocka_unit_test_setup_teardown(test_a_request_mount_alone_is_a_change, setup, teardown),
        cmocka_unit_test(test_denials),
        cmocka_unit_test_setup_teardown(test_all_denials_are_told, setup, teardown),
        cmocka_unit_test_setup_teardown(test_each_hint_is_said_once, setup, teardown),
        cmocka_unit_test_setup_teardown(test_too_many_denials_are_counted, setup, teardown),
        cmocka_unit_test_setup_teardown(test_asking_for_a_default_changes_its_access, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(test_unsafe_values_are_denied_for_defaults_too, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(test_variables_need_a_process, setup, teardown),
        cmocka_unit_test_setup_teardown(test_skipping_a_mount_skips_its_variables, setup, teardown),
        cmocka_unit_test_setup_teardown(test_an_empty_policy_plans_nothing, setup, teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
