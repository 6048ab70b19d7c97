/* Command lines for a container that is there: exec, update, delete. */
#include "tests/unit/shim/runtime/call/call_unit.h"

/* ---- exec ---- */

/* "process id", with "-" for what is not given; "X" for a line that is refused, "?" for doubt. */
static void describe_exec(const char *line, enum lowlevel_flavor flavor, char *out, size_t size)
{
    struct err err = ERR_INIT;
    struct call call;
    int rc = read_line(line, flavor, &call, &err);

    assert_false(rc >= 0 && call_edits(&call));
    if (rc != CALL_CLEAR)
        snprintf(out, size, rc < 0 ? "X" : "?");
    else if (!call_execs(&call))
        snprintf(out, size, "pass");
    else
        snprintf(out, size, "%s %s", call.process ? call.process : "-", call.id);
}

/*
 * The process file and container of an exec. `engine` is the reading without a flavour. A line that
 * the runtime refuses may be refused here, too; one that it accepts has the meaning seen in strace.
 */
static void test_exec(void **state)
{
    static const struct {
        const char *line, *engine, *runc, *crun;
    } lines[] = {
        {"exec --process /p --detach c1", "/p c1", "/p c1", "/p c1"},
        {"--root /r --log l exec -p /p c1", "/p c1", "/p c1", "/p c1"},
        {"exec --process=/p --tty --console-socket /s --pid-file f c1", "/p c1", "/p c1", "/p c1"},
        {"exec -p /a --process /b c1", "/b c1", "/b c1", "/b c1"},
        {"exec -d -p /p c1 -p /q --process /r", "/p c1", "/p c1", "/p c1"},
        {"exec -p /p -- c1", "/p c1", "/p c1", "/p c1"},
        {"exec -d -- c1 -p /p", "- c1", "- c1", "- c1"},
        {"exec -e A=1 -e B=2 c1 sh -p x", "- c1", "- c1", "- c1"},
        {"exec -e -p F c1", "- F", "- F", "- F"},
        /* the forms of Go's flags */
        {"exec -p=F c1", "?", "F c1", "=F c1"},
        {"exec -process F c1", "?", "F c1", "rocess F"},
        {"exec -process=F c1", "?", "F c1", "rocess=F c1"},
        {"exec --p F c1", "F c1", "F c1", "X"},
        {"exec ---p F c1", "?", "X", "X"},
        {"exec --tty=true -p F c1", "F c1", "F c1", "F c1"},
        {"exec --help=false -p F c1", "F c1", "F c1", "X"},
        /* the forms of argp */
        {"exec -pF c1", "?", "X", "F c1"},
        {"exec -dp F c1", "?", "X", "F c1"},
        {"exec -tp F c1", "?", "X", "- F"},
        {"exec -t -pF c1", "?", "X", "F c1"},
        {"exec -tpF c1 F", "?", "X", "- c1"},
        {"exec --proces F c1", "?", "X", "X"},
        {"exec --process F --det c1", "?", "X", "F c1"},
        {"exec --cgrou=.. -p F c1", "?", "F c1", "F c1"}, /* only crun takes it for --cgroup */
        {"exec --HANG=0 -p F c1", "F c1", "F c1", "F c1"},
        /* refused by both, as far as is known */
        {"exec --new-option -p F c1", "?", "X", "X"},
        {"exec --new=option -p F c1", "F c1", "F c1", "F c1"},
        {"exec -p F --log /l c1", "F c1", "F c1", "F c1"}, /* "/l" is no container */
        {"exec -p F --log l c1", "?", "X", "X"},
        {"exec -p", "X", "X", "X"},
        {"exec -p '' c1", "- c1", "- c1", "- c1"},
        {"exec", "pass", "pass", "pass"},
        /* ids that are paths: crun 1.8.1 finds the container */
        {"exec -p F ./c1", "X", "X", "X"},
        {"exec -p F ../root/c1", "X", "X", "X"},
        {"--root /run/crun/c1 exec -p F .", "X", "X", "X"},
        {"--root /run/crun/c1 exec -p F ''", "X", "X", "X"},
        {"exec -p F ...", "F ...", "F ...", "F ..."},
        {"exec --help -p F c1", "pass", "pass", "pass"},
        {"exec -h -p F c1", "?", "pass", "X"},
    };
    char text[128];

    (void)state;
    for (size_t i = 0; i < sizeof(lines) / sizeof(*lines); i++) {
        const char *wanted[] = {lines[i].engine, lines[i].runc, lines[i].crun};
        for (int flavor = FLAVOR_UNKNOWN; flavor <= FLAVOR_CRUN; flavor++) {
            describe_exec(lines[i].line, (enum lowlevel_flavor)flavor, text, sizeof(text));
            if (strcmp(text, wanted[flavor]) != 0)
                fail_msg("%d '%s': %s instead of %s", flavor, lines[i].line, text, wanted[flavor]);
        }
    }
}

static void test_advice_for_exec(void **state)
{
    static const struct {
        const char *line;
        enum lowlevel_flavor flavor;
        const char *names;
    } lines[] = {
        {"exec -dp F c1", FLAVOR_RUNC, "'-dp' is not known"},
        {"exec --proces F c1", FLAVOR_RUNC, "'--proces' is not known"},
        {"exec --proc=F c1", FLAVOR_CRUN, "ambiguous option: --proc=F"},
    };
    struct err err = ERR_INIT;
    struct call call;

    (void)state;
    for (size_t i = 0; i < sizeof(lines) / sizeof(*lines); i++) {
        assert_fails(read_line(lines[i].line, lines[i].flavor, &call, &err), err, ERR_USAGE);
        assert_contains(err.msg, lines[i].names);
        assert_contains(err.msg, "as in: exec --detach --process FILE ID");
    }
    assert_works(read_line("exec --proc=F c1", FLAVOR_RUNC, &call, &err), err);
    assert_string_equal(call.unknown, "--proc=F");
}

/* ---- delete ---- */

/* delete: its container, or none if the runtime would refuse the line, or runc and crun differ. */
static void test_delete(void **state)
{
    static const struct {
        const char *line, *id;
    } lines[] = {
        {"delete c1", "c1"},
        {"--log-format json delete c1", "c1"},
        {"--root delete --log json delete --force delete", "delete"},
        {"delete c1 --force", "c1"}, /* refused by crun */
        {"delete -f c1", "c1"},
        {"delete --regex c1", "c1"}, /* unknown to runc */
        {"delete --force=true c1", "c1"},
        {"delete --new value c1", "c1"},
        {"delete c1 c2", NULL},
        {"delete", NULL},
        {"delete --help c1", NULL},
        {"kill c1", NULL},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(lines) / sizeof(*lines); i++) {
        _cleanup_free_ char *line = strdup(lines[i].line);
        char *words[MOST_WORDS];
        struct err err = ERR_INIT;
        struct call call;
        int count = split(line, words);

        assert_works(call_read(count, words, FLAVOR_UNKNOWN, &call, &err), err);
        assert_false(call_edits(&call));
        if (call_deletes(&call) != (lines[i].id != NULL))
            fail_msg("%s: %s", lines[i].line, call.id ? call.id : "no id");
        if (lines[i].id)
            assert_string_equal(call.id, lines[i].id);
    }
}

/* ---- update ---- */

static void describe_update(const char *line, enum lowlevel_flavor flavor, char *out, size_t size)
{
    struct err err = ERR_INIT;
    struct call call;
    int rc = read_line(line, flavor, &call, &err);

    if (rc != CALL_CLEAR)
        snprintf(out, size, rc < 0 ? "X" : "?");
    else if (!call_updates(&call))
        snprintf(out, size, "pass");
    else
        snprintf(out, size, "%s %s", call.resources, call.id);
}

/* The file and container of an update; one by options alone passes. */
static void test_update(void **state)
{
    static const struct {
        const char *line, *engine, *runc, *crun;
    } lines[] = {
        /* the forms that engines write */
        {"--root /r --log /l --log-format json update --resources - c1", "- c1", "- c1", "- c1"},
        {"--systemd-cgroup update --resources /f c1", "/f c1", "/f c1", "/f c1"},
        {"update -r F c1", "F c1", "F c1", "F c1"},
        {"update --resources=F c1", "F c1", "F c1", "F c1"},
        {"update --pids-limit 7 c1", "pass", "pass", "pass"},
        {"update --pids-limit 7 -r F c1", "F c1", "F c1", "F c1"},
        /* read differently, or by one of them alone */
        {"update -r=F c1", "?", "F c1", "=F c1"},
        {"update -rF c1", "?", "pass", "F c1"},
        {"update --res F c1", "?", "pass", "F c1"},
        {"update --res=F c1", "?", "pass", "F c1"},
        {"update c1 -r F", "F c1", "F c1", "X"},
        {"update --cpu-idle 1 -r F c1", "F c1", "F c1", "F c1"},
        {"update --new F c1", "pass", "pass", "pass"},
        {"update -r F c1 c2", "X", "X", "X"},
        {"update -r F", "X", "X", "X"},
        {"update -r", "X", "X", "X"},
        {"update -r F ./c1", "X", "X", "X"},
        {"update --help", "pass", "pass", "pass"},
    };
    char text[128];

    (void)state;
    for (size_t i = 0; i < sizeof(lines) / sizeof(*lines); i++) {
        const char *wanted[] = {lines[i].engine, lines[i].runc, lines[i].crun};
        for (int flavor = FLAVOR_UNKNOWN; flavor <= FLAVOR_CRUN; flavor++) {
            describe_update(lines[i].line, (enum lowlevel_flavor)flavor, text, sizeof(text));
            if (strcmp(text, wanted[flavor]) != 0)
                fail_msg("%d '%s': %s instead of %s", flavor, lines[i].line, text, wanted[flavor]);
        }
    }
}

/* ---- start ---- */

/* start: one container. */
static void test_start(void **state)
{
    static const struct {
        const char *line, *id;
    } lines[] = {
        {"start c1", "c1"},
        {"--root /r --log /l --log-format json start c1", "c1"},
        {"--systemd-cgroup start c1", "c1"},
        {"start -- c1", "c1"},
        {"start", NULL},
        {"start c1 c2", NULL},
        {"start ../c1", NULL},
        {"start --new c1", "c1"}, /* else it would lack a container */
    };

    (void)state;
    for (size_t i = 0; i < sizeof(lines) / sizeof(*lines); i++) {
        struct err err = ERR_INIT;
        struct call call;
        int rc = read_line(lines[i].line, FLAVOR_CRUN, &call, &err);

        if ((rc == 0 && call_starts(&call)) != (lines[i].id != NULL))
            fail_msg("%s: %s", lines[i].line, rc < 0 ? err.msg : "works");
        if (lines[i].id)
            assert_string_equal(call.id, lines[i].id);
    }
}

UNIT_SUITE(test_call_later)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_exec),   cmocka_unit_test(test_advice_for_exec),
        cmocka_unit_test(test_update), cmocka_unit_test(test_delete),
        cmocka_unit_test(test_start),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
