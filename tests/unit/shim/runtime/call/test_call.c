/*
 * The reading of command lines. The rows are what runc 1.1.5 and crun 1.8.1 were seen to do with
 * them; an `X` is a line that the runtime refuses.
 */
#include "tests/unit/lib/unit.h"

#include "shim/runtime/call/call_grammar.h"
#include "tests/unit/shim/runtime/call/call_unit.h"

/* "bundle config id", with "-" for what is not given. */
static void describe(const struct reading *r, char *out, size_t size)
{
    if (r->rejected)
        snprintf(out, size, "X");
    else if (!call_edits(&r->call))
        snprintf(out, size, "pass");
    else
        snprintf(out, size, "%s %s %s", r->call.bundle ? r->call.bundle : "-",
                 r->call.config ? r->call.config : "-", r->call.id);
}

struct row {
    const char *line, *runc, *crun;
};

static const struct row rows[] = {
    /* the forms that engines write */
    {"--root /r --log /l --log-format json create --bundle /b --pid-file /p c1", "/b - c1",
     "/b - c1"},
    {"--root /r --log /l --log-format json --systemd-cgroup create --bundle /b --pid-file /p c1",
     "/b - c1", "/b - c1"},
    {"--systemd-cgroup create --bundle /b --pid-file /p c1", "/b - c1", "/b - c1"},
    {"restore --bundle /b --pid-file /p --image-path /i --work-path /w --detach c1", "/b - c1",
     "/b - c1"},
    {"run --pid-file /p -no-subreaper --bundle /b c1", "/b - c1", "X"},
    {"create c1", "- - c1", "- - c1"},
    /* one dash */
    {"create -bundle /b c1", "/b - c1", "X"},
    {"-root /r create -b /b c1", "/b - c1", "X"},
    {"create -b=/x c1", "/x - c1", "=/x - c1"},
    {"create -b/x c1", "X", "/x - c1"},
    {"run -db /x c1", "X", "/x - c1"},
    {"run -d -b /x c1", "/x - c1", "/x - c1"},
    /* abbreviations */
    {"create --bun /b c1", "X", "/b - c1"},
    {"create --bun=/b c1", "X", "/b - c1"},
    {"create --no-p --bundle /b c1", "X", "/b - c1"},
    {"create --no --bundle /b c1", "X", "X"},
    {"create --p /p c1", "X", "X"},
    {"--log-f json create c1", "X", "- - c1"},
    /* order */
    {"create c1 --bundle /b", "/b - c1", "X"},
    {"create --bundle /b c1 --no-pivot", "/b - c1", "X"},
    {"create -b /a -b /b c1", "/b - c1", "/b - c1"},
    {"create --bundle /b -- c1", "/b - c1", "/b - c1"},
    {"create c1 -- --bundle /b", "X", "X"},
    {"create --bundle -- c1", "-- - c1", "-- - c1"},
    {"create --pid-file --bundle /b c1", "X", "X"},
    {"create - ", "X", "X"},
    {"create -", "- - -", "- - -"},
    /* what runc knows goes to the front, with the word behind it */
    {"create -bA -b ID --", "ID - -bA", "X"},
    {"create -z -b --pid-file --", "--pid-file - -z", "X"},
    {"run -b -- c --keep", "-- - c", "X"},
    {"run c -b ID --keep --", "ID - c", "X"},
    {"create --no-pivot -x c1", "X", "X"},
    {"create --usage ID --console-socket", "- - ID", "pass"},
    {"create -V ID --pid-file", "- - ID", "pass"},
    {"--criu '' create --bundle B -debug 3 -pid-file", "B - 3", "X"},
    {"create --detach ID --console-socket", "- - ID", "X"},
    {"run --detach ID --console-socket", "X", "X"},
    {"create --no-pivot c1 --bundle /b", "X", "X"},
    {"create --pid-file -x c1", "- - c1", "- - c1"},
    {"create ---bundle c1", "X", "X"},
    {"run --keep=true --bundle /b c1", "/b - c1", "X"},
    /* empty and missing */
    {"create --bundle= c1", "- - c1", "X"},
    {"create --bundle '' c1", "- - c1", "X"},
    {"create ''", "X", "X"},
    {"create ./c1", "X", "X"},
    {"create ..", "X", "X"},
    {"create --bundle= --no-pivot -b=A c1", "A - c1", "=A - c1"},
    {"create -b A --bundle= c1", "- - c1", "X"},
    {"create --bundle", "X", "X"},
    {"create", "X", "X"},
    {"create --bundle /b", "X", "X"},
    {"create --bundle /b c1 c2", "X", "X"},
    /* crun's own file */
    {"create --bundle /b --config other.json c1", "X", "/b other.json c1"},
    {"create -f other.json c1", "X", "- other.json c1"},
    {"create -fother.json c1", "X", "- other.json c1"},
    {"create --conf=o.json c1", "X", "- o.json c1"},
    /* global options behind the command: only newer versions accept them */
    {"create --log /l --bundle /b c1", "X", "X"},
    /* values of flags */
    {"create --no-pivot=true c1", "- - c1", "X"},
    {"--debug=false create c1", "- - c1", "X"},
    /* help and versions start nothing */
    {"create --help", "pass", "pass"},
    {"create --help c1", "pass", "pass"},
    {"create --help=false c1", "- - c1", "X"},
    {"create -h", "pass", "X"},
    {"create -? c1", "X", "pass"},
    {"create --usage", "X", "pass"},
    {"--version", "pass", "pass"},
    {"-v", "pass", "pass"},
    {"-V", "X", "pass"},
    {"--help", "pass", "pass"},
    {"features", "pass", "pass"},
    {"", "pass", "pass"},
    /* other commands, and words that only resemble commands */
    {"start c1", "pass", "pass"},
    {"state create", "pass", "pass"},
    {"kill c1 KILL", "pass", "pass"},
    {"delete --force c1", "pass", "pass"},
    {"exec --process /p --detach c1", "pass", "pass"},
    {"--log create state c1", "pass", "pass"},
    {"--root run kill c1", "pass", "pass"},
    {"creat c1", "pass", "pass"},
    {"Create c1", "pass", "pass"},
};

/* Reads a command line by one grammar. */
static void read_with(enum lowlevel_flavor flavor, const char *line, char *out, size_t size)
{
    char copy[256], *words[MOST_WORDS];
    struct reading r;

    snprintf(copy, sizeof(copy), "%s", line);
    int count = *line ? split(copy, words) : 0;
    grammar_read(&(struct grammar){.flavor = flavor, .later_reorder = true}, count, words, &r);
    if (r.call.unknown)
        r.rejected = true; /* the table is about these versions, which know all their options */
    describe(&r, out, size);
}

static void test_rows(void **state)
{
    char text[128];

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        read_with(FLAVOR_RUNC, rows[i].line, text, sizeof(text));
        if (strcmp(text, rows[i].runc) != 0)
            fail_msg("runc, '%s': %s instead of %s", rows[i].line, text, rows[i].runc);
        read_with(FLAVOR_CRUN, rows[i].line, text, sizeof(text));
        if (strcmp(text, rows[i].crun) != 0)
            fail_msg("crun, '%s': %s instead of %s", rows[i].line, text, rows[i].crun);
    }
}

/* ---- both grammars together ---- */

static void test_agreement_needs_no_flavor(void **state)
{
    static const char *const lines[] = {
        "--root /r --log /l --log-format json create --bundle /b --pid-file /p c1",
        "create -bundle /b c1", /* crun refuses it */
        "create c1 --bundle /b",
    };
    struct err err = ERR_INIT;
    struct call call;

    (void)state;
    for (size_t i = 0; i < sizeof(lines) / sizeof(*lines); i++) {
        assert_works(read_line(lines[i], FLAVOR_UNKNOWN, &call, &err), err);
        assert_true(call_edits(&call));
        assert_string_equal(call.bundle, "/b");
        assert_string_equal(call.id, "c1");
    }
    assert_works(read_line(lines[0], FLAVOR_UNKNOWN, &call, &err), err);
    assert_string_equal(call.root, "/r");
    assert_string_equal(call.log, "/l");
    assert_string_equal(call.log_format, "json");
    assert_string_equal(call.command, "create");
}

static void test_disagreement_needs_one(void **state)
{
    struct err err = ERR_INIT;
    struct call call;

    (void)state;
    assert_int_equal(read_line("--log /l create -b=/x c1", FLAVOR_UNKNOWN, &call, &err),
                     CALL_AMBIGUOUS);
    assert_string_equal(call.log, "/l");
    assert_works(read_line("create -b=/x c1", FLAVOR_RUNC, &call, &err), err);
    assert_string_equal(call.bundle, "/x");
    assert_works(read_line("create -b=/x c1", FLAVOR_CRUN, &call, &err), err);
    assert_string_equal(call.bundle, "=/x");
    assert_int_equal(read_line("run -db /b c1", FLAVOR_UNKNOWN, &call, &err), CALL_AMBIGUOUS);
    assert_works(read_line("run -db /b c1", FLAVOR_CRUN, &call, &err), err);
    assert_string_equal(call.bundle, "/b");
    assert_int_equal(read_line("create --config o.json c1", FLAVOR_UNKNOWN, &call, &err),
                     CALL_AMBIGUOUS);
    assert_works(read_line("create --config o.json c1", FLAVOR_CRUN, &call, &err), err);
    assert_string_equal(call.config, "o.json");
}

static void test_nonsense_that_creates_is_refused(void **state)
{
    struct err err = ERR_INIT;
    struct call call;

    (void)state;
    assert_fails(read_line("--log /l create", FLAVOR_UNKNOWN, &call, &err), err, ERR_USAGE);
    assert_contains(err.msg, "no container id");
    assert_string_equal(call.log, "/l");
    assert_fails(read_line("create a b", FLAVOR_UNKNOWN, &call, &err), err, ERR_USAGE);
    assert_fails(read_line("create -bundle /b c1", FLAVOR_CRUN, &call, &err), err, ERR_USAGE);
}

/* A line is not harmless because one grammar reads it as a request for help. */
static void test_help_in_one_reading_only(void **state)
{
    struct err err = ERR_INIT;
    struct call call;

    (void)state;
    assert_int_equal(read_line("create --usage", FLAVOR_UNKNOWN, &call, &err), CALL_AMBIGUOUS);
    assert_works(read_line("create --usage", FLAVOR_CRUN, &call, &err), err);
    assert_false(call_edits(&call));
    assert_fails(read_line("create --usage", FLAVOR_RUNC, &call, &err), err, ERR_USAGE);
    assert_int_equal(read_line("create -V ID --pid-file", FLAVOR_UNKNOWN, &call, &err),
                     CALL_AMBIGUOUS);
    assert_works(read_line("create -V ID --pid-file", FLAVOR_RUNC, &call, &err), err);
    assert_true(call_edits(&call));
    assert_string_equal(call.id, "ID");
    /* runc refuses this line by the older order */
    assert_works(read_line("create --pid-file -x c1", FLAVOR_RUNC, &call, &err), err);
    assert_string_equal(call.id, "c1");
    assert_works(read_line("create -bA -b ID --", FLAVOR_RUNC, &call, &err), err);
    assert_string_equal(call.bundle, "ID");
    /* later ones know --log there */
    assert_works(read_line("create --log /l --bundle /b c1", FLAVOR_RUNC, &call, &err), err);
    assert_string_equal(call.bundle, "/b");
}

/* Options of versions to come: one of the two ways to read them is always refused. */
static void test_unknown_options(void **state)
{
    struct err err = ERR_INIT;
    struct call call;

    (void)state;
    assert_works(read_line("create --new-flag --bundle /b c1", FLAVOR_RUNC, &call, &err), err);
    assert_string_equal(call.bundle, "/b");
    assert_works(read_line("create --new-option value --bundle /b c1", FLAVOR_RUNC, &call, &err),
                 err);
    assert_string_equal(call.bundle, "/b");
    assert_works(read_line("create --new=value --bundle /b c1", FLAVOR_UNKNOWN, &call, &err), err);
    assert_string_equal(call.bundle, "/b");
    assert_string_equal(call.id, "c1");
    assert_works(read_line("--new-flag create --bundle /b c1", FLAVOR_RUNC, &call, &err), err);
    assert_string_equal(call.bundle, "/b");
    assert_works(read_line("--new-option value create --bundle /b c1", FLAVOR_RUNC, &call, &err),
                 err);
    assert_string_equal(call.bundle, "/b");
    assert_fails(read_line("create --new --bundle=/b c1", FLAVOR_RUNC, &call, &err), err,
                 ERR_USAGE);
    assert_contains(err.msg, "--new");
}

static void test_other_commands_never_fail(void **state)
{
    static const char *const lines[] = {
        "", "--version", "features", "state c1", "kill --new c1 9", "--new", "--", "-", "delete",
    };
    struct err err = ERR_INIT;
    struct call call;

    (void)state;
    for (size_t i = 0; i < sizeof(lines) / sizeof(*lines); i++) {
        assert_works(read_line(lines[i], FLAVOR_UNKNOWN, &call, &err), err);
        assert_false(call_edits(&call));
    }
}

/* ---- our own options ---- */

static int own(const char *line, struct call_own *out, struct err *err)
{
    static char copy[256];
    char *words[MOST_WORDS];

    snprintf(copy, sizeof(copy), "%s", line);
    return call_own_parse(split(copy, words), words, out, err);
}

static void test_own_options(void **state)
{
    struct err err = ERR_INIT;
    struct call_own o;

    (void)state;
    assert_works(own("--flatbed-policy=/p --flatbed-runtime=/r create", &o, &err), err);
    assert_string_equal(o.policy, "/p");
    assert_string_equal(o.runtime, "/r");
    assert_int_equal(o.count, 2);
    assert_works(own("create --flatbed-policy=/p", &o, &err), err);
    assert_int_equal(o.count, 0);
    assert_null(o.policy);
    assert_works(own("--flatbed-version", &o, &err), err);
    assert_true(o.version);
    assert_fails(own("--flatbed-policy /p", &o, &err), err, ERR_USAGE);
    assert_fails(own("--flatbed-policy= create", &o, &err), err, ERR_USAGE);
    assert_fails(own("--flatbed-polcy=/p", &o, &err), err, ERR_USAGE);
    assert_contains(err.msg, "--flatbed-polcy=/p");
    assert_fails(own("--flatbed-policy /p --flatbed-runtime=/r --log /l create", &o, &err), err,
                 ERR_USAGE);
    assert_int_equal(o.count, 3); /* what follows has the log */
}

UNIT_SUITE(test_call)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows),
        cmocka_unit_test(test_agreement_needs_no_flavor),
        cmocka_unit_test(test_disagreement_needs_one),
        cmocka_unit_test(test_nonsense_that_creates_is_refused),
        cmocka_unit_test(test_help_in_one_reading_only),
        cmocka_unit_test(test_unknown_options),
        cmocka_unit_test(test_other_commands_never_fail),
        cmocka_unit_test(test_own_options),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
