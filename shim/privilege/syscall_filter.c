#include "shim/privilege/syscall_filter.h"

#include "shim/privilege/bpf.h"

#include <errno.h>
#include <sched.h>
#include <seccomp.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

DEFINE_CLEANUP(filter, void, seccomp_release)
#define _cleanup_filter_ _cleanup_(cleanup_filter)

enum { MOST_ARCHES = 32, ARGUMENTS = 6, PROGRAM_BYTES = 1024 * 1024 };

bool syscall_filter_knows(const char *name)
{
    return seccomp_syscall_resolve_name(name) != __NR_SCMP_ERROR;
}

/* ---- words of the specification ---- */

static bool read_action(const struct json *value, const struct json *number, uint32_t *out)
{
    static const struct {
        const char *name;
        uint32_t action;
    } actions[] = {
        {"SCMP_ACT_KILL", SCMP_ACT_KILL_THREAD},
        {"SCMP_ACT_KILL_THREAD", SCMP_ACT_KILL_THREAD},
        {"SCMP_ACT_KILL_PROCESS", SCMP_ACT_KILL_PROCESS},
        {"SCMP_ACT_TRAP", SCMP_ACT_TRAP},
        {"SCMP_ACT_ALLOW", SCMP_ACT_ALLOW},
        {"SCMP_ACT_LOG", SCMP_ACT_LOG},
        {"SCMP_ACT_NOTIFY", SCMP_ACT_TRACE(2)}, /* the tracer's number does not matter here */
        {"SCMP_ACT_TRACE", SCMP_ACT_TRACE(1)},
    };
    const char *name = json_text(value);
    uint64_t error = 1;

    if (!name)
        return false;
    json_u64(number, &error);
    *out = SCMP_ACT_ERRNO(error & 0xffff);
    if (strcmp(name, "SCMP_ACT_ERRNO") == 0)
        return true;
    for (size_t i = 0; i < sizeof(actions) / sizeof(*actions); i++)
        if (strcmp(actions[i].name, name) == 0) {
            *out = actions[i].action;
            return true;
        }
    return false;
}

static bool read_operator(const char *name, enum scmp_compare *out)
{
    static const struct {
        const char *name;
        enum scmp_compare op;
    } ops[] = {
        {"SCMP_CMP_NE", SCMP_CMP_NE},
        {"SCMP_CMP_LT", SCMP_CMP_LT},
        {"SCMP_CMP_LE", SCMP_CMP_LE},
        {"SCMP_CMP_EQ", SCMP_CMP_EQ},
        {"SCMP_CMP_GE", SCMP_CMP_GE},
        {"SCMP_CMP_GT", SCMP_CMP_GT},
        {"SCMP_CMP_MASKED_EQ", SCMP_CMP_MASKED_EQ},
    };

    for (size_t i = 0; name && i < sizeof(ops) / sizeof(*ops); i++)
        if (strcmp(ops[i].name, name) == 0) {
            *out = ops[i].op;
            return true;
        }
    return false;
}

/* Maps SCMP_ARCH_X86_64 to libseccomp's "x86_64". Returns 0 for an unknown name. */
static uint32_t read_arch(const char *name)
{
    static const char prefix[] = "SCMP_ARCH_";
    char text[32];
    size_t i;

    if (!name || strncmp(name, prefix, sizeof(prefix) - 1) != 0)
        return 0;
    name += sizeof(prefix) - 1;
    for (i = 0; name[i] && i < sizeof(text) - 1; i++)
        text[i] = (char)(name[i] >= 'A' && name[i] <= 'Z' ? name[i] - 'A' + 'a' : name[i]);
    text[i] = '\0';
    return seccomp_arch_resolve_name(text);
}

/* ---- one question: one system call under the filter ---- */

struct question {
    const struct json *filter;
    const char *name;
    scmp_filter_ctx context;
    uint32_t arches[MOST_ARCHES];
    size_t arch_count;
    struct sock_filter *program;
    size_t length;
    struct err *err;
};

static int fail(const struct question *q, const char *what)
{
    return err_set(q->err, ERR_FORMAT, "linux.seccomp: %s, in what it says of '%s'", what, q->name);
}

static bool rule_names(const struct json *rule, const char *name)
{
    const struct json *names = json_get(rule, "names");

    for (size_t i = 0; i < json_count(names); i++) {
        const char *text = json_text(json_at(names, i));
        if (text && strcmp(text, name) == 0)
            return true;
    }
    return false;
}

static int read_arguments(const struct question *q, const struct json *args,
                          struct scmp_arg_cmp *out, unsigned *count)
{
    *count = 0;
    for (size_t i = 0; i < json_count(args); i++) {
        const struct json *arg = json_at(args, i);
        uint64_t index, value = 0, two = 0;
        enum scmp_compare op;
        if (*count == ARGUMENTS || !json_u64(json_get(arg, "index"), &index) ||
            index >= ARGUMENTS || !read_operator(json_text(json_get(arg, "op")), &op))
            return fail(q, "an argument that cannot be understood");
        json_u64(json_get(arg, "value"), &value);
        json_u64(json_get(arg, "valueTwo"), &two);
        out[(*count)++] = (struct scmp_arg_cmp){
            .arg = (unsigned)index, .op = op, .datum_a = value, .datum_b = two};
    }
    return 0;
}

static bool tests_twice(const struct scmp_arg_cmp *args, unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        for (unsigned j = 0; j < i; j++)
            if (args[i].arg == args[j].arg)
                return true;
    return false;
}

static int add_rule(struct question *q, const struct json *rule, uint32_t default_action)
{
    struct scmp_arg_cmp args[ARGUMENTS];
    unsigned count;
    uint32_t action;
    int number = seccomp_syscall_resolve_name(q->name), rc = 0;

    if (!read_action(json_get(rule, "action"), json_get(rule, "errnoRet"), &action))
        return fail(q, "an unknown action");
    if (read_arguments(q, json_get(rule, "args"), args, &count) < 0)
        return -1;
    if (action == default_action)
        return 0;
    if (!tests_twice(args, count))
        rc = seccomp_rule_add_array(q->context, action, number, count, args);
    /* Tests of one argument are alternatives, as the runtimes treat them. */
    for (unsigned i = 0; tests_twice(args, count) && rc == 0 && i < count; i++)
        rc = seccomp_rule_add_array(q->context, action, number, 1, &args[i]);
    return rc == 0 || rc == -EEXIST ? 0 : fail(q, "a rule that libseccomp does not take");
}

static int add_arches(struct question *q)
{
    const struct json *list = json_get(q->filter, "architectures");

    q->arches[q->arch_count++] = seccomp_arch_native();
    for (size_t i = 0; i < json_count(list) && q->arch_count < MOST_ARCHES; i++) {
        uint32_t arch = read_arch(json_text(json_at(list, i)));
        int rc = arch ? seccomp_arch_add(q->context, arch) : 0;
        if (rc != 0 && rc != -EEXIST)
            return fail(q, "an architecture that libseccomp does not take");
        if (arch && rc == 0)
            q->arches[q->arch_count++] = arch;
    }
    return 0;
}

static int export_program(struct question *q)
{
    struct stat st;
    _cleanup_fd_ int fd = memfd_create("filter", MFD_CLOEXEC);

    if (fd < 0 || seccomp_export_bpf(q->context, fd) != 0 || fstat(fd, &st) < 0)
        return fail(q, "no program can be made");
    if (st.st_size <= 0 || st.st_size > PROGRAM_BYTES)
        return fail(q, "a program of an impossible size");
    q->program = malloc((size_t)st.st_size);
    if (!q->program)
        return err_nomem(q->err);
    if (pread(fd, q->program, (size_t)st.st_size, 0) != st.st_size)
        return fail(q, "no program can be made");
    q->length = (size_t)st.st_size / sizeof(*q->program);
    return 0;
}

static int build(struct question *q)
{
    const struct json *rules = json_get(q->filter, "syscalls");
    uint32_t action;

    if (!read_action(json_get(q->filter, "defaultAction"), json_get(q->filter, "defaultErrnoRet"),
                     &action))
        return fail(q, "an unknown default action");
    q->context = seccomp_init(action);
    if (!q->context)
        return fail(q, "libseccomp does not take the default action");
    if (add_arches(q) < 0)
        return -1;
    for (size_t i = 0; i < json_count(rules); i++)
        if (rule_names(json_at(rules, i), q->name) && add_rule(q, json_at(rules, i), action) < 0)
            return -1;
    return export_program(q);
}

/* ---- asking ---- */

static int on_arch(const struct question *q, uint32_t arch, bool *allowed)
{
    int number = seccomp_syscall_resolve_name_arch(arch, q->name);

    *allowed = false;
    if (number < 0) /* this architecture does not have the call */
        return 0;
    return bpf_may_pass(q->program, q->length, (uint32_t)number,
                        arch == SCMP_ARCH_X32 ? SCMP_ARCH_X86_64 : arch, allowed, q->err);
}

static int on_any_arch(const struct question *q, bool *allowed)
{
    *allowed = false;
    for (size_t i = 0; i < q->arch_count && !*allowed; i++)
        if (on_arch(q, q->arches[i], allowed) < 0)
            return -1;
    return 0;
}

static int ask(const struct json *filter, const char *name, bool *allowed, struct err *err)
{
    struct question q = {.filter = filter, .name = name, .err = err};

    *allowed = true;
    if (!json_is(filter, JSON_OBJECT))
        return 0;
    int rc = build(&q);
    _cleanup_filter_ void *context = q.context;
    _cleanup_free_ void *program = q.program;
    if (rc == 0)
        rc = on_any_arch(&q, allowed);
    (void)context;
    (void)program;
    return rc;
}

int syscall_filter_allowed(const struct json *filter, const char *const *names, size_t count,
                           struct buf *out, struct err *err)
{
    size_t before = out->len;
    bool allowed;

    for (size_t i = 0; i < count; i++) {
        if (ask(filter, names[i], &allowed, err) < 0)
            return -1;
        if (allowed)
            buf_printf(out, "%s%s", out->len > before ? ", " : "", names[i]);
    }
    return buf_check(out, err);
}

/* Returns true also for actions that ask a tracer or another program. */
static bool allows(const struct json *action)
{
    static const char *const actions[] = {"SCMP_ACT_ALLOW", "SCMP_ACT_LOG", "SCMP_ACT_TRACE",
                                          "SCMP_ACT_NOTIFY"};
    const char *text = json_text(action);

    for (size_t i = 0; text && i < sizeof(actions) / sizeof(*actions); i++)
        if (strcmp(text, actions[i]) == 0)
            return true;
    return false;
}

bool syscall_filter_is_empty(const struct json *filter)
{
    const struct json *rules = json_get(filter, "syscalls");

    if (!json_is(filter, JSON_OBJECT))
        return true;
    if (!allows(json_get(filter, "defaultAction")))
        return false;
    for (size_t i = 0; i < json_count(rules); i++)
        if (!allows(json_get(json_at(rules, i), "action")) &&
            json_count(json_get(json_at(rules, i), "names")) > 0)
            return false;
    return true;
}

/* Reads the only test of a rule, if it is one of bits in the flags of clone(2). */
static bool read_flags(const struct json *rule, uint64_t *mask, uint64_t *wanted)
{
    const struct json *args = json_get(rule, "args"), *test = json_at(args, 0);
    const char *op = json_text(json_get(test, "op"));
    uint64_t index = 0;

    *mask = *wanted = 0;
    json_u64(json_get(test, "index"), &index);
    json_u64(json_get(test, "value"), mask);
    json_u64(json_get(test, "valueTwo"), wanted);
    return json_count(args) == 1 && op && strcmp(op, "SCMP_CMP_MASKED_EQ") == 0 && index == 0;
}

/*
 * True unless what lets clone(2) through excludes CLONE_NEWUSER, as the filters of engines do, or
 * a rule refuses just that.
 */
static bool clones_user(const struct json *filter)
{
    const struct json *rules = json_get(filter, "syscalls");
    bool passes = allows(json_get(filter, "defaultAction"));
    uint64_t mask, wanted;

    for (size_t i = 0; i < json_count(rules); i++) {
        const struct json *rule = json_at(rules, i);
        if (!rule_names(rule, "clone"))
            continue;
        bool flags = read_flags(rule, &mask, &wanted);
        if (!allows(json_get(rule, "action")))
            passes = passes && json_count(json_get(rule, "args")) &&
                     !(flags && mask == CLONE_NEWUSER && wanted == CLONE_NEWUSER);
        else if (!(flags && (mask & CLONE_NEWUSER) && !(wanted & CLONE_NEWUSER)))
            return true;
    }
    return passes;
}

bool syscall_filter_makes_namespaces(const struct json *filter)
{
    static const char *const others[] = {"unshare", "setns", "clone3"};
    _cleanup_buf_ struct buf allowed = BUF_INIT;
    struct err ignored;

    return !json_is(filter, JSON_OBJECT) || clones_user(filter) ||
           syscall_filter_allowed(filter, others, sizeof(others) / sizeof(*others), &allowed,
                                  &ignored) < 0 ||
           allowed.len;
}

/*
 * True for a refusal that a runtime takes for success: error number 0; and EINVAL of prctl(2), by
 * which an older kernel says that it does not know a capability (runc, crun).
 */
static bool is_taken_for_success(const struct json *action, const struct json *number, bool prctl)
{
    uint32_t read;

    return read_action(action, number, &read) &&
           (read == SCMP_ACT_ERRNO(0) || (prctl && read == SCMP_ACT_ERRNO(EINVAL)));
}

/* Returns the first call of a rule that is faked; NULL if none is. */
static const char *faked_by(const struct json *rule)
{
    const struct json *names = json_get(rule, "names");

    for (size_t i = 0; i < json_count(names); i++) {
        const char *name = json_text(json_at(names, i));
        if (name && is_taken_for_success(json_get(rule, "action"), json_get(rule, "errnoRet"),
                                         strcmp(name, "prctl") == 0))
            return name;
    }
    return NULL;
}

const char *syscall_filter_faked(const struct json *filter)
{
    const struct json *rules = json_get(filter, "syscalls");
    const char *name = NULL;

    if (is_taken_for_success(json_get(filter, "defaultAction"), json_get(filter, "defaultErrnoRet"),
                             true))
        return "all calls that it does not name";
    for (size_t i = 0; i < json_count(rules) && !name; i++)
        name = faked_by(json_at(rules, i));
    return name;
}
