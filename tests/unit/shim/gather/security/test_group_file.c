/* Finds the container's /etc/group in its root, and judges groups by it. */
#include "tests/unit/lib/shim_unit.h"
#include "tests/unit/lib/tempdir.h"

#include "shim/gather/security/group_file.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define in_directory(test) cmocka_unit_test_setup_teardown(test, tempdir_make, tempdir_remove)

static void allows_what_is_no_name(void **state)
{
    const struct group_file file = {.names = {.list = {5000}, .count = 1}};
    _cleanup_buf_ struct buf why = BUF_INIT;

    (void)state;
    assert_true(group_file_allows(&file, 5001, &why));
    assert_int_equal(why.len, 0);
    assert_false(group_file_allows(&file, 5000, &why));
    assert_contains(why.data, "the group 5000");
    assert_contains(why.data, "has another group with the name 5000");
}

static void allows_nothing_of_a_file_that_is_not_known(void **state)
{
    const struct group_file file = {.problem = "it could be anything"};
    _cleanup_buf_ struct buf why = BUF_INIT;

    (void)state;
    assert_false(group_file_allows(&file, 5001, &why));
    assert_contains(why.data, "may become another group: it could be anything: leave out");
}

/* Gathers the file of a root in the directory, under these mounts. */
static void gather(const struct tempdir *dir, const char *mounts, struct arena *arena,
                   struct group_file *out)
{
    _cleanup_free_ char *text =
        strf("{\"root\":{\"path\":\"root\"},\"process\":{},\"mounts\":[%s]}", mounts);
    struct json_doc *doc = shim_document(text);
    struct err err = ERR_INIT;
    struct spec spec;

    assert_works(spec_read(doc, arena, &spec, &err), err);
    assert_works(group_file_gather(&spec, dir->fd, arena, out, &err), err);
    json_free(doc);
}

static void put(const struct tempdir *dir, const char *path, const char *text)
{
    _cleanup_fd_ int fd = openat(dir->fd, path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);

    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, strlen(text)), (ssize_t)strlen(text));
}

static void reads_the_file_of_the_root(void **state)
{
    const struct tempdir *dir = *state;
    _cleanup_arena_ struct arena arena = {0};
    struct group_file file;

    (void)umask(022);
    assert_int_equal(mkdirat(dir->fd, "root", 0755), 0);
    gather(dir, "", &arena, &file);
    assert_null(file.problem);
    assert_int_equal(mkdirat(dir->fd, "root/etc", 0755), 0);
    put(dir, "root/etc/group", "5000:x:42:\n");
    gather(dir, "", &arena, &file);
    assert_null(file.problem);
    assert_true(group_names_have(&file.names, 5000));
    gather(dir, "{\"destination\":\"/etc/../etc\",\"type\":\"tmpfs\"}", &arena, &file);
    assert_string_equal(file.problem, "something is mounted on /etc");
    gather(dir, "{\"destination\":\"/etcetera\",\"type\":\"tmpfs\"}", &arena, &file);
    assert_null(file.problem);
    assert_int_equal(fchmodat(dir->fd, "root/etc/group", 0666, 0), 0);
    gather(dir, "", &arena, &file);
    assert_string_equal(file.problem, "users other than root can change /etc/group");
    assert_int_equal(unlinkat(dir->fd, "root/etc/group", 0), 0);
    assert_int_equal(mkfifoat(dir->fd, "root/etc/group", 0644), 0);
    gather(dir, "", &arena, &file);
    assert_string_equal(file.problem, "/etc/group: not a regular file");
}

static void notes_mounts_that_could_be_moved(void **state)
{
    static const char outer[] = "{\"destination\":\"/a\",\"type\":\"bind\",\"source\":\"/srv\"}";
    const struct tempdir *dir = *state;
    _cleanup_arena_ struct arena arena = {0};
    struct group_file file;

    assert_int_equal(mkdirat(dir->fd, "root", 0755), 0);
    for (int bind = 0; bind < 2; bind++) {
        _cleanup_free_ char *below =
            strf("%s,{\"destination\":\"/a/b\",\"type\":\"%s\",\"source\":\"/srv\"}", outer,
                 bind ? "bind" : "tmpfs");
        gather(dir, below, &arena, &file);
        assert_int_equal(file.movable, bind);
    }
    gather(dir, outer, &arena, &file);
    assert_false(file.movable);
}

UNIT_SUITE(test_group_file)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(allows_what_is_no_name),
        cmocka_unit_test(allows_nothing_of_a_file_that_is_not_known),
        in_directory(reads_the_file_of_the_root),
        in_directory(notes_mounts_that_could_be_moved),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
