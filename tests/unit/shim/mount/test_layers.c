/* Options of an overlay as the kernel shows them, and those of its replacement. */
#include "tests/unit/lib/unit.h"

#include "base/buf.h"
#include "shim/mount/layers.h"

#include <string.h>

#define PLACES ",upperdir=/u,workdir=/w"

static const struct layers *layers_of(struct arena *arena, const char *super)
{
    struct layers *l = arena_alloc(arena, sizeof(*l));
    struct err err = ERR_INIT;

    assert_non_null(l);
    assert_works(layers_read(super, arena, l, &err), err);
    return l;
}

/* "a|b|c" */
static char *joined(const struct layers *l)
{
    struct buf text = BUF_INIT;
    struct err err = ERR_INIT;

    for (size_t i = 0; i < l->count; i++)
        buf_printf(&text, "%s%s", i ? "|" : "", l->lower[i]);
    buf_puts(&text, "");
    return buf_take(&text, &err);
}

static void test_lower(void **state)
{
    static const struct {
        const char *super, *lower, *option;
    } rows[] = {
        {"rw,lowerdir=/a:/b" PLACES, "/a|/b", "lowerdir=/a:/b"},
        {"rw,lowerdir=l/AAA:l/BBB" PLACES, "l/AAA|l/BBB", "lowerdir=l/AAA:l/BBB"},
        /* Escapes of the kernel on top of those of the mounting program. */
        {"rw,lowerdir=/a\\134:b:/c" PLACES, "/a:b|/c", "lowerdir=/a\\:b:/c"},
        {"rw,lowerdir=/a\\134\\134:/c" PLACES, "/a\\|/c", "lowerdir=/a\\\\:/c"},
        {"rw,lowerdir=/a\\134\\054b:/c" PLACES, "/a,b|/c", "lowerdir=/a\\,b:/c"},
        {"rw,lowerdir=/a\\040b:/c\\011" PLACES, "/a b|/c\t", "lowerdir=/a b:/c\t"},
        {"rw,lowerdir=/a\\134\\134\\134::/c" PLACES, "/a\\:|/c", "lowerdir=/a\\\\\\::/c"},
        /* Paths of lowerdir+= are not escaped by the mounting program. */
        {"rw,lowerdir+=/a:b,lowerdir+=/c\\134d" PLACES, "/a:b|/c\\d", "lowerdir=/a\\:b:/c\\\\d"},
        {"rw,context=\"u:r:t:s0:c1,c2\",lowerdir=/a" PLACES, "/a", "lowerdir=/a"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        _cleanup_arena_ struct arena arena = {0};
        const struct layers *l = layers_of(&arena, rows[i].super);
        _cleanup_free_ char *lower = joined(l);
        assert_string_equal(lower, rows[i].lower);
        assert_string_equal(l->kept[0], rows[i].option);
        assert_string_equal(l->upper, "/u");
        assert_string_equal(l->work, "/w");
        if (l->unfit)
            fail_msg("%s: %s", rows[i].super, l->unfit);
    }
}

static void test_what_may_be_replaced(void **state)
{
    static const struct {
        const char *options, *rest, *unfit;
    } rows[] = {
        {"", "", NULL},
        {",index=off,userxattr", ",index=off,userxattr", NULL},
        {",uuid=null,redirect_dir=nofollow,xino=auto", ",uuid=null,redirect_dir=nofollow,xino=auto",
         NULL},
        {",volatile", ",volatile", NULL},
        {",fsync=volatile", ",fsync=volatile", NULL},
        {",seclabel", "", NULL},
        {",context=\"a:b:c0,c1\"", ",context=\"a:b:c0,c1\"", NULL},
        {",index=on", "", "it is mounted with 'index=on'"},
        {",metacopy=on", "", "it is mounted with 'metacopy=on'"},
        {",redirect_dir=on", "", "it is mounted with 'redirect_dir=on'"},
        {",redirect_dir=follow", "", "it is mounted with 'redirect_dir=follow'"},
        {",xino=on", "", "it is mounted with 'xino=on'"},
        {",nfs_export=on", "", "it is mounted with 'nfs_export=on'"},
        {",verity=require", "", "it is mounted with 'verity=require'"},
        {",volatile=1", "", "it is mounted with 'volatile=1'"},
        {",index", "", "it is mounted with 'index'"},
        {",something-new", "", "it is mounted with 'something-new'"},
        {",datadir+=/d", "", "it is mounted with 'datadir+=/d'"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        _cleanup_arena_ struct arena arena = {0};
        _cleanup_free_ char *super = strf("rw,lowerdir=/a:/b" PLACES "%s", rows[i].options);
        const struct layers *l = layers_of(&arena, super);
        if (!rows[i].unfit != !l->unfit || (l->unfit && strcmp(l->unfit, rows[i].unfit) != 0))
            fail_msg("%s: %s", rows[i].options, l->unfit);
        if (!l->unfit)
            assert_string_equal(l->rest, rows[i].rest);
    }
}

static void test_what_is_said(void **state)
{
    _cleanup_arena_ struct arena arena = {0};
    const struct layers *l =
        layers_of(&arena, "rw,lowerdir=/a" PLACES ",index=off,userxattr,fsync=volatile");

    (void)state;
    assert_true(l->given[LAYERS_INDEX]);
    assert_false(l->given[LAYERS_METACOPY]);
    assert_true(l->users);
    assert_true(l->fleeting);
    assert_string_equal(layers_of(&arena, "rw,lowerdir=/a:/b")->unfit, "it has no upper directory");
    assert_non_null(layers_of(&arena, "ro,lowerdir=/a" PLACES)->unfit);
    assert_string_equal(layers_of(&arena, "rw,lowerdir=/a::/data" PLACES)->unfit,
                        "it has layers of data alone");
}

static void test_shorter(void **state)
{
    static const struct {
        const char *lower, *base, *option; /* NULL: not */
    } rows[] = {
        {"/s/l/A:/s/l/B", "/s/l", "lowerdir=A:B"},
        {"/s/1/fs:/s/12/fs", "/s", "lowerdir=1/fs:12/fs"},
        {"/s/a\\134:b/1:/s/a\\134:b/2", "/s/a:b", "lowerdir=1:2"},
        {"/s/x\\134:y:/s/z", "/s", "lowerdir=x\\:y:z"},
        {"/one/a:/two/a", NULL, NULL},
        {"l/A:l/B", NULL, NULL},
        {"/s/a", "/s", "lowerdir=a"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        _cleanup_arena_ struct arena arena = {0};
        _cleanup_free_ char *super = strf("rw,lowerdir=%s" PLACES, rows[i].lower);
        const char *base = NULL;
        const char *option = layers_shorten(layers_of(&arena, super), &arena, &base);
        assert_int_equal(option != NULL, rows[i].option != NULL);
        if (option) {
            assert_string_equal(option, rows[i].option);
            assert_string_equal(base, rows[i].base);
        }
    }
}

UNIT_SUITE(test_layers)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lower),
        cmocka_unit_test(test_what_may_be_replaced),
        cmocka_unit_test(test_what_is_said),
        cmocka_unit_test(test_shorter),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
