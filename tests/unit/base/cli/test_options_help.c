/* Help as text. tests/cli/base/completion.bats tests the completion scripts in shells. */
#include "tests/unit/lib/sample_options.h"

#include "tests/unit/lib/unit.h"

static void assert_each_option(const char *text, const struct option_spec *options)
{
    for (const struct option_spec *o = options; o->name; o++) {
        char left[64];
        if (o->letter)
            snprintf(left, sizeof(left), "  -%c, --%s%s%s", o->letter, o->name,
                     o->metavar ? "=" : "", o->metavar ? o->metavar : "");
        else
            snprintf(left, sizeof(left), "      --%s=%s", o->name, o->metavar);
        assert_contains(text, left);
        assert_contains(text, o->help);
    }
}

static void program_help_shows_commands_and_options(void **state)
{
    _cleanup_buf_ struct buf out = BUF_INIT;

    (void)state;
    options_help_program(&sample_program, &out);
    assert_int_equal(strncmp(out.data, "flatbed-sample: a sample of a command line\n", 43), 0);
    assert_contains(out.data, "  flatbed-sample [pack] [OPTION]... SOURCE [DESTINATION]\n");
    assert_contains(out.data, "  flatbed-sample list [OPTION]...\n");
    assert_contains(out.data, "list what was packed");
    assert_each_option(out.data, sample_pack_options);
    assert_contains(out.data, "compress with: gzip, zstd, none\n");
    assert_contains(out.data, "-h, --help");
    assert_contains(out.data, "--version");
    assert_contains(out.data, "--completion=SHELL");
    assert_contains(out.data, "\nExit status: 0, or 2 when the command line is wrong.\n");
}

static void command_help_shows_its_options(void **state)
{
    _cleanup_buf_ struct buf out = BUF_INIT;

    (void)state;
    options_help_command(&sample_strict, &sample_pack, &out);
    assert_int_equal(strncmp(out.data, "Usage: flatbed-strict pack [OPTION]... SOURCE", 45), 0);
    assert_contains(out.data, "\nPacks what it is given.\n");
    assert_each_option(out.data, sample_pack_options);
    assert_contains(out.data, "  -h, --help");
}

/* Rows line up, long ones are broken between words, and a long option gets a line of its own. */
static void rows_are_laid_out(void **state)
{
    static const struct option_spec options[] = {
        {"a-very-long-option-name", 'a', OPTION_TEXT, 0, "VALUE", NULL, "short"},
        {"b", 'b', OPTION_FLAG, 0, NULL, NULL,
         "one two three four five six seven eight nine ten eleven twelve thirteen fourteen"},
        {0},
    };
    static const struct command_spec command = {
        .name = "c", .operands = "X", .summary = "s", .options = options};
    _cleanup_buf_ struct buf out = BUF_INIT;

    (void)state;
    options_help_command(&sample_strict, &command, &out);
    assert_string_equal(out.data,
                        "Usage: flatbed-strict c [OPTION]... X\n\ns\n\nOptions:\n"
                        "  -a, --a-very-long-option-name=VALUE\n"
                        "                            short\n"
                        "  -b, --b                   one two three four five six seven eight nine "
                        "ten eleven twelve\n"
                        "                            thirteen fourteen\n"
                        "  -h, --help                show this text\n");
}

static void only_known_shells_are_completed(void **state)
{
    static const char *const shells[] = {"bash", "zsh", "fish"};

    (void)state;
    for (size_t i = 0; i < 3; i++) {
        _cleanup_buf_ struct buf out = BUF_INIT;
        struct err err = ERR_INIT;
        assert_works(options_complete(&sample_program, shells[i], &out, &err), err);
        for (const struct option_spec *o = sample_pack_options; o->name; o++)
            assert_contains(out.data, o->name);
        assert_contains(out.data, "gzip zstd none");
        assert_int_equal(out.data[out.len - 1], '\n');
    }
    _cleanup_buf_ struct buf out = BUF_INIT;
    struct err err = ERR_INIT;
    assert_fails(options_complete(&sample_program, "tcsh", &out, &err), err, ERR_USAGE);
    assert_string_equal(err.msg, "--completion=tcsh: expected one of bash, zsh, fish");
    assert_int_equal(out.len, 0);
}

UNIT_SUITE(test_options_help)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(program_help_shows_commands_and_options),
        cmocka_unit_test(command_help_shows_its_options),
        cmocka_unit_test(rows_are_laid_out),
        cmocka_unit_test(only_known_shells_are_completed),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
