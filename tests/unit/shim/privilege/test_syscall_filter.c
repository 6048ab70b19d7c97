/* Seccomp filters as Docker and the specification write them: the calls that they allow. */
#include "tests/unit/lib/shim_unit.h"

#include "shim/privilege/bpf.h"
#include "shim/privilege/syscall_filter.h"

#include <linux/audit.h>

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

/* A tracer in the container, or a program of the user on the host, may allow the call. */
static void test_what_others_decide_is_allowed(void **state)
{
    (void)state;
    assert_allowed(ALLOW_LIST(RULE("\"mount\"", "SCMP_ACT_TRACE", "")), "mount");
    assert_allowed(ALLOW_LIST(RULE("\"mount\"", "SCMP_ACT_NOTIFY", "")), "mount");
    assert_allowed("{\"defaultAction\":\"SCMP_ACT_TRACE\"}", "mount, bpf, clone");
    assert_allowed("{\"defaultAction\":\"SCMP_ACT_NOTIFY\",\"syscalls\":[" RULE(
                       "\"bpf\"", "SCMP_ACT_ERRNO", "") "]}",
                   "mount, clone");
    assert_allowed("{\"defaultAction\":\"SCMP_ACT_TRAP\"}", "");
    assert_allowed("{\"defaultAction\":\"SCMP_ACT_KILL_PROCESS\"}", "");
}

#define BIT(index, bit, set)                                                                       \
    "{\"index\":" index ",\"op\":\"SCMP_CMP_MASKED_EQ\",\"value\":" bit ",\"valueTwo\":" set "}"

/* Only one value of many passes, and no test names it. */
static void test_few_values_that_pass_are_found(void **state)
{
    (void)state;
    assert_allowed(
        DENY_LIST(RULE("\"mount\",\"clone\"", "SCMP_ACT_ERRNO", BIT("0", "8", "0")) "," RULE(
            "\"mount\",\"clone\"", "SCMP_ACT_ERRNO",
            BIT("0", "16",
                "0")) "," RULE("\"mount\",\"clone\"", "SCMP_ACT_ERRNO",
                               BIT("0", "4", "4")) "," RULE("\"mount\",\"clone\"", "SCMP_ACT_ERRNO",
                                                            BIT("0", "32",
                                                                "32")) "," RULE("\"bpf\"",
                                                                                "SCMP_ACT_ERRNO",
                                                                                "")),
        "mount, clone");
    assert_allowed(
        DENY_LIST(RULE("\"mount\",\"bpf\"", "SCMP_ACT_ERRNO", BIT("0", "8", "0")) "," RULE(
            "\"mount\",\"bpf\"", "SCMP_ACT_ERRNO",
            BIT("1", "8", "8")) "," RULE("\"mount\",\"bpf\"", "SCMP_ACT_ERRNO",
                                         BIT("2", "8",
                                             "0")) "," RULE("\"mount\",\"bpf\"", "SCMP_ACT_ERRNO",
                                                            BIT("3", "8",
                                                                "8")) "," RULE("\"clone\"",
                                                                               "SCMP_ACT_ERRNO",
                                                                               "")),
        "mount, bpf");
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
    assert_true(empty("{\"defaultAction\":\"SCMP_ACT_TRACE\"}"));
    assert_true(empty(DENY_LIST(RULE("\"mount\"", "SCMP_ACT_NOTIFY", ""))));
}

static void test_names(void **state)
{
    (void)state;
    assert_true(syscall_filter_knows("mount"));
    assert_false(syscall_filter_knows("munt"));
}

static bool passes(const struct sock_filter *program, size_t count, uint32_t nr)
{
    struct err err = ERR_INIT;
    bool out = false;

    assert_works(bpf_may_pass(program, count, nr, AUDIT_ARCH_X86_64, &out, &err), err);
    return out;
}

#define LOAD(at)           BPF_STMT(BPF_LD | BPF_W | BPF_ABS, at)
#define EQUALS(k, yes, no) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, k, yes, no)
#define RETURN(what)       BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_##what)

static void test_programs(void **state)
{
    /* Known values decide branches: the number and the architecture. */
    static const struct sock_filter known[] = {LOAD(4),       EQUALS(AUDIT_ARCH_X86_64, 0, 3),
                                               LOAD(0),       EQUALS(7, 0, 1),
                                               RETURN(ALLOW), RETURN(ERRNO)};
    /* Arguments and the instruction pointer are unknown: both branches count. */
    static const struct sock_filter any[] = {LOAD(16), BPF_STMT(BPF_ALU | BPF_AND | BPF_K, 0xf0),
                                             EQUALS(0x30, 0, 1), RETURN(LOG), RETURN(TRAP)};
    static const struct sock_filter pointer[] = {LOAD(8), EQUALS(1, 1, 0), RETURN(ERRNO),
                                                 RETURN(TRACE)};
    /* A branch that no value takes does not count. */
    static const struct sock_filter none[] = {LOAD(16), BPF_STMT(BPF_ALU | BPF_AND | BPF_K, 0),
                                              EQUALS(0, 0, 1), RETURN(KILL_PROCESS), RETURN(ALLOW)};
    static const struct sock_filter least[] = {
        LOAD(16), BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, 0, 0, 1), RETURN(KILL_THREAD), RETURN(ALLOW)};

    (void)state;
    assert_true(passes(known, 6, 7));
    assert_false(passes(known, 6, 8));
    assert_true(passes(any, 5, 1));
    assert_true(passes(pointer, 4, 1));
    assert_false(passes(none, 5, 1));
    assert_false(passes(least, 4, 1));
}

/* The kernel rejects these programs. */
static void test_programs_that_are_none(void **state)
{
    static const struct sock_filter bad[] = {LOAD(64), RETURN(ALLOW)};
    static const struct sock_filter odd[] = {BPF_STMT(BPF_MISC | BPF_TAX, 0), RETURN(ALLOW)};
    static const struct sock_filter far[] = {BPF_STMT(BPF_JMP | BPF_JA, 0xffffffff)};
    static const struct sock_filter open[] = {LOAD(0)};

    (void)state;
    assert_false(passes(bad, 2, 1));
    assert_false(passes(odd, 2, 1));
    assert_false(passes(far, 1, 1));
    assert_false(passes(open, 1, 1));
    assert_false(passes(open, 0, 1));
}

#define MASKED(mask, wanted)                                                                       \
    "{\"index\":0,\"value\":" mask ",\"valueTwo\":" wanted ",\"op\":\"SCMP_CMP_MASKED_EQ\"}"
#define OTHERS RULE("\"unshare\",\"setns\",\"clone3\"", "SCMP_ACT_ERRNO", "")

/* Namespaces are made by unshare, setns, clone3, and by clone with CLONE_NEWUSER (268435456). */
static void test_namespaces(void **state)
{
    static const struct {
        const char *filter;
        bool makes;
    } rows[] = {
        {"null", true},
        {ALLOW_LIST(""), false},
        {ALLOW_LIST(RULE("\"clone\"", "SCMP_ACT_ALLOW", MASKED("2114060288", "0"))), false},
        {ALLOW_LIST(RULE("\"clone\"", "SCMP_ACT_ALLOW", MASKED("2114060288", "268435456"))), true},
        {ALLOW_LIST(RULE("\"clone\"", "SCMP_ACT_ALLOW", MASKED("131072", "0"))), true},
        {ALLOW_LIST(RULE("\"clone\"", "SCMP_ACT_ALLOW", "")), true},
        {ALLOW_LIST(RULE("\"clone\"", "SCMP_ACT_ALLOW", MASKED("2114060288", "0")) "," RULE(
             "\"clone\"", "SCMP_ACT_LOG", "{\"index\":1,\"value\":1,\"op\":\"SCMP_CMP_EQ\"}")),
         true},
        {ALLOW_LIST(RULE("\"unshare\"", "SCMP_ACT_ALLOW", "")), true},
        {ALLOW_LIST(RULE("\"setns\"", "SCMP_ACT_TRACE", "")), true},
        {ALLOW_LIST(RULE("\"clone3\"", "SCMP_ACT_ALLOW", "")), true},
        {DENY_LIST(""), true},
        {DENY_LIST(OTHERS), true},
        {DENY_LIST(OTHERS "," RULE("\"clone\"", "SCMP_ACT_ERRNO", "")), false},
        {DENY_LIST(OTHERS
                   "," RULE("\"clone\"", "SCMP_ACT_ERRNO", MASKED("268435456", "268435456"))),
         false},
        {DENY_LIST(OTHERS
                   "," RULE("\"clone\"", "SCMP_ACT_ERRNO", MASKED("402653184", "402653184"))),
         true},
        {DENY_LIST(RULE("\"clone\",\"setns\",\"clone3\"", "SCMP_ACT_ERRNO", "")), true},
        {"{\"defaultAction\":\"SCMP_ACT_UNKNOWN\"}", true},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        _cleanup_json_ struct json_doc *doc = shim_document(rows[i].filter);
        if (syscall_filter_makes_namespaces(json_root(doc)) != rows[i].makes)
            fail_msg("%s", rows[i].filter);
    }
}

UNIT_SUITE(test_syscall_filter)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lists),
        cmocka_unit_test(test_what_depends_on_arguments_is_allowed),
        cmocka_unit_test(test_what_others_decide_is_allowed),
        cmocka_unit_test(test_few_values_that_pass_are_found),
        cmocka_unit_test(test_filters_that_are_wrong),
        cmocka_unit_test(test_empty_filters),
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_programs),
        cmocka_unit_test(test_programs_that_are_none),
        cmocka_unit_test(test_namespaces),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
