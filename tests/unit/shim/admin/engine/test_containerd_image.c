/* Answers of ctr(8), and images of containerd, as values. */
#include "tests/unit/lib/unit.h"

#include "base/buf.h"
#include "shim/admin/engine/containerd_image.h"
#include "shim/admin/engine/ctr.h"

/* ---- answers of ctr ---- */

static int add_words(void *ctx, const char *const words[CTR_WORDS], struct err *err)
{
    (void)err;
    buf_printf(ctx, "%s|%s|%s\n", words[0], words[1], words[2]);
    return 0;
}

static void test_tables_of_ctr(void **state)
{
    char text[] = "CONTAINER    IMAGE                 RUNTIME    \n"
                  "c1           docker.io/one:1       io.containerd.runc.v2    \n"
                  "c2           -                     io.containerd.runc.v2\n"
                  "--help       -\n\nc3";
    _cleanup_buf_ struct buf seen = BUF_INIT;
    char titles[] = "NAME LABELS", nothing[] = "";
    struct err err = ERR_INIT;

    (void)state;
    assert_int_equal(ctr_read_table(text, add_words, &seen, &err), 0);
    assert_int_equal(ctr_read_table(titles, add_words, &seen, &err), 0);
    assert_int_equal(ctr_read_table(nothing, add_words, &seen, &err), 0);
    assert_string_equal(seen.data, "c1|docker.io/one:1|io.containerd.runc.v2\n"
                                   "c2|-|io.containerd.runc.v2\nc3||\n");
}

static void test_mounts_of_ctr(void **state)
{
    char overlay[] = "mount -t overlay overlay / -o index=off,upperdir=/s/2/fs,lowerdir=/s/1/fs\n";
    char bind[] = "mount -t bind /s/1/fs / -o rw,rbind\n";
    char odd[] = "mount -t overlay overlay / -o upperdir=/a b\n", nothing[] = "";

    (void)state;
    assert_string_equal(ctr_read_mount(overlay), "index=off,upperdir=/s/2/fs,lowerdir=/s/1/fs");
    assert_null(ctr_read_mount(bind));
    assert_null(ctr_read_mount(odd));
    assert_null(ctr_read_mount(nothing));
}

static void test_layers_of_ctr(void **state)
{
    char several[] = "mount -t overlay overlay / -o index=off,lowerdir=/s/2/fs:/s/1/fs,ro\n";
    char first[] = "mount -t overlay overlay / -o lowerdir=/s/2/fs\n";
    char one[] = "mount -t bind /s/1/fs / -o ro,rbind\n";
    char none[] = "mount -t overlay overlay / -o index=off\n", nothing[] = "";

    (void)state;
    assert_string_equal(ctr_read_layers(several), "/s/2/fs:/s/1/fs");
    assert_string_equal(ctr_read_layers(first), "/s/2/fs");
    assert_string_equal(ctr_read_layers(one), "/s/1/fs");
    assert_null(ctr_read_layers(none));
    assert_null(ctr_read_layers(nothing));
}

/* ---- images ---- */

static void names_are_completed_as_docker_does(void **state)
{
    static const char *const names[][2] = {
        {"torch", "docker.io/library/torch:latest"},
        {"torch:2.7", "docker.io/library/torch:2.7"},
        {"pytorch/pytorch", "docker.io/pytorch/pytorch:latest"},
        {"lab.example.org/torch", "lab.example.org/torch:latest"},
        {"localhost/torch:1", "localhost/torch:1"},
        {"localhost:5000/a/torch", "localhost:5000/a/torch:latest"},
        {"docker.io/library/torch@sha256:0", "docker.io/library/torch@sha256:0"},
    };
    _cleanup_arena_ struct arena arena = {0};

    (void)state;
    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
        assert_string_equal(containerd_image_name(names[i][0], &arena), names[i][1]);
}

static int chain_of(const char *layers, struct digest *out)
{
    _cleanup_free_ char *text = strf("{\"rootfs\": {\"diff_ids\": [%s]}}", layers);
    struct err err = ERR_INIT;
    _cleanup_json_ struct json_doc *doc = json_parse(text, strlen(text), NULL, &err);

    assert_non_null(doc);
    return containerd_image_chain(json_root(doc), out, &err);
}

#define LAYER(digit) "sha256:000000000000000000000000000000000000000000000000000000000000000" digit

/* By hand: printf 'sha256:0…1 sha256:0…2' | sha256sum, and so on. */
static void chains_are_those_of_the_specification(void **state)
{
    struct digest got;

    (void)state;
    assert_int_equal(chain_of("\"" LAYER("1") "\"", &got), 0);
    assert_string_equal(got.text, LAYER("1"));
    assert_int_equal(chain_of("\"" LAYER("1") "\", \"" LAYER("2") "\"", &got), 0);
    assert_string_equal(got.text,
                        "sha256:e0213565073dd272477933ef550455db21856966e444074f1492aef0939305ac");
    assert_int_equal(chain_of("\"" LAYER("1") "\", \"" LAYER("2") "\", \"" LAYER("3") "\"", &got),
                     0);
    assert_string_equal(got.text,
                        "sha256:af4149e65a6923bb39782a876ce40a7c3b08fc85ec732e9efcc661d9399016d0");
    assert_int_equal(chain_of("", &got), -1);
    assert_int_equal(chain_of("7", &got), -1);
    assert_int_equal(chain_of("\"sha512:0\"", &got), -1);
}

UNIT_SUITE(test_containerd_image)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tables_of_ctr),
        cmocka_unit_test(test_mounts_of_ctr),
        cmocka_unit_test(test_layers_of_ctr),
        cmocka_unit_test(names_are_completed_as_docker_does),
        cmocka_unit_test(chains_are_those_of_the_specification),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
