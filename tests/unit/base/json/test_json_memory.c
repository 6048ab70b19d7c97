/*
 * JSON without memory: each allocation fails once. The linker puts __wrap_X in the place of X for
 * arena_alloc, arena_strndup, calloc and realloc.
 */
#include "base/arena.h"

#include "tests/unit/base/json/json_unit.h"

void *__real_arena_alloc(struct arena *a, size_t size);
char *__real_arena_strndup(struct arena *a, const char *text, size_t len);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *old, size_t size);
void *__wrap_arena_alloc(struct arena *a, size_t size);
char *__wrap_arena_strndup(struct arena *a, const char *text, size_t len);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *old, size_t size);

static unsigned countdown; /* 1: the next allocation fails; 0: none does */

static bool fails_now(void)
{
    return countdown > 0 && --countdown == 0;
}

void *__wrap_arena_alloc(struct arena *a, size_t size)
{
    return fails_now() ? NULL : __real_arena_alloc(a, size);
}

char *__wrap_arena_strndup(struct arena *a, const char *text, size_t len)
{
    return fails_now() ? NULL : __real_arena_strndup(a, text, len);
}

void *__wrap_calloc(size_t count, size_t size)
{
    return fails_now() ? NULL : __real_calloc(count, size);
}

void *__wrap_realloc(void *old, size_t size)
{
    return fails_now() ? NULL : __real_realloc(old, size);
}

static void parsing_says_so(void **state)
{
    static const char text[] = "{\"a\":[1,\"s\",true,null,[],6],\"b\":\"\\u0041\",\"c\":{},"
                               "\"d\":-1,\"e\":{\"x\":1,\"y\":2}}";
    static const struct json_options unique = {.unique_keys = true};
    struct json_doc *doc = NULL;
    unsigned n;

    (void)state;
    for (n = 1; !doc && n < 1000; n++) {
        struct err err = ERR_INIT;
        countdown = n;
        doc = json_parse(text, strlen(text), &unique, &err);
        bool spent = countdown == 0;
        countdown = 0;
        assert_int_equal(doc == NULL, spent);
        if (!doc)
            assert_true(err.kind == ERR_LIMIT || (err.kind == ERR_SYSTEM && err.sys == ENOMEM));
    }
    assert_true(n > 30);
    json_free(doc);
}

static void edit_everything(struct json_doc *doc, struct json *root)
{
    struct json *list = json_array(doc);

    json_set(doc, root, "list", list);
    for (int i = 0; i < 6; i++)
        json_append(doc, list, json_number_signed(doc, i));
    json_insert(doc, list, 0, json_string(doc, "first"));
    json_replace_at(doc, list, 1, json_bool(doc, false));
    json_set(doc, root, "copy", json_copy(doc, json_get(root, "a")));
    for (char key[] = "k0"; key[1] < '6'; key[1]++)
        json_set(doc, root, key, json_object(doc));
    json_remove(root, "k0");
    json_remove_at(list, 0);
}

static void edits_fail_and_stay_failed(void **state)
{
    bool done = false;
    unsigned n;

    (void)state;
    for (n = 1; !done && n < 1000; n++) {
        _cleanup_json_ struct json_doc *doc = parsed_text("{\"a\":{\"x\":[1,\"s\",true,{}]}}");
        _cleanup_buf_ struct buf out = BUF_INIT;
        struct err err = ERR_INIT;
        countdown = n;
        edit_everything(doc, json_root(doc));
        done = countdown > 0;
        countdown = 0;
        assert_int_equal(json_failed(doc), !done);
        if (done)
            assert_works(json_write(doc, &out, &err), err);
        else
            assert_fails(json_write(doc, &out, &err), err, ERR_SYSTEM);
    }
    assert_true(n > 30);
}

UNIT_SUITE(test_json_memory)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parsing_says_so),
        cmocka_unit_test(edits_fail_and_stay_failed),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
