/* Copies that go when room is short, and those that must not. */
#include "tests/unit/lib/tempdir.h"
#include "tests/unit/lib/unit.h"

#include "shim/stage/cache/stage_room.h"

#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <sys/file.h>
#include <sys/mount.h>
#include <sys/stat.h>

enum { MIB = 1024 * 1024 };

static struct stage_cache cache_of(void **state)
{
    struct tempdir *dir = *state;

    return (struct stage_cache){.fd = dir->fd, .path = dir->path};
}

/* Makes the copy of a source, whose time of use is `used`. */
static void make_entry(const struct stage_cache *cache, const char *source, uid_t account,
                       uint64_t room, time_t used, char name[STAGE_NAME])
{
    const struct timespec times[2] = {{.tv_sec = used}, {.tv_sec = used}};
    const struct stage_record record = {.source = source, .account = account, .room = room};
    char key[STAGE_KEY];
    struct err err = ERR_INIT;

    stage_key(source, key);
    stage_name(key, NULL, name);
    assert_int_equal(mkdirat(cache->fd, name, 0700), 0);
    _cleanup_fd_ int fd = openat(cache->fd, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    assert_int_equal(mkdirat(fd, "tree", 0755), 0);
    assert_works(stage_record_write(fd, &record, &err), err);
    assert_int_equal(stage_touch(fd, "used"), 0);
    assert_int_equal(utimensat(fd, "used", times, 0), 0);
}

static bool is_there(const struct stage_cache *cache, const char *name)
{
    return faccessat(cache->fd, name, F_OK, 0) == 0;
}

/* A launch mounts a copy while the process that wants its room looks at it. */
static void test_mounted_since_the_look(void **state)
{
    const struct stage_cache cache = cache_of(state);
    _cleanup_arena_ struct arena arena = {0};
    struct stage_items items;
    char name[STAGE_NAME], tree[PATH_MAX], point[PATH_MAX];
    struct err err = ERR_INIT;

    if (geteuid() != 0 || unshare(CLONE_NEWNS) < 0 ||
        mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0)
        skip();
    make_entry(&cache, "/nfs/a", 0, MIB, 100, name);
    snprintf(tree, sizeof(tree), "%s/%s/tree", cache.path, name);
    snprintf(point, sizeof(point), "%s/point", cache.path);
    assert_int_equal(mkdir(point, 0700), 0);
    assert_works(stage_list(&cache, &arena, &items, &err), err);
    assert_int_equal(items.count, 1);
    assert_false(items.list[0].mounted);
    assert_int_equal(mount(tree, point, NULL, MS_BIND, NULL), 0);
    assert_int_equal(stage_remove(&cache, &items.list[0], &err), -1);
    assert_int_equal(err.kind, ERR_LIMIT);
    assert_true(is_there(&cache, name));
    assert_int_equal(umount(point), 0);
    err = (struct err)ERR_INIT;
    assert_works(stage_remove(&cache, &items.list[0], &err), err);
    assert_false(is_there(&cache, name));
}

/* The part of the copy that wants room is in the cache already: it counts once. */
static void test_own_part(void **state)
{
    const struct stage_cache cache = cache_of(state);
    const struct stage_limits limits = {.max = 10 * MIB};
    const struct stage_progress progress = {.bytes = MIB, .total = 8 * MIB};
    char key[STAGE_KEY], name[STAGE_NAME];
    struct err err = ERR_INIT;
    size_t evicted;

    stage_key("/nfs/a", key);
    stage_name(key, NULL, name);
    const struct stage_need need = {.bytes = 8 * MIB, .name = name};
    _cleanup_fd_ int part = stage_cache_begin(&cache, key, &err);
    assert_true(part >= 0);
    stage_progress_write(part, &progress);
    assert_works(stage_make_room(&cache, &limits, &need, false, &evicted, &err), err);
    /* The room that another part takes counts. */
    stage_key("/nfs/b", key);
    stage_name(key, NULL, name);
    assert_int_equal(stage_make_room(&cache, &limits, &need, false, &evicted, &err), -1);
    assert_int_equal(err.kind, ERR_LIMIT);
}

static void test_least_recently_used(void **state)
{
    const struct stage_cache cache = cache_of(state);
    const struct stage_limits limits = {.max = 10 * MIB};
    const struct stage_need need = {.bytes = 4 * MIB, .account = 3, .name = ""};
    char old[STAGE_NAME], held[STAGE_NAME], young[STAGE_NAME];
    struct err err = ERR_INIT;
    size_t evicted;

    make_entry(&cache, "/nfs/held", 1, 4 * MIB, 100, held);
    make_entry(&cache, "/nfs/old", 1, 4 * MIB, 200, old);
    make_entry(&cache, "/nfs/young", 2, 2 * MIB, 300, young);
    _cleanup_fd_ int fd = openat(cache.fd, held, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    assert_int_equal(flock(fd, LOCK_SH), 0);
    /* Only counted: nothing goes. */
    assert_works(stage_make_room(&cache, &limits, &need, true, &evicted, &err), err);
    assert_int_equal(evicted, 1);
    assert_true(is_there(&cache, old) && is_there(&cache, held));
    /* A copy that a launch holds is left out, and the next one goes instead. */
    assert_works(stage_make_room(&cache, &limits, &need, false, &evicted, &err), err);
    assert_int_equal(evicted, 1);
    assert_true(is_there(&cache, held) && is_there(&cache, young));
    assert_false(is_there(&cache, old));
}

/* An interrupted copy goes when its room is wanted. */
static void test_interrupted(void **state)
{
    const struct stage_cache cache = cache_of(state);
    const struct stage_limits limits = {.free = {.percent = 100}};
    const struct stage_need need = {.bytes = MIB, .name = ""};
    char key[STAGE_KEY];
    struct err err = ERR_INIT;
    size_t evicted;

    stage_key("/nfs/a", key);
    int part = stage_cache_begin(&cache, key, &err);
    assert_true(part >= 0);
    assert_int_equal(stage_make_room(&cache, &limits, &need, false, &evicted, &err), -1);
    char name[STAGE_NAME + 8];
    snprintf(name, sizeof(name), ".part-%s", key);
    assert_true(is_there(&cache, name));
    close(part);
    assert_int_equal(stage_make_room(&cache, &limits, &need, false, &evicted, &err), -1);
    assert_false(is_there(&cache, name));
}

UNIT_SUITE(test_stage_room)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_mounted_since_the_look, tempdir_make, tempdir_remove),
        cmocka_unit_test_setup_teardown(test_own_part, tempdir_make, tempdir_remove),
        cmocka_unit_test_setup_teardown(test_least_recently_used, tempdir_make, tempdir_remove),
        cmocka_unit_test_setup_teardown(test_interrupted, tempdir_make, tempdir_remove),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
