/* Removal of directories with all that is in them: nothing else goes. */
#include "base/files/tree_remove.h"

#include "tests/unit/lib/tempdir_files.h"

#include <sched.h>
#include <stdbool.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>

static bool exists(const struct tempdir *dir, const char *path)
{
    return faccessat(dir->fd, path, F_OK, AT_SYMLINK_NOFOLLOW) == 0;
}

static void make_dir(const struct tempdir *dir, const char *path, mode_t mode)
{
    assert_int_equal(mkdirat(dir->fd, path, mode), 0);
}

static void a_tree_goes_and_what_its_links_name_stays(void **state)
{
    const struct tempdir *dir = *state;

    make_dir(dir, "kept", 0700);
    put(dir, "kept/file", "x", 1);
    make_dir(dir, "tree", 0700);
    make_dir(dir, "tree/a", 0700);
    make_dir(dir, "tree/a/b", 0);
    put(dir, "tree/a/file", "x", 1);
    assert_int_equal(symlinkat("../kept", dir->fd, "tree/link"), 0);
    assert_int_equal(fchdir(dir->fd), 0);
    tree_remove("tree");
    assert_false(exists(dir, "tree"));
    assert_content(dir, "kept/file", "x");
}

static void a_link_is_not_followed(void **state)
{
    const struct tempdir *dir = *state;

    make_dir(dir, "kept", 0700);
    put(dir, "kept/file", "x", 1);
    assert_int_equal(symlinkat("kept", dir->fd, "link"), 0);
    assert_int_equal(fchdir(dir->fd), 0);
    tree_remove("link");
    assert_false(exists(dir, "link"));
    assert_content(dir, "kept/file", "x");
}

static void a_file_goes(void **state)
{
    const struct tempdir *dir = *state;

    put(dir, "file", "x", 1);
    assert_int_equal(fchdir(dir->fd), 0);
    tree_remove("file");
    tree_remove("missing");
    assert_false(exists(dir, "file"));
}

/* Mounts a directory below the tree, in a mount namespace of its own. */
static int remove_below_a_mount(void)
{
    if (unshare(CLONE_NEWNS) < 0 || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
        mount("kept", "tree/mounted", NULL, MS_BIND, NULL) < 0)
        return 1;
    tree_remove("tree");
    return 0;
}

static void a_mount_is_not_entered(void **state)
{
    const struct tempdir *dir = *state;
    int status;

    if (geteuid() != 0)
        skip();
    make_dir(dir, "kept", 0700);
    put(dir, "kept/file", "x", 1);
    make_dir(dir, "tree", 0700);
    make_dir(dir, "tree/mounted", 0700);
    put(dir, "tree/file", "x", 1);
    assert_int_equal(fchdir(dir->fd), 0);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0)
        _exit(remove_below_a_mount());
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    assert_false(exists(dir, "tree/file"));
    assert_content(dir, "kept/file", "x");
}

static void the_last_one_is_still_there_when_others_are_gone(void **state)
{
    const struct tempdir *dir = *state;

    put(dir, "mark", "x", 1);
    put(dir, "file", "x", 1);
    tree_remove_content(dir->fd, "mark");
    assert_false(exists(dir, "mark"));
    assert_false(exists(dir, "file"));
}

#define UNIT(test) cmocka_unit_test_setup_teardown(test, tempdir_make, tempdir_remove)

UNIT_SUITE(test_tree_remove)
{
    static const struct CMUnitTest tests[] = {
        UNIT(a_tree_goes_and_what_its_links_name_stays),
        UNIT(a_link_is_not_followed),
        UNIT(a_file_goes),
        UNIT(a_mount_is_not_entered),
        UNIT(the_last_one_is_still_there_when_others_are_gone),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
