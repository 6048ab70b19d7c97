/* Filters as Docker and the specification write them: what they let through. */
#include "shim_unit.h"

#include "shim/bpf.h"
#include "shim/syscall_filter.h"

#define ALLOW_LIST(rules)                                                                          \
    "{\"defaultAction\":\"SCMP_ACT_ERRNO\",\"architectures\":[\"SCMP_ARCH_X86_64\","               \
    "\"SCMP_ARCH_X86\",\"SCMP_ARCH_X32\"],\"syscalls\":[" rules "]}"
#define DENY_LIST(rules) "{\"defaultAction\":\"SCMP_ACT_ALLOW\",\"syscalls\":[" rules "]}"
#define RULE(names, action, args)                                                                  \
    "{\"names\":[" names "],\"action\":\"" action "\",\"args\":[" args "]}"

static void assert_allowed(const char *filter, const char *expected)
{
    static const char *const names[] = {"mount", "bpf", "clone"};
    _cleanup_json_ struct json_doc *doc = shim_document(filter);
    _cleanup_buf_ struct buf out = BUF_INIT;
    struct err err = ERR_INIT;

    assert_works(syscall_filter_allowed(json_root(doc), names, 3, &out, &err), err);
    if (strcmp(out.data ? out.data : "", expected) != 0)
        fail_msg("%s: '%s', not '%s'", filter, out.data ? out.data : "", expected);
}

static void test_lists(void **state)
{
    (void)state;
    assert_allowed(ALLOW_LIST(""), "");
    assert_allowed(ALLOW_LIST(RULE("\"read\",\"bpf\"", "SCMP_ACT_ALLOW", "")), "bpf");
    assert_allowed(ALLOW_LIST(RULE("\"mount\"", "SCMP_ACT_LOG", "")), "mount");
    assert_allowed(ALLOW_LIST(RULE("\"mount\"", "SCMP_ACT_NOTIFY", "")), "");
    assert_allowed(DENY_LIST(""), "mount, bpf, clone");
    assert_allowed(DENY_LIST(RULE("\"mount\",\"clone\"", "SCMP_ACT_KILL", "")), "bpf");
    assert_allowed(DENY_LIST(RULE("\"mount\",\"bpf\",\"clone\"", "SCMP_ACT_ERRNO", "")), "");
    assert_allowed("null", "mount, bpf, clone");
}

static void test_what_depends_on_arguments_is_allowed(void **state)
{
    (void)state;
    assert_allowed(ALLOW_LIST(RULE("\"clone\"", "SCMP_ACT_ALLOW",
                                   "{\"index\":0,\"value\":2114060288,\"valueTwo\":0,"
                                   "\"op\":\"SCMP_CMP_MASKED_EQ\"}")),
                   "clone");
    assert_allowed(ALLOW_LIST(RULE("\"mount\"", "SCMP_ACT_ALLOW",
                                   "{\"index\":3,\"value\":4096,\"op\":\"SCMP_CMP_EQ\"},"
                                   "{\"index\":0,\"value\":77,\"op\":\"SCMP_CMP_GT\"}")),
                   "mount");
    assert_allowed(ALLOW_LIST(RULE("\"mount\"", "SCMP_ACT_ALLOW",
                                   "{\"index\":1,\"value\":7,\"op\":\"SCMP_CMP_EQ\"},"
                                   "{\"index\":1,\"value\":8,\"op\":\"SCMP_CMP_EQ\"}")),
                   "mount");
    assert_allowed(DENY_LIST(RULE("\"mount\",\"bpf\"", "SCMP_ACT_ERRNO",
                                  "{\"index\":0,\"value\":1,\"op\":\"SCMP_CMP_NE\"}")),
                   "mount, bpf, clone");
}

static void test_filters_that_are_wrong(void **state)
{
    static const char *const texts[] = {
        "{}",
        "{\"defaultAction\":\"SCMP_ACT_NONE\"}",
        ALLOW_LIST(RULE("\"mount\"", "SCMP_ACT_MAYBE", "")),
        ALLOW_LIST(RULE("\"mount\"", "SCMP_ACT_ALLOW", "{\"index\":9,\"op\":\"SCMP_CMP_EQ\"}")),
    };
    static const char *const names[] = {"mount"};

    (void)state;
    for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
        _cleanup_json_ struct json_doc *doc = shim_document(texts[i]);
        _cleanup_buf_ struct buf out = BUF_INIT;
        struct err err = ERR_INIT;
        assert_fails(syscall_filter_allowed(json_root(doc), names, 1, &out, &err), err, ERR_FORMAT);
        assert_contains(err.msg, "linux.seccomp: ");
    }
}

static bool empty(const char *text)
{
    _cleanup_json_ struct json_doc *doc = shim_document(text);

    return syscall_filter_is_empty(json_root(doc));
}

static void test_empty_filters(void **state)
{
    (void)state;
    assert_true(empty("null"));
    assert_true(empty("[]"));
    assert_true(empty(DENY_LIST("")));
    assert_true(empty(DENY_LIST(RULE("\"mount\"", "SCMP_ACT_ALLOW", ""))));
    assert_true(empty(DENY_LIST(RULE("", "SCMP_ACT_ERRNO", ""))));
    assert_false(empty(DENY_LIST(RULE("\"mount\"", "SCMP_ACT_ERRNO", ""))));
    assert_false(empty(ALLOW_LIST("")));
}

static void test_names(void **state)
{
    (void)state;
    assert_true(syscall_filter_knows("mount"));
    assert_false(syscall_filter_knows("munt"));
}

static void test_programs(void **state)
{
    static const struct sock_filter masks[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 16), BPF_STMT(BPF_ALU | BPF_AND | BPF_K, 0xf0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0x30, 0, 1), BPF_STMT(BPF_RET | BPF_K, 1),
        BPF_STMT(BPF_RET | BPF_K, 2)};
    static const struct sock_filter bad[] = {BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 64)};
    static const struct sock_filter far[] = {BPF_STMT(BPF_JMP | BPF_JA, 0xffffffff)};
    struct seccomp_data data = {.args = {0x3f}};

    (void)state;
    assert_int_equal(bpf_run(masks, 5, &data), 1);
    data.args[0] = 0x4f;
    assert_int_equal(bpf_run(masks, 5, &data), 2);
    assert_int_equal(bpf_run(bad, 1, &data), SECCOMP_RET_KILL_PROCESS);
    assert_int_equal(bpf_run(far, 1, &data), SECCOMP_RET_KILL_PROCESS);
    assert_int_equal(bpf_run(far, 0, &data), SECCOMP_RET_KILL_PROCESS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lists),
        cmocka_unit_test(test_what_depends_on_arguments_is_allowed),
        cmocka_unit_test(test_filters_that_are_wrong),
        cmocka_unit_test(test_empty_filters),
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_programs),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
