#include "owners_unit.h"

static void test_lists(void **state)
{
    _cleanup_owner_image_ struct owner_image image = {0};
    _cleanup_owners_ struct owners owners = {0};

    (void)state;
    owner_image_file(&image, "var/lib/dpkg/info/tar.list", "/.\n/usr\n/usr/bin\n/usr/bin/tar\n");
    owner_image_file(&image, "var/lib/dpkg/info/zlib1g:amd64.list", "/usr/lib/libz.so.1");
    owner_image_file(&image, "var/lib/dpkg/info/zlib1g:i386.list", "/usr/lib32/libz.so.1\n");
    owner_image_file(&image, "var/lib/dpkg/status",
                     "Package: tar\nStatus: install ok installed\nVersion: 1.34+dfsg-1.2\n"
                     "Description: archiver\n Version: 9\n\n"
                     "Package: gone\nVersion: 3\n\nPackage: zlib1g\nVersion: 1:1.2.13\n\n"
                     "Package: zlib1g\nVersion: 1:1.2.13\n");
    owner_image_files(&image, "usr/bin/tar", "usr/bin/mine", "usr/lib/libz.so.1",
                      "usr/lib32/libz.so.1");
    find_owners(&image, &owners);
    assert_owner(&image, &owners, "usr/bin/tar", "dpkg tar 1.34+dfsg-1.2");
    assert_owner(&image, &owners, "usr/bin/mine", "-");
    assert_owner(&image, &owners, "usr/bin", "-");
    assert_owner(&image, &owners, "usr/lib/libz.so.1", "dpkg zlib1g 1:1.2.13");
    assert_owner(&image, &owners, "usr/lib32/libz.so.1", "dpkg zlib1g 1:1.2.13");
    assert_owner(&image, &owners, "var/lib/dpkg/status", "- state");
    assert_int_equal(owners.count, 4);
    assert_int_equal(owners.cut, 0);
}

static void test_merged_usr(void **state)
{
    _cleanup_owner_image_ struct owner_image image = {0};
    _cleanup_owners_ struct owners owners = {0};

    (void)state;
    owner_image_symlink(&image, "lib", "usr/lib");
    owner_image_symlink(&image, "bin", "/usr/bin");
    owner_image_file(&image, "var/lib/dpkg/info/libc6:amd64.list",
                     "/lib\n/lib/x86_64-linux-gnu/libc.so.6\n/bin/../lib/ld.so\n/bin/./ldd\n");
    owner_image_files(&image, "usr/lib/x86_64-linux-gnu/libc.so.6", "usr/lib/ld.so", "usr/bin/ldd");
    find_owners(&image, &owners);
    assert_owner(&image, &owners, "usr/lib/x86_64-linux-gnu/libc.so.6", "dpkg libc6");
    assert_owner(&image, &owners, "usr/lib/ld.so", "dpkg libc6");
    assert_owner(&image, &owners, "usr/bin/ldd", "dpkg libc6");
    assert_owner(&image, &owners, "lib", "dpkg libc6");
    assert_owner(&image, &owners, "bin", "-");
}

/* The target of the first link has links itself. */
static void test_links_on_the_way_of_a_link(void **state)
{
    _cleanup_owner_image_ struct owner_image image = {0};
    _cleanup_owners_ struct owners owners = {0};

    (void)state;
    owner_image_symlink(&image, "lib64", "lib/x64/../x64");
    owner_image_symlink(&image, "lib", "usr/lib");
    owner_image_symlink(&image, "usr/lib/x64", "../share/./libraries/of/this/machine");
    owner_image_file(&image, "var/lib/dpkg/info/a.list", "/lib64/f\n/lib/x64/g\n");
    owner_image_files(&image, "usr/share/libraries/of/this/machine/f",
                      "usr/share/libraries/of/this/x64/f", "usr/share/libraries/of/this/machine/g");
    find_owners(&image, &owners);
    assert_owner(&image, &owners, "usr/share/libraries/of/this/x64/f", "dpkg a");
    assert_owner(&image, &owners, "usr/share/libraries/of/this/machine/g", "dpkg a");
    assert_owner(&image, &owners, "usr/share/libraries/of/this/machine/f", "-");
}

/* Both packages list the path; the diverter's own file is at it. */
static void test_diversions(void **state)
{
    _cleanup_owner_image_ struct owner_image image = {0};
    _cleanup_owners_ struct owners owners = {0};

    (void)state;
    owner_image_file(&image, "var/lib/dpkg/diversions",
                     "/usr/bin/sh\n/usr/bin/sh.distrib\ndash\n"
                     "/usr/bin/who\n/usr/bin/who.real\n:\n/usr/bin/cut\n");
    owner_image_file(&image, "var/lib/dpkg/info/dash.list", "/usr/bin/sh\n");
    owner_image_file(&image, "var/lib/dpkg/info/bash.list", "/usr/bin/sh\n");
    owner_image_file(&image, "var/lib/dpkg/info/coreutils.list", "/usr/bin/who\n/usr/bin/cut\n");
    owner_image_files(&image, "usr/bin/sh", "usr/bin/sh.distrib", "usr/bin/who", "usr/bin/who.real",
                      "usr/bin/cut");
    find_owners(&image, &owners);
    assert_owner(&image, &owners, "usr/bin/sh", "dpkg dash");
    assert_owner(&image, &owners, "usr/bin/sh.distrib", "dpkg bash");
    assert_owner(&image, &owners, "usr/bin/who", "-");
    assert_owner(&image, &owners, "usr/bin/who.real", "dpkg coreutils");
    assert_owner(&image, &owners, "usr/bin/cut", "dpkg coreutils");
}

static void test_status_d(void **state)
{
    _cleanup_owner_image_ struct owner_image image = {0};
    _cleanup_owners_ struct owners owners = {0};

    (void)state;
    owner_image_file(&image, "var/lib/dpkg/status.d/bGliYzY=",
                     "Package: libc6\nVersion: 2.36-9\nInstalled-Size: 12\n");
    owner_image_file(&image, "var/lib/dpkg/status.d/bGliYzY=.md5sums",
                     "0e6f0e9ef9e0c3b1f0d7a3d7c0a0b1e0  lib/libc.so.6\n"
                     "0e6f0e9ef9e0c3b1f0d7a3d7c0a0b1e0  ./usr/share/doc/a b\nnothing\n");
    owner_image_file(&image, "var/lib/dpkg/status.d/tzdata", "Package: tzdata\nVersion: 2024a\n");
    owner_image_files(&image, "lib/libc.so.6", "usr/share/doc/a b");
    owner_image_symlink(&image, "lib/libc.so", "libc.so.6");
    find_owners(&image, &owners);
    assert_owner(&image, &owners, "lib/libc.so.6", "dpkg libc6 2.36-9");
    assert_owner(&image, &owners, "usr/share/doc/a b", "dpkg libc6 2.36-9");
    assert_owner(&image, &owners, "lib/libc.so", "dpkg libc6 2.36-9");
    assert_owner(&image, &owners, "var/lib/dpkg/status.d/tzdata", "- state");
    assert_int_equal(owners.count, 4); /* tzdata has no file */
}

static void test_alternatives(void **state)
{
    _cleanup_owner_image_ struct owner_image image = {0};
    _cleanup_owners_ struct owners owners = {0};

    (void)state;
    owner_image_file(&image, "var/lib/dpkg/info/mawk.list", "/usr/bin/mawk\n");
    owner_image_file(&image, "var/lib/dpkg/info/vim.list", "/usr/bin/vim.basic\n");
    owner_image_files(&image, "usr/bin/mawk", "usr/bin/vim.basic", "opt/tool");
    owner_image_symlink(&image, "usr/bin/awk", "/etc/alternatives/awk");
    owner_image_symlink(&image, "etc/alternatives/awk", "/usr/bin/mawk");
    owner_image_symlink(&image, "usr/bin/vi", "/etc/alternatives/vi");
    owner_image_symlink(&image, "etc/alternatives/vi", "../../usr/bin/vim.basic");
    owner_image_symlink(&image, "usr/bin/dangling", "/etc/alternatives/none");
    owner_image_symlink(&image, "usr/bin/tool", "/opt/tool");
    owner_image_symlink(&image, "usr/bin/other", "/usr/bin/mawk");
    owner_image_symlink(&image, "venv/bin/mawk2", "mawk");
    owner_image_symlink(&image, "venv/bin/mawk", "/usr/bin/mawk");
    owner_image_symlink(&image, "usr/bin/nawk", "mawk3");
    owner_image_symlink(&image, "usr/bin/mawk3", "mawk");
    find_owners(&image, &owners);
    assert_owner(&image, &owners, "venv/bin/mawk2", "-");
    assert_owner(&image, &owners, "usr/bin/nawk", "dpkg mawk");
    assert_owner(&image, &owners, "usr/bin/awk", "dpkg mawk");
    assert_owner(&image, &owners, "etc/alternatives/awk", "dpkg mawk");
    assert_owner(&image, &owners, "usr/bin/vi", "dpkg vim");
    assert_owner(&image, &owners, "etc/alternatives/vi", "dpkg vim");
    assert_owner(&image, &owners, "usr/bin/dangling", "-");
    assert_owner(&image, &owners, "usr/bin/tool", "-");
    assert_owner(&image, &owners, "usr/bin/other", "-"); /* made by somebody else */
}

UNIT_SUITE(test_dpkg)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lists),
        cmocka_unit_test(test_merged_usr),
        cmocka_unit_test(test_links_on_the_way_of_a_link),
        cmocka_unit_test(test_diversions),
        cmocka_unit_test(test_status_d),
        cmocka_unit_test(test_alternatives),
    };

    return cmocka_run_group_tests_name("dpkg", tests, NULL, NULL);
}
