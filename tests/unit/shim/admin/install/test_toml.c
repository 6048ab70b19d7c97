/* TOML: lookups, refusals, and edits that can be undone exactly. */
#include "tests/unit/lib/unit.h"

#include "shim/admin/engine/toml.h"
#include "shim/admin/install/toml_edit.h"

static void assert_toml(const char *text)
{
    _cleanup_arena_ struct arena arena = {0};
    struct toml toml;
    struct err err = ERR_INIT;

    if (toml_scan(text, strlen(text), &arena, &toml, &err) < 0)
        fail_msg("%s: %s", text, err.msg);
}

static void assert_no_toml(const char *text, const char *line)
{
    _cleanup_arena_ struct arena arena = {0};
    struct toml toml;
    struct err err = ERR_INIT;

    if (toml_scan(text, strlen(text), &arena, &toml, &err) == 0)
        fail_msg("%s: accepted", text);
    assert_int_equal(err.kind, ERR_FORMAT);
    assert_contains(err.msg, line);
}

static void every_kind_of_value_is_passed_over(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "",
        "# a comment, no newline",
        "a = 1",
        "a = true # x\r\nb=false\n",
        "a = \"[x]\\\"=\"\n[t]\n",
        "a = '''\n[not]\n'''\n",
        "a = \"\"\"x\"\"\"\"\"\n",
        "a = [1, 2,\n # c\n [\"]\"], ]\n",
        "a = { b = 1, c.d = [1, { e = '}' }] }\n",
        "a = 1979-05-27 07:32:00Z\nb = -1_000.5e+3\nc = inf\n",
        "\"a.b\".'c d'.e-f = 0x1F\n",
        "[[a]]\n[ a . \"b\" ]\n",
    };
    for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++)
        assert_toml(texts[i]);
}

static void what_is_no_toml_is_refused_with_its_line(void **state)
{
    (void)state;
    assert_no_toml("a = 1\n[t\n", "line 2");
    assert_no_toml("a = \"x\n", "line 1");
    assert_no_toml("a = '''x\n", "not TOML");
    assert_no_toml("a = [1\n", "not TOML");
    assert_no_toml("a =\n", "line 1");
    assert_no_toml("a\n", "line 1");
    assert_no_toml("a = 1 2\n", "line 1");
    assert_no_toml("a = yes\n", "line 1");
    assert_no_toml("\n\n= 1\n", "line 3");
    assert_no_toml("{\"a\": 1}\n", "line 1");
    assert_no_toml("a = {b = 1\n}", "line 1");
    assert_no_toml("a = [[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[1]]", "too deep");
}

static void items_have_their_paths_and_lines(void **state)
{
    (void)state;
    static const char text[] = "x = 1\n[a.\"b.c\"]\n  y.z = [\n 1 ] # c\nlast = 2";
    _cleanup_arena_ struct arena arena = {0};
    struct toml toml;
    struct err err = ERR_INIT;
    const char *const y[] = {"a", "b.c", "y", "z"};

    assert_works(toml_scan(text, strlen(text), &arena, &toml, &err), err);
    assert_int_equal(toml.count, 4);
    const struct toml_item *item = toml_find(&toml, y, 4);
    assert_non_null(item);
    assert_int_equal(item->table_depth, 2);
    assert_memory_equal(text + item->start, "  y.z", 5);
    assert_memory_equal(text + item->end, "last", 4);
    assert_int_equal(toml_line(&toml, item->value_start), 3);
    assert_int_equal(item->value_end - item->value_start, strlen("[\n 1 ]"));
    assert_null(toml_find(&toml, y, 3));
}

static const char *const engine[] = {"engine", "runtimes"};
static const struct toml_set sets[] = {
    {.table = engine, .depth = 1, .key = "runtime", .value = "\"f\""},
    {.table = engine, .depth = 2, .key = "f", .value = "[\"/f\"]"},
};

/* Edits, edits again, and undoes the edit. */
static char *there_and_back(const char *text)
{
    struct buf in = BUF_INIT, out = BUF_INIT;
    _cleanup_buf_ struct buf again = BUF_INIT, back = BUF_INIT;
    struct err err = ERR_INIT;

    buf_puts(&in, text);
    assert_works(toml_edit(&in, sets, 2, &out, &err), err);
    assert_toml(out.data);
    assert_works(toml_edit(&out, sets, 2, &again, &err), err);
    assert_string_equal(again.data, out.data);
    assert_works(toml_edit(&out, NULL, 0, &back, &err), err);
    buf_puts(&back, "");
    assert_string_equal(back.data, text);
    buf_free(&in);
    return buf_take(&out, &err);
}

static void tables_that_are_not_there_go_into_a_block(void **state)
{
    (void)state;
    _cleanup_free_ char *text = there_and_back("[containers] # mine\nx = 1\n");
    assert_contains(text, "[containers] # mine\nx = 1\n# >>>");
    assert_contains(text, "[engine]\nruntime = \"f\"\n[engine.runtimes]\nf = [\"/f\"]\n# <<<");
}

static void tables_that_are_there_get_marked_lines(void **state)
{
    (void)state;
    _cleanup_free_ char *text =
        there_and_back("[engine]\n  runtime = [\n 1] # old\n[engine.runtimes]\n");
    assert_contains(text, "[engine]\n#flatbed was#   runtime = [\n#flatbed was#  1] # old\n"
                          "  runtime = \"f\" # flatbed install\n[engine.runtimes]\n"
                          "f = [\"/f\"] # flatbed install\n");
    _cleanup_free_ char *same = there_and_back("[engine]\nruntime = \"f\"\n");
    assert_null(strstr(same, "was"));
}

static void what_cannot_be_added_to_is_refused(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "engine = { runtime = \"x\" }\n",
        "engine.runtime = \"x\"\n",
        "[[engine]]\n",
        "[engine]\nruntimes.x = 1\n",
        "[engine]\nruntimes = {}\n",
        "[engine\n",
        "# >>> flatbed install: this block is its own >>>\n",
    };
    for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
        _cleanup_buf_ struct buf in = BUF_INIT, out = BUF_INIT;
        struct err err = ERR_INIT;
        buf_puts(&in, texts[i]);
        if (toml_edit(&in, sets, 2, &out, &err) == 0)
            fail_msg("%s: accepted:\n%s", texts[i], out.data);
        assert_int_equal(err.kind, ERR_FORMAT);
    }
}

static void a_table_of_ours_may_not_be_there(void **state)
{
    (void)state;
    const struct toml_set set = {
        .table = engine, .depth = 2, .ours = true, .key = "f", .value = "1"};
    _cleanup_buf_ struct buf in = BUF_INIT, out = BUF_INIT;
    struct err err = ERR_INIT;

    buf_puts(&in, "[x]\n[engine.runtimes]\n");
    assert_fails(toml_edit(&in, &set, 1, &out, &err), err, ERR_FORMAT);
    assert_contains(err.msg, "line 2");
}

UNIT_SUITE(test_toml)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_kind_of_value_is_passed_over),
        cmocka_unit_test(what_is_no_toml_is_refused_with_its_line),
        cmocka_unit_test(items_have_their_paths_and_lines),
        cmocka_unit_test(tables_that_are_not_there_go_into_a_block),
        cmocka_unit_test(tables_that_are_there_get_marked_lines),
        cmocka_unit_test(what_cannot_be_added_to_is_refused),
        cmocka_unit_test(a_table_of_ours_may_not_be_there),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
