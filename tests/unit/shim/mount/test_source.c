/*
 * Sources on a real file system with hostile users. Needs root, because it makes files of other
 * users.
 */
#include "tests/unit/lib/unit.h"

#include "base/path.h"
#include "shim/mount/source.h"
#include "shim/mount/source_wait.h"
#include "tests/unit/lib/tempdir.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>

enum { ALICE = 12345 };

/* Returns "DIR/path" in one of a few static buffers. */
static const char *at(void **state, const char *path)
{
    static char text[4][256];
    static unsigned next;
    const struct tempdir *dir = *state;
    char *out = text[next++ % 4];

    snprintf(out, sizeof(text[0]), "%s/%s", dir->path, path);
    return out;
}

static void make(void **state, const char *path, uid_t owner, mode_t mode)
{
    assert_int_equal(mkdir(at(state, path), mode), 0);
    assert_int_equal(chmod(at(state, path), mode), 0);
    assert_int_equal(chown(at(state, path), owner, owner), 0);
}

static void link_to(void **state, const char *target, const char *path, uid_t owner)
{
    assert_int_equal(symlink(target, at(state, path)), 0);
    assert_int_equal(lchown(at(state, path), owner, owner), 0);
}

static void assert_owned(const char *path, uid_t uid, gid_t gid, mode_t mode)
{
    struct stat st;

    assert_int_equal(lstat(path, &st), 0);
    assert_int_equal(st.st_uid, uid);
    assert_int_equal(st.st_gid, gid);
    assert_int_equal(st.st_mode & 07777, mode);
}

static bool same_file(int fd, const char *path)
{
    struct stat a, b;

    return fstat(fd, &a) == 0 && stat(path, &b) == 0 && a.st_ino == b.st_ino &&
           a.st_dev == b.st_dev;
}

/* Finds the source. Returns true if it is exposed. */
static bool found(void **state, const char *path, const char *really)
{
    _cleanup_source_ struct source s = SOURCE_INIT;
    struct err err = ERR_INIT;

    assert_works(source_find(at(state, path), &s, &err), err);
    assert_false(s.missing);
    assert_true(same_file(s.fd, at(state, really)));
    return s.exposed;
}

static void test_roots_own_tree_is_not_exposed(void **state)
{
    make(state, "srv", 0, 0755);
    make(state, "srv/data", 0, 0755);
    make(state, "srv/data/mine", ALICE, 0700);
    assert_false(found(state, "srv/data", "srv/data"));
    assert_false(found(state, "srv/data/mine", "srv/data/mine"));
}

static void test_what_a_user_can_replace_is_exposed(void **state)
{
    make(state, "home", ALICE, 0755);
    make(state, "home/work", ALICE, 0755);
    assert_true(found(state, "home/work", "home/work"));
    make(state, "group", 0, 0775);
    make(state, "group/x", 0, 0755);
    assert_true(found(state, "group/x", "group/x"));
    make(state, "sticky", 0, 01777);
    make(state, "sticky/roots", 0, 0755);
    make(state, "sticky/users", ALICE, 0755);
    assert_false(found(state, "sticky/roots", "sticky/roots"));
    assert_true(found(state, "sticky/users", "sticky/users"));
}

/* podman mounts the root of a container with mapped ids in /var/tmp: it belongs to a user. */
static void test_a_mount_point_in_a_sticky_directory_is_its_owners(void **state)
{
    make(state, "merged", ALICE, 0755);
    make(state, "sticky", 0, 01777);
    make(state, "sticky/roots", 0, 0755);
    make(state, "sticky/users", ALICE, 0755);
    for (int i = 0; i < 2; i++) {
        const char *point = at(state, i == 0 ? "sticky/roots" : "sticky/users");
        assert_int_equal(mount(at(state, "merged"), point, NULL, MS_BIND, NULL), 0);
    }
    bool roots = found(state, "sticky/roots", "merged");
    bool users = found(state, "sticky/users", "merged");
    assert_int_equal(umount(at(state, "sticky/roots")), 0);
    assert_int_equal(umount(at(state, "sticky/users")), 0);
    assert_false(roots);
    assert_true(users);
}

static void test_roots_links_are_followed(void **state)
{
    make(state, "disk", 0, 0755);
    make(state, "disk/data", 0, 0755);
    make(state, "srv", 0, 0755);
    link_to(state, "../disk", "srv/relative", 0);
    link_to(state, at(state, "disk/data"), "srv/absolute", 0);
    link_to(state, "relative/data/.", "srv/chain", 0);
    assert_false(found(state, "srv/relative/data", "disk/data"));
    assert_false(found(state, "srv/absolute", "disk/data"));
    assert_false(found(state, "srv/chain", "disk/data"));
}

static void assert_not_followed(void **state, const char *path, const char *name)
{
    _cleanup_source_ struct source s = SOURCE_INIT;
    struct err err = ERR_INIT;

    assert_fails(source_find(at(state, path), &s, &err), err, ERR_POLICY);
    assert_contains(err.msg, "symbolic link");
    assert_contains(err.msg, name);
    assert_int_equal(s.fd, -1);
}

static void test_users_links_are_not_followed(void **state)
{
    make(state, "home", ALICE, 0755);
    make(state, "srv", 0, 0755);
    make(state, "open", 0, 0777);
    link_to(state, "/etc", "home/work", ALICE);
    /* A link of root in her directory: she may have moved it there. */
    link_to(state, "/etc", "home/roots", 0);
    link_to(state, "/etc", "srv/hers", ALICE);
    link_to(state, "/etc", "open/x", 0);
    assert_not_followed(state, "home/work", "'work'");
    assert_not_followed(state, "home/work/passwd", "'work'");
    assert_not_followed(state, "home/roots", "'roots'");
    assert_not_followed(state, "srv/hers", "'hers'");
    assert_not_followed(state, "open/x", "'x'");
    /* The link and its directory are owned by root, but lie below her directory. */
    make(state, "home/sub", 0, 0755);
    link_to(state, "/etc", "home/sub/l", 0);
    assert_not_followed(state, "home/sub/l", "'l'");
}

static void test_loops_end(void **state)
{
    _cleanup_source_ struct source s = SOURCE_INIT;
    struct err err = ERR_INIT;

    make(state, "srv", 0, 0755);
    link_to(state, "b", "srv/a", 0);
    link_to(state, "a", "srv/b", 0);
    assert_fails(source_find(at(state, "srv/a"), &s, &err), err, ERR_POLICY);
    assert_contains(err.msg, "too many symbolic links");
}

static void test_kinds(void **state)
{
    _cleanup_source_ struct source s = SOURCE_INIT;
    struct err err = ERR_INIT;

    make(state, "srv", 0, 0755);
    assert_int_equal(mkfifo(at(state, "srv/fifo"), 0644), 0);
    assert_fails(source_find(at(state, "srv/fifo"), &s, &err), err, ERR_POLICY);
    assert_contains(err.msg, "neither a directory nor a regular file");
    int fd = open(at(state, "srv/file"), O_CREAT | O_WRONLY | O_CLOEXEC, 0644);
    assert_true(fd >= 0);
    close(fd);
    assert_works(source_find(at(state, "srv/file"), &s, &err), err);
    assert_false(s.directory);
    source_close(&s);
    assert_fails(source_find(at(state, "srv/file/below"), &s, &err), err, ERR_SYSTEM);
}

static void test_missing(void **state)
{
    _cleanup_source_ struct source s = SOURCE_INIT;
    struct err err = ERR_INIT;

    make(state, "srv", 0, 0755);
    assert_works(source_find(at(state, "srv/a/b/c"), &s, &err), err);
    assert_true(s.missing);
    assert_string_equal(s.rest, "a/b/c");
    assert_true(same_file(s.fd, at(state, "srv")));
}

/* ---- in a user namespace ---- */

static int write_map(const char *file)
{
    int fd = open(file, O_WRONLY | O_CLOEXEC);
    int rc = fd >= 0 && write(fd, "0 0 1\n", 6) == 6 ? 0 : -1;

    if (fd >= 0)
        close(fd);
    return rc;
}

/* Returns 0: not exposed, 1: exposed, 2: refused, 3: no namespace. */
static int find_in_namespace(const char *path)
{
    struct source s = SOURCE_INIT;
    struct err err = ERR_INIT;
    pid_t pid = fork();

    if (pid == 0) {
        if (unshare(CLONE_NEWUSER) < 0 || write_map("/proc/self/uid_map") < 0)
            _exit(3);
        int rc = source_find(path, &s, &err);
        _exit(rc < 0 ? 2 : s.exposed);
    }
    int status;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    return WEXITSTATUS(status);
}

/* All other users are the overflow uid there: links of that uid are not followed either. */
static void test_unmapped_owners(void **state)
{
    make(state, "srv", ALICE, 0755);
    make(state, "srv/data", 0, 0755);
    link_to(state, "/etc", "srv/hers", ALICE);
    make(state, "open", 0, 01777);
    make(state, "open/hers", ALICE, 0755);
    assert_int_equal(chmod(at(state, ""), 0755), 0);
    int plain = find_in_namespace(at(state, "srv/data"));
    if (plain == 3)
        skip();
    assert_int_equal(plain, 0);
    assert_int_equal(find_in_namespace(at(state, "srv/hers")), 2);
    assert_int_equal(find_in_namespace(at(state, "open/hers")), 1);
    assert_int_equal(find_in_namespace("/usr/share"), 0);
}

/* ---- from a directory ---- */

static void assert_is_at(int fd, const char *path)
{
    char link[32], found[PATH_MAX] = "";

    snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
    assert_true(readlink(link, found, sizeof(found) - 1) > 0);
    assert_string_equal(found, path);
}

/* Compares a look that starts from the directory with one from "/". */
static void look_both_ways(void **state, struct source_directory *directory, const char *path)
{
    _cleanup_source_ struct source near = SOURCE_INIT, far = SOURCE_INIT;
    struct err err = ERR_INIT, other = ERR_INIT;
    int rc = source_look(at(state, path), &far, &other);

    assert_int_equal(source_look_in(directory, at(state, path), &near, &err), rc);
    assert_string_equal(err.msg, other.msg);
    if (rc < 0)
        return;
    struct stat a, b;
    assert_int_equal(fstat(near.fd, &a), 0);
    assert_int_equal(fstat(far.fd, &b), 0);
    assert_true(a.st_ino == b.st_ino && a.st_dev == b.st_dev);
    assert_int_equal(near.exposed, far.exposed);
    assert_int_equal(near.missing, far.missing);
    assert_int_equal(near.directory, far.directory);
    assert_int_equal(near.linked, far.linked);
    if (!near.linked && !near.missing && path_is_clean_absolute(at(state, path)))
        assert_is_at(near.fd, at(state, path));
}

static void test_a_look_from_a_directory_sees_the_same(void **state)
{
    static const char *const paths[] = {"srv/a",    "srv/b",    "srv/none", "srv/..",    "srv/link",
                                        "srv/hers", "link/a",   "link/b",   "home/x",    "home/y",
                                        "none/x",   "bad/file", "srv/a/",   "srv/a/../b"};
    struct source_directory directory = SOURCE_DIRECTORY_INIT;

    make(state, "srv", 0, 0755);
    make(state, "srv/a", 0, 0755);
    make(state, "srv/b", ALICE, 0700);
    make(state, "home", ALICE, 0755);
    make(state, "home/x", 0, 0755);
    make(state, "home/y", ALICE, 0755);
    link_to(state, "srv", "link", 0);
    link_to(state, "b", "srv/link", 0);
    link_to(state, "a", "srv/hers", ALICE);
    link_to(state, "srv", "bad", ALICE);
    for (int round = 0; round < 2; round++)
        for (size_t i = 0; i < sizeof(paths) / sizeof(*paths); i++)
            look_both_ways(state, &directory, paths[i]);
    source_directory_close(&directory);
}

static void test_a_directory_that_users_share_is_no_start(void **state)
{
    struct source_directory directory = SOURCE_DIRECTORY_INIT;

    make(state, "srv", 0, 0755);
    make(state, "srv/a", 0, 0755);
    make(state, "home", ALICE, 0755);
    make(state, "home/dir", ALICE, 0755);
    make(state, "home/dir/x", 0, 0755);
    look_both_ways(state, &directory, "srv/a");
    assert_true(directory.fd >= 0);
    look_both_ways(state, &directory, "home/dir/x");
    assert_int_equal(directory.fd, -1);
    source_directory_close(&directory);
}

/* ---- making ---- */

static void make_source(void **state, const char *path, const struct source_make *how)
{
    _cleanup_source_ struct source s = SOURCE_INIT;
    struct err err = ERR_INIT;

    assert_works(source_find_or_make(at(state, path), how, &s, &err), err);
    assert_false(s.missing);
    assert_true(s.directory);
    assert_true(same_file(s.fd, at(state, path)));
}

static void test_root_makes_what_the_user_may_not(void **state)
{
    static const struct source_make how = {.who = {.uid = ALICE, .gid = 77}, .mode = 0750};

    make(state, "logs", 0, 0755);
    assert_int_equal(chmod(at(state, ""), 0755), 0);
    make_source(state, "logs/alice/run/1", &how);
    assert_owned(at(state, "logs/alice"), 0, 0, 0755);
    assert_owned(at(state, "logs/alice/run"), 0, 0, 0755);
    assert_owned(at(state, "logs/alice/run/1"), ALICE, 77, 0750);
    make_source(state, "logs/alice/run/1", &how); /* again: it exists */
}

static void test_the_user_makes_it_where_he_may(void **state)
{
    static const struct source_make how = {.who = {.uid = ALICE, .gid = ALICE}, .mode = 0700};

    assert_int_equal(chmod(at(state, ""), 0755), 0);
    make(state, "home", ALICE, 0755);
    make_source(state, "home/a/b", &how);
    assert_owned(at(state, "home/a"), ALICE, ALICE, 0755);
    assert_owned(at(state, "home/a/b"), ALICE, ALICE, 0700);
}

static void test_the_umask_has_no_say_and_stays(void **state)
{
    static const struct source_make alice = {.who = {.uid = ALICE, .gid = ALICE}, .mode = 02777};
    static const struct source_make root = {.who = {.uid = 0, .gid = 0}, .mode = 0775};

    assert_int_equal(chmod(at(state, ""), 0755), 0);
    make(state, "home", ALICE, 0755);
    mode_t before = umask(0077);
    make_source(state, "home/a", &alice);
    make_source(state, "roots", &root);
    assert_int_equal(umask(before), 0077);
    assert_owned(at(state, "roots"), 0, 0, 0775);
    assert_owned(at(state, "home/a"), ALICE, ALICE, 02777); /* mkdir(2) does not set S_ISGID */
}

static void test_root_makes_nothing_for_one_user_in_anothers_directory(void **state)
{
    static const struct source_make how = {.who = {.uid = ALICE, .gid = ALICE}, .mode = 0700};
    _cleanup_source_ struct source s = SOURCE_INIT;
    struct err err = ERR_INIT;

    assert_int_equal(chmod(at(state, ""), 0755), 0);
    make(state, "bobs", ALICE + 1, 0755);
    assert_fails(source_find_or_make(at(state, "bobs/x"), &how, &s, &err), err, ERR_SYSTEM);
    assert_contains(err.msg, "cannot make 'x' as 12345:12345");
    struct stat st;
    assert_int_equal(lstat(at(state, "bobs/x"), &st), -1);
}

static void test_a_dangling_link_is_no_place(void **state)
{
    static const struct source_make how = {.who = {.uid = ALICE, .gid = ALICE}, .mode = 0700};
    _cleanup_source_ struct source s = SOURCE_INIT;
    struct err err = ERR_INIT;

    make(state, "home", ALICE, 0755);
    link_to(state, at(state, "outside"), "home/work", ALICE);
    assert_fails(source_find_or_make(at(state, "home/work"), &how, &s, &err), err, ERR_POLICY);
    struct stat st;
    assert_int_equal(lstat(at(state, "outside"), &st), -1);
}

static int needs_root(void **state)
{
    if (geteuid() != 0)
        skip();
    return tempdir_make(state);
}

#define WITH_ROOT(test) cmocka_unit_test_setup_teardown(test, needs_root, tempdir_remove)

/* Returning at all is the result. (A bats test covers hangs, with a stopped FUSE server.) */
static void test_waiting_for_what_answers(void **state)
{
    struct err err = ERR_INIT;

    make(state, "there", 0, 0755);
    link_to(state, "/etc", "bad", ALICE);
    assert_int_equal(source_wait(at(state, "there"), NULL, 10000, &err), 0);
    assert_int_equal(source_wait(at(state, "not/there"), NULL, 10000, &err), 0);
    assert_int_equal(source_wait(at(state, "bad/x"), NULL, 10000, &err), 0);
    /* Nothing is left behind, neither a descriptor nor a child. */
    int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
    close(fd);
    for (int i = 0; i < 20; i++)
        assert_int_equal(source_wait(at(state, "there"), NULL, 10000, &err), 0);
    int again = open("/dev/null", O_RDONLY | O_CLOEXEC);
    close(again);
    assert_int_equal(fd, again);
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
    assert_int_equal(errno, ECHILD);
}

UNIT_SUITE(test_source)
{
    const struct CMUnitTest tests[] = {
        WITH_ROOT(test_a_look_from_a_directory_sees_the_same),
        WITH_ROOT(test_a_directory_that_users_share_is_no_start),
        WITH_ROOT(test_roots_own_tree_is_not_exposed),
        WITH_ROOT(test_what_a_user_can_replace_is_exposed),
        WITH_ROOT(test_a_mount_point_in_a_sticky_directory_is_its_owners),
        WITH_ROOT(test_roots_links_are_followed),
        WITH_ROOT(test_users_links_are_not_followed),
        WITH_ROOT(test_loops_end),
        WITH_ROOT(test_kinds),
        WITH_ROOT(test_missing),
        WITH_ROOT(test_unmapped_owners),
        WITH_ROOT(test_root_makes_what_the_user_may_not),
        WITH_ROOT(test_the_user_makes_it_where_he_may),
        WITH_ROOT(test_the_umask_has_no_say_and_stays),
        WITH_ROOT(test_root_makes_nothing_for_one_user_in_anothers_directory),
        WITH_ROOT(test_a_dangling_link_is_no_place),
        WITH_ROOT(test_waiting_for_what_answers),
    };

    if (geteuid() != 0) {
        puts("1..0 # skipped: needs root to make other users' files");
        return getenv("CI") ? 1 : 0;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
