/* The GPUs of a container, by its config.json and the driver's list of models. */
#include "tests/unit/lib/shim_unit.h"
#include "tests/unit/lib/tempdir.h"

#include "shim/admin/explain/gpus.h"

#include <sys/stat.h>

#define NODE(path, major, minor)                                                                   \
    "{\"path\":\"" path "\",\"type\":\"c\",\"major\":" #major ",\"minor\":" #minor "}"
#define CLOSED "{\"allow\":false,\"access\":\"rwm\"}"

/* Returns the GPUs of a config.json, separated by "; ". The caller frees it. */
static char *gpus_of(const char *config, const char *driver)
{
    _cleanup_arena_ struct arena arena = {0};
    _cleanup_json_ struct json_doc *doc = shim_document(config);
    struct buf text = BUF_INIT;
    struct err err = ERR_INIT;
    struct spec spec;
    struct gpus gpus;

    assert_works(spec_read(doc, &arena, &spec, &err), err);
    assert_works(gpus_find(&spec, driver, &arena, &gpus, &err), err);
    buf_puts(&text, "");
    for (size_t i = 0; i < gpus.count; i++)
        buf_printf(&text, "%s%s", i ? "; " : "", gpus.list[i]);
    return buf_take(&text, &err);
}

static void test_rows(void **state)
{
    static const struct {
        const char *config, *gpus;
    } rows[] = {
        {"{\"linux\":{\"resources\":{\"devices\":[" CLOSED "]}}}", ""},
        {"{}", "all devices of this host"},
        {"{\"linux\":{\"devices\":[" NODE("/dev/nvidia0", 195, 0) "," NODE(
             "/dev/nvidiactl", 195,
             255) "," NODE("/dev/nvidia-modeset", 195,
                           254) "," NODE("/dev/null", 1, 3) "],\"resources\":{\"devices\":[" CLOSED
                                                            "]}}}",
         "/dev/nvidia0"},
        {"{\"linux\":{\"resources\":{\"devices\":[" CLOSED
         ",{\"allow\":true,\"type\":\"c\",\"major\":195,\"access\":\"rw\"}]}}}",
         "all, by a device rule for 195:*"},
        {"{\"process\":{\"env\":[\"NVIDIA_VISIBLE_DEVICES=0,1\"]},\"hooks\":{\"prestart\":[{"
         "\"path\":\"/usr/bin/nvidia-container-runtime-hook\"}]},"
         "\"linux\":{\"resources\":{\"devices\":[" CLOSED "]}}}",
         "those that a hook adds for NVIDIA_VISIBLE_DEVICES=0,1"},
        {"{\"process\":{\"env\":[\"NVIDIA_VISIBLE_DEVICES=0\",\"NVIDIA_VISIBLE_DEVICES=void\"]},"
         "\"hooks\":{\"prestart\":[{\"path\":\"/usr/bin/nvidia-container-runtime-hook\"}]},"
         "\"linux\":{\"resources\":{\"devices\":[" CLOSED "]}}}",
         ""},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        _cleanup_free_ char *gpus = gpus_of(rows[i].config, "/nonexistent");
        assert_string_equal(gpus, rows[i].gpus);
    }
}

static void make_gpu(const char *driver, const char *bus, const char *model, int minor)
{
    _cleanup_free_ char *directory = strf("%s/%s", driver, bus);
    _cleanup_free_ char *path = strf("%s/information", directory);

    assert_int_equal(mkdir(directory, 0755), 0);
    FILE *file = fopen(path, "we");
    assert_non_null(file);
    fprintf(file, "Model: \t\t %s\nIRQ:   \t\t 42\nDevice Minor: \t %d\n", model, minor);
    assert_int_equal(fclose(file), 0);
}

static void test_models(void **state)
{
    const struct tempdir *dir = *state;
    const char *driver = dir->path;

    make_gpu(driver, "0000:01:00.0", "NVIDIA A100", 1);
    make_gpu(driver, "0000:02:00.0", "NVIDIA H200", 10);
    _cleanup_free_ char *gpus = gpus_of(
        "{\"linux\":{\"devices\":[" NODE("/dev/nvidia1", 195, 1) "," NODE(
            "/dev/nvidia10", 195, 10) "," NODE("/dev/nvidia2", 195,
                                               2) "],\"resources\":{\"devices\":[" CLOSED "]}}}",
        driver);
    assert_string_equal(gpus,
                        "/dev/nvidia1 (NVIDIA A100); /dev/nvidia10 (NVIDIA H200); /dev/nvidia2");
}

UNIT_SUITE(test_gpus)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows),
        cmocka_unit_test_setup_teardown(test_models, tempdir_make, tempdir_remove),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
