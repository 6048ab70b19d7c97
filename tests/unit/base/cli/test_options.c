/* Command lines: every form of the grammar, and the errors for all others. */
#include "tests/unit/lib/sample_options.h"

#include "base/cleanup.h"

#include "tests/unit/lib/unit.h"

struct outcome {
    struct sample_options o;
    struct operands operands;
    bool help;
    struct err err;
    int rc;
};

static void outcome_free(struct outcome *r)
{
    free(r->operands.list);
}

#define _cleanup_outcome_ _cleanup_(outcome_free)

static struct outcome run(const struct command_spec *command, const char *const *words)
{
    struct outcome r = {.rc = 0};
    int argc = 0;

    while (words[argc])
        argc++;
    r.rc = options_parse(command, argc, (char *const *)(uintptr_t)words, &r.o, &r.operands, &r.help,
                         &r.err);
    return r;
}

#define WORDS(...)   ((const char *const[]){__VA_ARGS__, NULL})
#define PACK(...)    run(&sample_pack, WORDS(__VA_ARGS__))
#define assert_ok(r) assert_works((r).rc, (r).err)

static void a_value_may_be_attached_or_apart(void **state)
{
    (void)state;
    const char *const *const lines[] = {
        WORDS("--output=x", "src"), WORDS("--output", "x", "src"), WORDS("-ox", "src"),
        WORDS("-o", "x", "src"),    WORDS("src", "-qox"),          WORDS("src", "-qo", "x"),
    };
    for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
        _cleanup_outcome_ struct outcome r = run(&sample_pack, lines[i]);
        assert_ok(r);
        assert_string_equal(r.o.output, "x");
        assert_int_equal(r.operands.count, 1);
        assert_string_equal(r.operands.list[0], "src");
    }
}

static void a_list_takes_every_value_in_order(void **state)
{
    (void)state;
    _cleanup_outcome_ struct outcome r = PACK("--tag=a", "src", "--tag", "b=c", "--tag=");
    assert_ok(r);
    assert_int_equal(r.o.tags.count, 3);
    assert_string_equal(r.o.tags.items[0], "a");
    assert_string_equal(r.o.tags.items[1], "b=c");
    assert_string_equal(r.o.tags.items[2], "");

    const char *many[OPTION_LIST_MOST + 2] = {NULL};
    for (int i = 0; i <= OPTION_LIST_MOST; i++)
        many[i] = "--tag=x";
    _cleanup_outcome_ struct outcome more = run(&sample_pack, many);
    assert_fails(more.rc, more.err, ERR_LIMIT);
}

static void values_are_taken_as_they_are(void **state)
{
    (void)state;
    _cleanup_outcome_ struct outcome r =
        PACK("--label=", "--output", "--force", "-c", "zstd", "--label=a=b", "src");
    assert_ok(r);
    assert_string_equal(r.o.label, "a=b"); /* the last wins */
    assert_string_equal(r.o.output, "--force");
    assert_string_equal(r.o.format, "zstd");
    assert_false(r.o.force);
    _cleanup_outcome_ struct outcome empty = PACK("--label=", "--output", "", "src");
    assert_ok(empty);
    assert_string_equal(empty.o.label, "");
    assert_string_equal(empty.o.output, "");
    _cleanup_outcome_ struct outcome equals = PACK("-o=x", "src");
    assert_ok(equals);
    assert_string_equal(equals.o.output, "=x");
}

static void flags_cluster_and_repeat(void **state)
{
    (void)state;
    _cleanup_outcome_ struct outcome none = PACK("src");
    assert_ok(none);
    assert_false(none.o.quiet || none.o.force);
    _cleanup_outcome_ struct outcome r = PACK("-qf", "src", "--quiet");
    assert_ok(r);
    assert_true(r.o.quiet && r.o.force);
    _cleanup_outcome_ struct outcome one = PACK("src", "-f");
    assert_ok(one);
    assert_true(one.o.force && !one.o.quiet);
}

static void operands_keep_their_order_among_options(void **state)
{
    (void)state;
    _cleanup_outcome_ struct outcome r = PACK("one", "-q", "two", "--threads=3");
    assert_ok(r);
    assert_int_equal(r.operands.count, 2);
    assert_string_equal(r.operands.list[0], "one");
    assert_string_equal(r.operands.list[1], "two");
    assert_true(r.o.quiet);
    assert_int_equal(r.o.threads, 3);
}

static void two_dashes_end_the_options(void **state)
{
    (void)state;
    _cleanup_outcome_ struct outcome r = PACK("-q", "--", "-f", "--");
    assert_ok(r);
    assert_true(r.o.quiet && !r.o.force);
    assert_int_equal(r.operands.count, 2);
    assert_string_equal(r.operands.list[0], "-f");
    assert_string_equal(r.operands.list[1], "--");
    _cleanup_outcome_ struct outcome value = PACK("--output", "--", "src");
    assert_ok(value);
    assert_string_equal(value.o.output, "--");
}

static void one_dash_is_an_operand(void **state)
{
    (void)state;
    _cleanup_outcome_ struct outcome r = PACK("-", "");
    assert_ok(r);
    assert_int_equal(r.operands.count, 2);
    assert_string_equal(r.operands.list[0], "-");
    assert_string_equal(r.operands.list[1], "");
}

static void numbers_are_whole(void **state)
{
    static const char *const good[] = {"0", "007", "18446744073709551615"};
    static const uint64_t values[] = {0, 7, UINT64_MAX};
    static const char *const bad[] = {
        "", "x", "5x", "-1", "+1", " 1", "1 ", "1.", "1e3", "0x10", "18446744073709551616", "4K"};

    (void)state;
    for (size_t i = 0; i < 3; i++) {
        _cleanup_outcome_ struct outcome r = PACK("-j", good[i], "src");
        assert_ok(r);
        assert_true(r.o.threads == values[i]);
    }
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        _cleanup_outcome_ struct outcome r = PACK("--threads", bad[i], "src");
        assert_fails(r.rc, r.err, ERR_USAGE);
        assert_contains(r.err.msg, "expected a whole number");
    }
}

static void seconds_may_say_so(void **state)
{
    static const char *const good[] = {"1", "30", "30s"}, *const bad[] = {"",    "0",   "0s",
                                                                          "s",   "1m",  "1 s",
                                                                          "-1s", "30ss"};
    static const uint64_t values[] = {1, 30, 30};

    (void)state;
    for (size_t i = 0; i < 3; i++) {
        _cleanup_outcome_ struct outcome r = PACK("--wait", good[i], "src");
        assert_ok(r);
        assert_true(r.o.wait == values[i]);
    }
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        _cleanup_outcome_ struct outcome r = PACK("--wait", bad[i], "src");
        assert_fails(r.rc, r.err, ERR_USAGE);
        assert_contains(r.err.msg, "expected seconds, such as 30 or 30s");
    }
}

static void choices_are_exact(void **state)
{
    (void)state;
    _cleanup_outcome_ struct outcome good = PACK("--format=none", "src");
    assert_ok(good);
    assert_string_equal(good.o.format, "none");
    const char *const bad[] = {"", "gz", "GZIP", "gzip ", "bzip2"};
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        _cleanup_outcome_ struct outcome r = PACK("-c", bad[i], "src");
        assert_fails(r.rc, r.err, ERR_USAGE);
        assert_contains(r.err.msg, "expected one of gzip, zstd, none");
    }
}

static void assert_usage(const char *const *words, const char *message)
{
    _cleanup_outcome_ struct outcome r = run(&sample_pack, words);

    assert_fails(r.rc, r.err, ERR_USAGE);
    assert_string_equal(r.err.msg, message);
}

static void what_is_wrong_is_said(void **state)
{
    (void)state;
    assert_usage(WORDS("--fromat=gzip", "src"),
                 "unknown option '--fromat'; did you mean '--format'?");
    assert_usage(WORDS("--hlep"), "unknown option '--hlep'; did you mean '--help'?");
    assert_usage(WORDS("--bananas", "src"),
                 "unknown option '--bananas'; see 'flatbed-sample pack --help'");
    assert_usage(WORDS("--quie", "src"), "unknown option '--quie'; did you mean '--quiet'?");
    assert_usage(WORDS("-x", "src"), "unknown option '-x'; see 'flatbed-sample pack --help'");
    assert_usage(WORDS("-qx", "src"), "unknown option '-x'; see 'flatbed-sample pack --help'");
    assert_usage(WORDS("-q-", "src"), "unknown option '--'; see 'flatbed-sample pack --help'");
    assert_usage(WORDS("--quiet=yes", "src"), "--quiet takes no value");
    assert_usage(WORDS("--quiet=", "src"), "--quiet takes no value");
    assert_usage(WORDS("src", "--output"), "--output needs FILE");
    assert_usage(WORDS("src", "-j"), "--threads needs N");
    assert_usage(WORDS("src", "-qj"), "--threads needs N");
}

static void operands_are_counted(void **state)
{
    (void)state;
    assert_usage(WORDS("-q"), "pack needs SOURCE [DESTINATION]; see 'flatbed-sample pack --help'");
    assert_usage(WORDS("a", "b", "c"),
                 "pack takes SOURCE [DESTINATION] and no more; see 'flatbed-sample pack --help'");
    _cleanup_outcome_ struct outcome two = PACK("a", "b");
    assert_ok(two);
    _cleanup_outcome_ struct outcome list = run(&sample_list, WORDS("-q"));
    assert_ok(list);
    assert_int_equal(list.operands.count, 0);
    _cleanup_outcome_ struct outcome extra = run(&sample_list, WORDS("x"));
    assert_fails(extra.rc, extra.err, ERR_USAGE);
    assert_string_equal(extra.err.msg,
                        "list takes no operand and no more; see 'flatbed-sample list --help'");
}

static void no_limit_on_operands_is_minus_one(void **state)
{
    struct command_spec any = sample_pack;

    (void)state;
    any.max_operands = -1;
    _cleanup_outcome_ struct outcome r = run(&any, WORDS("1", "2", "3", "4", "5", "6"));
    assert_ok(r);
    assert_int_equal(r.operands.count, 6);
}

static void help_ends_everything(void **state)
{
    const char *const *const lines[] = {
        WORDS("--help"),
        WORDS("-h"),
        WORDS("-qh"),
        WORDS("--help", "--nope"),
        WORDS("-h", "a", "b", "c"),
    };

    (void)state;
    for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
        _cleanup_outcome_ struct outcome r = run(&sample_pack, lines[i]);
        assert_ok(r);
        assert_true(r.help);
    }
    _cleanup_outcome_ struct outcome value = PACK("--output", "--help", "src");
    assert_ok(value);
    assert_false(value.help);
    _cleanup_outcome_ struct outcome operand = PACK("--", "--help");
    assert_ok(operand);
    assert_false(operand.help);
}

/* ---- commands ---- */

static const struct command_spec *command(const struct program_spec *program,
                                          const char *const *words, int *skip, struct err *err)
{
    int argc = 0;

    while (words[argc])
        argc++;
    return options_command(program, argc, (char *const *)(uintptr_t)words, skip, err);
}

static void a_command_is_named_or_meant(void **state)
{
    struct err err = ERR_INIT;
    int skip = 0;

    (void)state;
    assert_ptr_equal(command(&sample_program, WORDS("p", "list"), &skip, &err), &sample_list);
    assert_int_equal(skip, 2);
    assert_ptr_equal(command(&sample_program, WORDS("p", "pack", "x"), &skip, &err), &sample_pack);
    assert_int_equal(skip, 2);
    assert_ptr_equal(command(&sample_program, WORDS("p", "image"), &skip, &err), &sample_pack);
    assert_int_equal(skip, 1);
    assert_ptr_equal(command(&sample_program, WORDS("p", "-q", "list"), &skip, &err), &sample_pack);
    assert_int_equal(skip, 1);
    assert_ptr_equal(command(&sample_program, WORDS("p"), &skip, &err), &sample_pack);
    assert_int_equal(skip, 1);
}

static void without_a_fallback_a_command_is_needed(void **state)
{
    struct err err = ERR_INIT;
    int skip = 0;

    (void)state;
    assert_ptr_equal(command(&sample_strict, WORDS("p", "list"), &skip, &err), &sample_list);
    assert_null(command(&sample_strict, WORDS("p", "lsit"), &skip, &err));
    assert_int_equal(err.kind, ERR_USAGE);
    assert_string_equal(err.msg, "unknown command 'lsit'; did you mean 'list'?; see "
                                 "'flatbed-strict --help'");
    assert_null(command(&sample_strict, WORDS("p", "bananas"), &skip, &err));
    assert_string_equal(err.msg, "unknown command 'bananas'; see 'flatbed-strict --help'");
    assert_null(command(&sample_strict, WORDS("p"), &skip, &err));
    assert_int_equal(err.kind, ERR_USAGE);
    assert_string_equal(err.msg, "which command? see 'flatbed-strict --help'");
}

UNIT_SUITE(test_options)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_value_may_be_attached_or_apart),
        cmocka_unit_test(a_list_takes_every_value_in_order),
        cmocka_unit_test(values_are_taken_as_they_are),
        cmocka_unit_test(flags_cluster_and_repeat),
        cmocka_unit_test(operands_keep_their_order_among_options),
        cmocka_unit_test(two_dashes_end_the_options),
        cmocka_unit_test(one_dash_is_an_operand),
        cmocka_unit_test(numbers_are_whole),
        cmocka_unit_test(seconds_may_say_so),
        cmocka_unit_test(choices_are_exact),
        cmocka_unit_test(what_is_wrong_is_said),
        cmocka_unit_test(operands_are_counted),
        cmocka_unit_test(no_limit_on_operands_is_minus_one),
        cmocka_unit_test(help_ends_everything),
        cmocka_unit_test(a_command_is_named_or_meant),
        cmocka_unit_test(without_a_fallback_a_command_is_needed),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
