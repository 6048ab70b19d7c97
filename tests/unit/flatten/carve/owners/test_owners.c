#include "owners_unit.h"

/* The kind that comes last in enum owner_kind has a path that several claim. */
static void test_precedence(void **state)
{
    _cleanup_owner_image_ struct owner_image image = {0};
    _cleanup_owners_ struct owners owners = {0};

    (void)state;
    owner_image_file(&image, "conda-meta/c-1-0.json", "{\"files\": [\"lib/c\"]}");
    owner_image_file(&image, "lib/p-1.dist-info/RECORD", "c,,\np,,\nnode_modules/n/p,,\n");
    owner_image_file(&image, "var/lib/dpkg/info/d.list",
                     "/lib/c\n/lib/p\n/lib/d\n/lib/node_modules/n/n\n/lib/node_modules/n/p\n");
    owner_image_file(&image, "var/lib/dpkg/info/a.list", "/lib/c\n/lib/d\n");
    owner_image_file(&image, "lib/apk/db/installed", "P:apk\nF:lib\nR:c\nR:p\nR:d\nR:k\n");
    owner_image_files(&image, "lib/c", "lib/p", "lib/d", "lib/k", "lib/node_modules/n/n",
                      "lib/node_modules/n/p", "lib/node_modules/n/package.json");
    find_owners(&image, &owners);
    assert_owner(&image, &owners, "lib/c", "conda c 1");
    assert_owner(&image, &owners, "lib/p", "pip p 1");
    assert_owner(&image, &owners, "lib/d", "dpkg a");
    assert_owner(&image, &owners, "lib/k", "apk apk");
    assert_owner(&image, &owners, "lib/node_modules/n/n", "npm n");
    assert_owner(&image, &owners, "lib/node_modules/n/p", "pip p 1");
}

/* Lists that a package of the distribution brings are no installations by pip, conda or npm. */
static void test_shipped_lists(void **state)
{
    _cleanup_owner_image_ struct owner_image image = {0};
    _cleanup_owners_ struct owners owners = {0};

    (void)state;
    owner_image_file(&image, "usr/lib/pip-1.dist-info/RECORD", "pip.py,,\nextra.py,,\n");
    owner_image_file(&image, "usr/lib/conda-meta/c-1-1.json", "{\"files\": [\"c\"]}");
    owner_image_file(&image, "usr/lib/node_modules/npm/package.json", "{}");
    owner_image_file(&image, "var/lib/dpkg/info/vendor.list",
                     "/usr/lib/pip-1.dist-info/RECORD\n/usr/lib/pip.py\n/usr/lib/c\n"
                     "/usr/lib/conda-meta/c-1-1.json\n/usr/lib/node_modules/npm/package.json\n"
                     "/usr/lib/node_modules/npm/a.js\n");
    owner_image_files(&image, "usr/lib/pip.py", "usr/lib/extra.py", "usr/lib/c",
                      "usr/lib/node_modules/npm/a.js", "usr/lib/node_modules/npm/b.js");
    find_owners(&image, &owners);
    assert_owner(&image, &owners, "usr/lib/pip.py", "dpkg vendor");
    assert_owner(&image, &owners, "usr/lib/c", "dpkg vendor");
    assert_owner(&image, &owners, "usr/lib/node_modules/npm/a.js", "dpkg vendor");
    assert_owner(&image, &owners, "usr/lib/extra.py", "-");
    assert_owner(&image, &owners, "usr/lib/node_modules/npm/b.js", "-");
    assert_int_equal(owners.count, 3);
}

static const char *const shuffled[][2] = {
    {"var/lib/dpkg/info/b.list", "/usr/x\n/usr/y\n"},
    {"var/lib/dpkg/info/a.list", "/usr/y\n/usr/z\n"},
    {"var/lib/dpkg/status", "Package: b\nVersion: 2\n\nPackage: a\nVersion: 1\n"},
    {"usr/q-1.dist-info/RECORD", "z,,\n"},
    {"usr/Q-2.dist-info/RECORD", "m.py,,\n"},
    {"usr/x", ""},
    {"usr/y", ""},
    {"usr/z", ""},
    {"usr/__pycache__/m.cpython-39.pyc", ""},
    {"usr/m.py", ""},
    {"etc/mine", ""},
};
enum { SHUFFLED = sizeof(shuffled) / sizeof(*shuffled) };

/* Nodes in another order have the same owners, under the same numbers. */
static void test_order(void **state)
{
    struct owner_image images[2] = {0};
    struct owners owners[2];

    (void)state;
    for (size_t i = 0; i < SHUFFLED; i++) {
        owner_image_file(&images[0], shuffled[i][0], shuffled[i][1]);
        owner_image_file(&images[1], shuffled[SHUFFLED - 1 - i][0], shuffled[SHUFFLED - 1 - i][1]);
    }
    for (size_t i = 0; i < 2; i++)
        find_owners(&images[i], &owners[i]);
    assert_int_equal(owners[0].count, owners[1].count);
    for (size_t i = 0; i < SHUFFLED; i++) {
        uint32_t a = owner_image_node(&images[0], shuffled[i][0]);
        uint32_t b = owner_image_node(&images[1], shuffled[i][0]);
        assert_int_equal(owners[0].by_node[a], owners[1].by_node[b]);
    }
    assert_owner(&images[1], &owners[1], "usr/y", "dpkg a 1");
    assert_owner(&images[1], &owners[1], "usr/z", "pip q"); /* two versions */
    assert_owner(&images[1], &owners[1], "usr/__pycache__/m.cpython-39.pyc", "pip q");
    for (size_t i = 0; i < 2; i++) {
        owners_clear(&owners[i]);
        owner_image_clear(&images[i]);
    }
}

static void test_state(void **state)
{
    _cleanup_owner_image_ struct owner_image image = {0};
    _cleanup_owners_ struct owners owners = {0};

    (void)state;
    owner_image_file(&image, "var/lib/dpkg/info/d.list",
                     "/etc/d.conf\n/etc/passwd\n/var/lib/dpkg/cmethopt\n/var/cache/d/x\n");
    owner_image_symlink(&image, "var/lib/rpm", "../../usr/lib/sysimage/rpm");
    owner_image_files(&image, "etc/d.conf", "etc/passwd", "etc/mine.conf", "etc/sub/mine",
                      "var/lib/dpkg/cmethopt", "var/cache/d/x", "var/cache/d/y", "tmp/x",
                      "root/.bashrc", "root/work", "root/.cache/hub/model", ".dockerenv",
                      "usr/lib/sysimage/rpm/rpmdb.sqlite-shm", "opt/app/etc/passwd");
    owner_image_large(&image, "var/cache/hub/weights", "w", 9 << 20);
    owner_image_large(&image, "var/lib/apt/lists/large", "w", 9 << 20);
    find_owners(&image, &owners);
    assert_owner(&image, &owners, "etc/d.conf", "dpkg d");
    assert_owner(&image, &owners, "etc/passwd", "- state");
    assert_owner(&image, &owners, "etc/mine.conf", "- state");
    assert_owner(&image, &owners, "etc/sub/mine", "- state");
    assert_owner(&image, &owners, "var/lib/dpkg/cmethopt", "- state");
    assert_owner(&image, &owners, "var/cache/d/x", "dpkg d");
    assert_owner(&image, &owners, "var/cache/d/y", "- state");
    assert_owner(&image, &owners, "tmp/x", "- state");
    assert_owner(&image, &owners, "root/.bashrc", "- state");
    assert_owner(&image, &owners, "root/work", "-");
    assert_owner(&image, &owners, "root/.cache/hub/model", "-");
    assert_owner(&image, &owners, ".dockerenv", "- state");
    assert_owner(&image, &owners, "usr/lib/sysimage/rpm/rpmdb.sqlite-shm", "- state");
    assert_owner(&image, &owners, "opt/app/etc/passwd", "-");
    assert_owner(&image, &owners, "var/cache/hub/weights", "-");
    assert_owner(&image, &owners, "var/lib/apt/lists/large", "- state");
    assert_int_equal(owners.by_node[owner_image_node(&image, "etc")], OWNERS_NOBODY);
}

static void test_nothing(void **state)
{
    _cleanup_owner_image_ struct owner_image image = {0};
    _cleanup_owners_ struct owners owners = {0};

    (void)state;
    owner_image_add(&image, "", 0, (struct owner_file){0});
    find_owners(&image, &owners);
    assert_int_equal(owners.count, 2);
    assert_string_equal(owners.list[OWNERS_STATE].name, "state");
    assert_int_equal(owners.list[OWNERS_STATE].tier, TIER_STATE);
    assert_string_equal(owners.list[OWNERS_NOBODY].name, "");
    assert_int_equal(owners.list[OWNERS_NOBODY].tier, TIER_APPLICATION);
}

static int read_nothing(void *ctx, uint32_t node, uint64_t offset, void *data, size_t len,
                        struct err *err)
{
    (void)ctx;
    (void)node;
    (void)offset;
    (void)data;
    (void)len;
    return err_set(err, ERR_FORMAT, "broken");
}

static void test_reading_fails(void **state)
{
    static const char *const paths[] = {"var/lib/dpkg/info/a.list", "var/lib/dpkg/status.d/a",
                                        "var/lib/dpkg/status",      "var/lib/dpkg/diversions",
                                        "lib/apk/db/installed",     "a-1.dist-info/RECORD",
                                        "conda-meta/a-1-1.json",    "node_modules/a/package.json"};

    (void)state;
    for (size_t i = 0; i < sizeof(paths) / sizeof(*paths); i++) {
        _cleanup_owner_image_ struct owner_image image = {0};
        _cleanup_owners_ struct owners owners = {0};
        struct err err = ERR_INIT;

        owner_image_file(&image, paths[i], "x\n");
        struct owner_source source = owner_image_source(&image);
        source.read = read_nothing;
        assert_fails(owners_find(&source, &owners, &err), err, ERR_FORMAT);
    }
}

UNIT_SUITE(test_owners)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_precedence), cmocka_unit_test(test_shipped_lists),
        cmocka_unit_test(test_order),      cmocka_unit_test(test_state),
        cmocka_unit_test(test_nothing),    cmocka_unit_test(test_reading_fails),
    };

    return cmocka_run_group_tests_name("owners", tests, NULL, NULL);
}
