/* A tree gets its name. */
#include "flatten/keeper/tree/tree_place.h"

#include "tests/unit/lib/fsyncs.h"
#include "tests/unit/lib/tempdir.h"
#include "tests/unit/lib/unit.h"

#include <errno.h>

/* Makes a tree of that name, with fsync of directories that fails with `number`. */
static int make_tree(const struct tempdir *dir, const char *name, int number, struct err *err)
{
    _cleanup_(tree_place_clear) struct tree_place place = TREE_PLACE_INIT;
    char path[160];

    snprintf(path, sizeof(path), "%s/%s", dir->path, name);
    assert_works(tree_place_make(&place, path, err), *err);
    fsyncs_forget(number);
    int rc = tree_place_publish(&place, err);
    assert_int_equal(faccessat(dir->fd, name, F_OK, 0), 0);
    return rc;
}

static void test_published(void **state)
{
    const struct tempdir *dir = *state;
    struct err err = ERR_INIT;

    assert_works(make_tree(dir, "plain", 0, &err), err);
    assert_true(fsyncs_reached(dir->fd, "."));
    assert_works(make_tree(dir, "fuse", EINVAL, &err), err);
    assert_fails(make_tree(dir, "broken", EIO, &err), err, ERR_SYSTEM);
    fsyncs_forget(0);
}

UNIT_SUITE(test_tree_place)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_published, tempdir_make, tempdir_remove)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
