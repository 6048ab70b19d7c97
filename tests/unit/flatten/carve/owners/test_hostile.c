/* Databases that lie, or that are too large: other owners, but no error, and bounded work. */
#include "owners_unit.h"

#include <time.h>

static double seconds(void)
{
    struct timespec now;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static void test_paths(void **state)
{
    _cleanup_owner_image_ struct owner_image image = {0};
    _cleanup_owners_ struct owners owners = {0};
    static const char list[] =
        "/../../usr/up\n/usr\n\n/\n..\n/usr/down/../a\n/usr/loop/x\n"
        "/usr/none/../b\nusr//c/\n/usr/self\n/usr/a/b\n/usr/long\n/usr/twice\n"
        "/usr/twice\n/dev/null";

    (void)state;
    owner_image_file(&image, "var/lib/dpkg/info/a.list", list);
    owner_image_file(&image, "var/lib/dpkg/info/.list", "/usr/b\n");
    owner_image_file(&image, "var/lib/dpkg/info/:amd64.list", "/usr/b\n");
    owner_image_symlink(&image, "usr/loop", "loop2");
    owner_image_symlink(&image, "usr/loop2", "loop");
    owner_image_symlink(&image, "usr/self", ".");
    owner_image_files(&image, "usr/up", "usr/a", "usr/b", "usr/c", "usr/down/x", "usr/twice");
    find_owners(&image, &owners);
    assert_owner(&image, &owners, "usr/up", "dpkg a");
    assert_owner(&image, &owners, "usr/a", "dpkg a");
    assert_owner(&image, &owners, "usr/b", "-");
    assert_owner(&image, &owners, "usr/c", "dpkg a");
    assert_owner(&image, &owners, "usr/self", "dpkg a");
    assert_owner(&image, &owners, "usr/loop", "-");
    assert_owner(&image, &owners, "usr/twice", "dpkg a");
    assert_int_equal(owners.count, 3);
}

static void test_nul(void **state)
{
    _cleanup_owner_image_ struct owner_image image = {0};
    _cleanup_owners_ struct owners owners = {0};
    static const char list[] = "/usr/a\0b\n\0\n/usr/b\n", apk[] = "P:a\0b\nF:usr\nR:a\n";

    (void)state;
    owner_image_file(&image, "usr/a", "");
    owner_image_file(&image, "usr/b", "");
    owner_image_add(&image, "var/lib/dpkg/info/n.list", 24,
                    (struct owner_file){list, sizeof(list) - 1, sizeof(list) - 1, FILE_REGULAR});
    owner_image_add(&image, "lib/apk/db/installed", 20,
                    (struct owner_file){apk, sizeof(apk) - 1, sizeof(apk) - 1, FILE_REGULAR});
    find_owners(&image, &owners);
    assert_owner(&image, &owners, "usr/a", "-");
    assert_owner(&image, &owners, "usr/b", "dpkg n");
    assert_int_equal(owners.count, 3);
}

/* A line of 100 MB is left out; what follows it counts, if it is within 64 MiB. */
static void test_long_line(void **state)
{
    _cleanup_owner_image_ struct owner_image image = {0};
    _cleanup_owners_ struct owners owners = {0};
    enum { LONG = 200000 };
    _cleanup_free_ char *list = malloc(LONG + 32);

    (void)state;
    assert_non_null(list);
    memset(list, 'x', LONG);
    strcpy(list + LONG, "\n/usr/b\n");
    owner_image_file(&image, "var/lib/dpkg/info/n.list", list);
    owner_image_large(&image, "var/lib/dpkg/info/l.list", "/usr/a", 100 << 20);
    owner_image_files(&image, "usr/a", "usr/b");
    find_owners(&image, &owners);
    assert_owner(&image, &owners, "usr/a", "-");
    assert_owner(&image, &owners, "usr/b", "dpkg n");
    assert_int_equal(owners.cut, 1);
}

/* All databases together are bounded, however often one file has a name. */
static void test_all_bytes(void **state)
{
    static const char record[] = "a,sha256=K1Pj1Jd0GdNDcDNd1mJ2sUdw9nV5oHxNnSkxRS4sDjc,12345\r\n";
    _cleanup_owner_image_ struct owner_image image = {0};
    _cleanup_owners_ struct owners owners = {0};

    (void)state;
    owner_image_file(&image, "usr/a", "");
    owner_image_large(&image, "usr/p-1.dist-info/RECORD", record, 2LL << 30);
    owner_image_large(&image, "usr/q-1.dist-info/RECORD", record, 2LL << 30);
    owner_image_large(&image, "var/lib/dpkg/status", "Package: a\n", 60 << 20);
    double before = seconds();
    find_owners(&image, &owners);
    assert_true(seconds() - before < 60); /* 0.2 s without sanitizers */
    assert_int_equal(owners.cut, 2);      /* status is read first, whole */
    assert_in_range(image.bytes_read, 64 << 20, (64 << 20) + 512 * 64);
}

/* Each line asks for a walk through links, which is paid for like bytes that are read. */
static void test_link_walks(void **state)
{
    _cleanup_owner_image_ struct owner_image image = {0};
    _cleanup_owners_ struct owners owners = {0};
    char target[3001];

    (void)state;
    for (size_t i = 0; i < 3000; i += 2)
        memcpy(target + i, "./", 2);
    target[3000] = '\0';
    owner_image_symlink(&image, "l", target);
    owner_image_file(&image, "a", "");
    owner_image_large(&image, "var/lib/dpkg/info/x.list", "/l/a\n", 60 << 20);
    double before = seconds();
    find_owners(&image, &owners);
    assert_true(seconds() - before < 60);
    assert_owner(&image, &owners, "a", "dpkg x");
    assert_in_range(image.bytes_read, 1, 1 << 20);
}

/* More packages than there may be, and longer names: those that fit are kept. */
static void test_many_owners(void **state)
{
    _cleanup_owner_image_ struct owner_image image = {0};
    _cleanup_owners_ struct owners owners = {0};
    _cleanup_buf_ struct buf text = BUF_INIT;

    (void)state;
    for (int i = 0; i < OWNERS_MOST + 10; i++)
        buf_printf(&text, "P:package%d\nV:1\nF:usr\nR:a\n\n", i);
    buf_printf(&text, "P:%0300d\nF:usr\nR:b\n\n", 1);
    owner_image_file(&image, "lib/apk/db/installed", text.data);
    owner_image_files(&image, "usr/a", "usr/b");
    find_owners(&image, &owners);
    assert_owner(&image, &owners, "usr/a", "apk package0 1");
    assert_owner(&image, &owners, "usr/b", "-");
    assert_int_equal(owners.count, OWNERS_MOST);
    assert_int_equal(owners.cut, 12 + 1);
}

static void test_deep_json(void **state)
{
    _cleanup_owner_image_ struct owner_image image = {0};
    _cleanup_owners_ struct owners owners = {0};

    (void)state;
    owner_image_large(&image, "conda-meta/a-1-1.json", "[", 1 << 20);
    owner_image_large(&image, "conda-meta/b-1-1.json", "{\"files\":[\"a\"", 1 << 20);
    owner_image_large(&image, "conda-meta/c-1-1.json", "\"", 1 << 20);
    owner_image_large(&image, "conda-meta/d-1-1.json", "}]\\u", 1 << 20);
    owner_image_file(&image, "conda-meta/e-1-1.json",
                     "{\"files\":[\"\\ud800\\udc00x\",\"\\u12\",\"\\ud800\",\"\\udc00\",\"z\"]}");
    owner_image_files(&image, "a", "z", "u");
    find_owners(&image, &owners);
    assert_owner(&image, &owners, "a", "conda b 1");
    assert_owner(&image, &owners, "z", "conda e 1");
    assert_owner(&image, &owners, "u", "-");
}

UNIT_SUITE(test_hostile)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_paths),      cmocka_unit_test(test_nul),
        cmocka_unit_test(test_long_line),  cmocka_unit_test(test_all_bytes),
        cmocka_unit_test(test_link_walks), cmocka_unit_test(test_many_owners),
        cmocka_unit_test(test_deep_json),
    };

    return cmocka_run_group_tests_name("hostile", tests, NULL, NULL);
}
