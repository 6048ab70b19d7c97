/* Packages of Python, conda and Node.js; and apk, which is as short. */
#include "owners_unit.h"

#define SITE "usr/lib/python3.11/site-packages/"

static void test_pip(void **state)
{
    _cleanup_owner_image_ struct owner_image image = {0};
    _cleanup_owners_ struct owners owners = {0};

    (void)state;
    owner_image_file(&image, SITE "Flash_Attn-2.5.8+cu121.dist-info/RECORD",
                     "../../../bin/flash,sha256=x,248\r\nflash_attn/__init__.py,,\r\n"
                     "\"flash_attn/a,\"\"b\"\".py\",sha256=x,1\r\n/opt/absolute,,\r\n"
                     "Flash_Attn-2.5.8+cu121.dist-info/RECORD,,\r\n\"unterminated\r\n,,\r\n\r\n");
    owner_image_files(&image, "usr/bin/flash", SITE "flash_attn/__init__.py",
                      SITE "flash_attn/a,\"b\".py", SITE "flash_attn/other.py", "opt/absolute");
    find_owners(&image, &owners);
    assert_owner(&image, &owners, "usr/bin/flash", "pip flash-attn 2.5.8+cu121");
    assert_owner(&image, &owners, SITE "flash_attn/__init__.py", "pip flash-attn 2.5.8+cu121");
    assert_owner(&image, &owners, SITE "flash_attn/a,\"b\".py", "pip flash-attn 2.5.8+cu121");
    assert_owner(&image, &owners, SITE "flash_attn/other.py", "-");
    assert_owner(&image, &owners, "opt/absolute", "pip flash-attn 2.5.8+cu121");
    assert_owner(&image, &owners, SITE "Flash_Attn-2.5.8+cu121.dist-info/RECORD",
                 "pip flash-attn 2.5.8+cu121");
    assert_int_equal(owners.list[2].tier, TIER_FRAMEWORK);
}

static void test_egg_info(void **state)
{
    _cleanup_owner_image_ struct owner_image image = {0};
    _cleanup_owners_ struct owners owners = {0};

    (void)state;
    owner_image_file(&image, SITE "mpi4py-3.1-py3.11.egg-info/installed-files.txt",
                     "../mpi4py/a.so\nPKG-INFO\n");
    owner_image_files(&image, SITE "mpi4py/a.so", SITE "mpi4py-3.1-py3.11.egg-info/PKG-INFO");
    find_owners(&image, &owners);
    assert_owner(&image, &owners, SITE "mpi4py/a.so", "pip mpi4py 3.1");
    assert_owner(&image, &owners, SITE "mpi4py-3.1-py3.11.egg-info/PKG-INFO", "pip mpi4py 3.1");
}

/* Compiled files follow their sources, whoever owns these. */
static void test_compiled(void **state)
{
    _cleanup_owner_image_ struct owner_image image = {0};
    _cleanup_owners_ struct owners owners = {0};

    (void)state;
    owner_image_file(&image, SITE "six-1.16.dist-info/RECORD", "six.py,,\na.b.py,,\nold.py,,\n");
    owner_image_file(&image, "var/lib/dpkg/info/python3-apt.list", "/" SITE "apt/m.py\n");
    owner_image_files(&image, SITE "six.py", SITE "a.b.py", SITE "old.py", SITE "old.pyc",
                      SITE "mine.py", SITE "apt/m.py", SITE "__pycache__/six.cpython-311.pyc",
                      SITE "__pycache__/six.cpython-311.opt-1.pyc",
                      SITE "__pycache__/a.b.cpython-311.pyc",
                      SITE "__pycache__/mine.cpython-311.pyc",
                      SITE "__pycache__/gone.cpython-311.pyc", SITE "__pycache__/.pyc",
                      SITE "__pycache__/six.pyc", SITE "apt/__pycache__/m.cpython-311.pyc");
    find_owners(&image, &owners);
    assert_owner(&image, &owners, SITE "old.pyc", "pip six 1.16");
    assert_owner(&image, &owners, SITE "__pycache__/six.cpython-311.pyc", "pip six 1.16");
    assert_owner(&image, &owners, SITE "__pycache__/six.cpython-311.opt-1.pyc", "pip six 1.16");
    assert_owner(&image, &owners, SITE "__pycache__/a.b.cpython-311.pyc", "pip six 1.16");
    assert_owner(&image, &owners, SITE "__pycache__/mine.cpython-311.pyc", "-");
    assert_owner(&image, &owners, SITE "__pycache__/gone.cpython-311.pyc", "-");
    assert_owner(&image, &owners, SITE "__pycache__/six.pyc", "-");
    assert_owner(&image, &owners, SITE "apt/__pycache__/m.cpython-311.pyc", "dpkg python3-apt");
}

static void test_conda(void **state)
{
    _cleanup_owner_image_ struct owner_image image = {0};
    _cleanup_owners_ struct owners owners = {0};

    (void)state;
    owner_image_file(
        &image, "opt/conda/conda-meta/blas-devel-3.9.0-20_mkl.json",
        "{\"arch\": \"x\", \"files\": [\"lib/libblas.so\", \"lib/\\u00e9\\ud83d\\ude00\","
        " {\"files\": [\"lib/deep\"]}, \"a\\\\b\\n\"], \"link\": {\"files\": \"lib/no\"},"
        " \"notes\": [\"lib/no\"]}");
    owner_image_file(&image, "opt/conda/conda-meta/history", "==> cmd\n");
    owner_image_file(&image, "opt/conda/conda-meta/odd.json", "{\"files\": [\"lib/odd\"");
    owner_image_files(&image, "opt/conda/lib/libblas.so", "opt/conda/lib/\xc3\xa9\xf0\x9f\x98\x80",
                      "opt/conda/lib/deep", "opt/conda/lib/no", "opt/conda/a\\b\n",
                      "opt/conda/lib/odd");
    find_owners(&image, &owners);
    assert_owner(&image, &owners, "opt/conda/lib/libblas.so", "conda blas-devel 3.9.0");
    assert_owner(&image, &owners, "opt/conda/lib/\xc3\xa9\xf0\x9f\x98\x80",
                 "conda blas-devel 3.9.0");
    assert_owner(&image, &owners, "opt/conda/a\\b\n", "conda blas-devel 3.9.0");
    assert_owner(&image, &owners, "opt/conda/lib/deep", "-");
    assert_owner(&image, &owners, "opt/conda/lib/no", "-");
    assert_owner(&image, &owners, "opt/conda/lib/odd", "conda odd");
    assert_owner(&image, &owners, "opt/conda/conda-meta/blas-devel-3.9.0-20_mkl.json",
                 "conda blas-devel 3.9.0");
    assert_owner(&image, &owners, "opt/conda/conda-meta/history", "- state");
}

static void test_npm(void **state)
{
    _cleanup_owner_image_ struct owner_image image = {0};
    _cleanup_owners_ struct owners owners = {0};

    (void)state;
    owner_image_file(
        &image, "app/node_modules/left-pad/package.json",
        "{\"name\": \"left-pad\", \"engines\": {\"version\": \"9\"}, \"version\": \"1.3.0\"}");
    owner_image_file(&image, "app/node_modules/@babel/core/package.json",
                     "{\"version\":\"7.2.0\"}");
    owner_image_file(&image, "app/node_modules/@babel/core/node_modules/semver/package.json",
                     "{\"version\":\"5.7.0\"}");
    owner_image_file(&image, "app/node_modules/semver/package.json", "{\"version\":\"7.5.0\"}");
    owner_image_files(&image, "app/node_modules/left-pad/lib/index.js", "app/node_modules/.bin/x",
                      "app/node_modules/@babel/core/lib/a.js", "app/node_modules/plain/a.js",
                      "app/node_modules/@babel/core/node_modules/semver/b.js", "app/index.js",
                      "app/node_modules/.package-lock.json");
    find_owners(&image, &owners);
    assert_owner(&image, &owners, "app/node_modules/left-pad/lib/index.js", "npm left-pad 1.3.0");
    assert_owner(&image, &owners, "app/node_modules/@babel/core/lib/a.js", "npm @babel/core 7.2.0");
    assert_owner(&image, &owners, "app/node_modules/@babel/core/node_modules/semver/b.js",
                 "npm semver"); /* two versions */
    assert_owner(&image, &owners, "app/node_modules/plain/a.js", "-");
    assert_owner(&image, &owners, "app/node_modules/.bin/x", "-");
    assert_owner(&image, &owners, "app/index.js", "-");
    assert_owner(&image, &owners, "app/node_modules/.package-lock.json", "- state");
    assert_owner(&image, &owners, "app/node_modules/@babel/core", "-");
}

static void test_apk(void **state)
{
    _cleanup_owner_image_ struct owner_image image = {0};
    _cleanup_owners_ struct owners owners = {0};

    (void)state;
    owner_image_file(
        &image, "lib/apk/db/installed",
        "C:Q1\nP:alpine-baselayout\nV:3.4\nF:etc\nR:passwd\na:0:0:644\nR:motd\nF:\n"
        "R:top\nF:none\nR:a\n\nR:stray\n\nP:musl\nV:1.2\nF:lib\nR:ld-musl.so\nR:../top\n");
    owner_image_files(&image, "etc/passwd", "etc/motd", "top", "stray", "lib/ld-musl.so", "a");
    find_owners(&image, &owners);
    assert_owner(&image, &owners, "etc/passwd", "- state");
    assert_owner(&image, &owners, "etc/motd", "apk alpine-baselayout 3.4");
    assert_owner(&image, &owners, "top", "apk alpine-baselayout 3.4");
    assert_owner(&image, &owners, "stray", "-");
    assert_owner(&image, &owners, "a", "-");
    assert_owner(&image, &owners, "lib/ld-musl.so", "apk musl 1.2");
    assert_owner(&image, &owners, "lib/apk/db/installed", "- state");
}

UNIT_SUITE(test_languages)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pip),   cmocka_unit_test(test_egg_info),
        cmocka_unit_test(test_conda), cmocka_unit_test(test_compiled),
        cmocka_unit_test(test_npm),   cmocka_unit_test(test_apk),
    };

    return cmocka_run_group_tests_name("languages", tests, NULL, NULL);
}
