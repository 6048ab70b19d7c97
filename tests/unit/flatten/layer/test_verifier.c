#include "flatten/layer/verifier.h"

#include "tests/unit/lib/tar_image.h"
#include "tests/unit/lib/unit.h"

#include <fcntl.h>

/*
 * FEW layers are long: many of the reader's blocks and a part of one. MOST_LAYERS are short, and
 * more than there are lanes and threads.
 */
enum { FEW = 9, MOST_LAYERS = 126, LONG = 2400 * 1000, SHORT = 70 * 1000 };

static char *content; /* each layer is a part of it, from another offset on */

static struct image *make(size_t layers)
{
    size_t size = layers <= FEW ? LONG : SHORT;
    struct buf blobs[MOST_LAYERS] = {BUF_INIT};

    for (size_t i = 0; i < layers; i++)
        blobs[i] = (struct buf){.data = content + i, .len = size / (i % 7 + 1) + i};
    return image_of(blobs, layers, NULL);
}

static void damage(struct image *image, unsigned number, off_t at)
{
    assert_int_equal(pwrite(image->layers[number - 1].fd, "?", 1, at), 1);
}

static int check(struct image *image, struct err *err)
{
    _cleanup_verifier_ struct verifier *v = verifier_new(image, err);

    assert_non_null(v);
    return verifier_finish(v, err);
}

static void test_right(void **state)
{
    static const size_t counts[] = {1, 2, 3, MOST_LAYERS};

    (void)state;
    for (size_t i = 0; i < 4; i++) {
        _cleanup_image_ struct image *image = make(counts[i]);
        struct err err = ERR_INIT;
        assert_works(check(image, &err), err);
        for (size_t j = 0; j < counts[i]; j++)
            assert_null(image->layers[j].verifier);
    }
}

static void test_an_empty_layer(void **state)
{
    struct buf blobs[2] = {BUF_INIT, BUF_INIT};
    _cleanup_image_ struct image *image = image_of(blobs, 2, NULL);
    struct err err = ERR_INIT;

    (void)state;
    assert_works(check(image, &err), err);
    image->layers[0].diff_id.text[10] ^= 1;
    image->layers[0].digest.text[0] = '\0';
    assert_fails(check(image, &err), err, ERR_DIGEST);
    assert_contains(err.msg, "layer 1, uncompressed: content is sha256:e3b0c442");
}

/* Damages the first, a middle and the last byte, of the newest, a middle and the oldest layer. */
static void test_wrong(void **state)
{
    static const unsigned numbers[] = {1, 4, 9};

    (void)state;
    for (size_t i = 0; i < 3; i++) {
        for (int where = 0; where < 3; where++) {
            _cleanup_image_ struct image *image = make(9);
            const struct layer *layer = &image->layers[numbers[i] - 1];
            off_t places[] = {0, (off_t)layer->size / 2, (off_t)layer->size - 1};
            struct err err = ERR_INIT;
            char name[32];
            damage(image, numbers[i], places[where]);
            assert_fails(check(image, &err), err, ERR_DIGEST);
            snprintf(name, sizeof(name), "layer %u: content is sha256:", numbers[i]);
            assert_contains(err.msg, name);
        }
    }
}

/* The blob matches the manifest's digest, but not the config's diff_id. */
static void test_wrong_diff_id(void **state)
{
    _cleanup_image_ struct image *image = make(3);
    struct err err = ERR_INIT;

    (void)state;
    image->layers[1].diff_id.text[20] ^= 1;
    assert_fails(check(image, &err), err, ERR_DIGEST);
    assert_contains(err.msg, "layer 2, uncompressed: content is ");
}

static void test_the_newest_wrong_layer_is_named(void **state)
{
    (void)state;
    for (unsigned round = 0; round < 20; round++) {
        _cleanup_image_ struct image *image = make(MOST_LAYERS);
        struct err err = ERR_INIT;
        damage(image, 3, 0);
        damage(image, 70, 0); /* of these two, the older is the shorter */
        damage(image, 71, (off_t)image->layers[70].size - 1);
        assert_fails(check(image, &err), err, ERR_DIGEST);
        assert_contains(err.msg, "layer 71: ");
    }
}

static void test_cut_file(void **state)
{
    _cleanup_image_ struct image *image = make(5);
    struct err err = ERR_INIT;

    (void)state;
    assert_int_equal(ftruncate(image->layers[1].fd, 1000), 0);
    assert_fails(check(image, &err), err, ERR_FORMAT);
    assert_contains(err.msg, "layer 2: the file ends too early");
}

static void test_more_than_allowed(void **state)
{
    _cleanup_image_ struct image *image = make(2);
    struct err err = ERR_INIT;

    (void)state;
    image->layers[0].max_size = image->layers[0].size;
    assert_works(check(image, &err), err);
    image->layers[0].max_size--;
    assert_fails(check(image, &err), err, ERR_LIMIT);
    assert_contains(err.msg, "layer 1, uncompressed: more than ");
}

enum { PACKED = 4 };

/* Layers that look compressed, and a last one that does not; each has another digest. */
static struct image *make_packed(void)
{
    static const char gzip[] = "\x1f\x8b\x08 whatever", zstd[] = "\x28\xb5\x2f\xfd whatever";
    struct buf blobs[PACKED] = {BUF_INIT, BUF_INIT, BUF_INIT, BUF_INIT};
    struct err err = ERR_INIT;

    buf_append(&blobs[0], gzip, sizeof(gzip));
    buf_append(&blobs[1], zstd, sizeof(zstd));
    buf_append(&blobs[2], gzip, sizeof(gzip));
    buf_puts(&blobs[3], "as it is");
    struct image *image = image_of(blobs, PACKED, NULL);
    for (size_t i = 0; i < PACKED; i++) {
        assert_works(sha256_digest(blobs[i].data, blobs[i].len, &image->layers[i].digest, &err),
                     err);
        buf_free(&blobs[i]);
    }
    for (size_t i = 0; i < PACKED - 1; i++) /* their archives are checked by their readers */
        image->layers[i].diff_id.text[20] ^= 1;
    return image;
}

/* The blob of a compressed layer is checked, too, if its digest is known. */
static void test_compressed_layers(void **state)
{
    _cleanup_image_ struct image *image = make_packed();
    struct err err = ERR_INIT;
    _Atomic uint64_t progress = 0;

    (void)state;
    image->layers[0].digest.text[0] = '\0';
    image->layers[0].max_size = image->layers[1].max_size =
        1;                                 /* of the archive, so not of the compressed blob */
    image->layers[1].progress = &progress; /* counted by their readers */
    damage(image, 1, 5);
    _cleanup_verifier_ struct verifier *v = verifier_new(image, &err);
    assert_non_null(v);
    assert_null(image->layers[0].verifier);
    assert_ptr_equal(image->layers[1].verifier, v);
    assert_ptr_equal(image->layers[3].verifier, v);
    assert_false(image->layers[1].blob_is_tar);
    assert_true(image->layers[3].blob_is_tar);
    assert_works(verifier_finish(v, &err), err);
    assert_int_equal(progress, 0);
}

static void test_wrong_compressed_layers(void **state)
{
    (void)state;
    for (unsigned round = 0; round < 20; round++) {
        _cleanup_image_ struct image *image = make_packed();
        struct err err = ERR_INIT;
        damage(image, 1, 5);
        damage(image, 2, 7);
        assert_fails(check(image, &err), err, ERR_DIGEST);
        assert_contains(err.msg, "layer 2: content is sha256:");
    }
}

/*
 * A newer layer may still turn out wrong at its reader's end: until then the error of the older one
 * is not reported.
 */
static void test_readers_judge_compressed_layers(void **state)
{
    _cleanup_image_ struct image *image = make_packed();
    struct err err = ERR_INIT, shown = ERR_INIT;

    (void)state;
    damage(image, 1, 5);
    _cleanup_verifier_ struct verifier *v = verifier_new(image, &err);
    assert_non_null(v);
    assert_works(verifier_check(v, &image->layers[3], &err), err);
    assert_fails(verifier_finish(v, &shown), shown, ERR_DIGEST); /* now all layers are judged */
    assert_works(verifier_check(v, &image->layers[2], &err), err);
    err_set(&shown, ERR_DIGEST, "layer 3, uncompressed: content is not that");
    verifier_explain(v, &shown);
    assert_string_equal(shown.msg, "layer 3, uncompressed: content is not that");
    assert_works(verifier_check(v, &image->layers[1], &err), err);
    assert_fails(verifier_check(v, &image->layers[0], &err), err, ERR_DIGEST);
    assert_contains(err.msg, "layer 1: content is ");
}

/* An error that a reader finds is reported only if no newer layer is wrong. */
static void test_a_newer_blob_is_named(void **state)
{
    _cleanup_image_ struct image *image = make_packed();
    struct err err = ERR_INIT, shown = ERR_INIT;

    (void)state;
    damage(image, 3, 5);
    _cleanup_verifier_ struct verifier *v = verifier_new(image, &err);
    assert_non_null(v);
    (void)!verifier_check(v, &image->layers[1], &err);
    err_set(&shown, ERR_DIGEST, "layer 2, uncompressed: content is not that");
    verifier_explain(v, &shown);
    assert_contains(shown.msg, "layer 3: content is ");
}

static void test_changed_in_between(void **state)
{
    _cleanup_image_ struct image *image = make(3);
    struct err err = ERR_INIT;
    _cleanup_verifier_ struct verifier *v = verifier_new(image, &err);

    (void)state;
    assert_non_null(v);
    assert_works(verifier_finish(v, &err), err);
    usleep(20 * 1000); /* the clock of file times may be coarse */
    damage(image, 2, 0);
    assert_fails(verifier_finish(v, &err), err, ERR_FORMAT);
    assert_contains(err.msg, "layer 2: its file changed while it was read");
}

/* A wrong layer is the cause of an error about content, but not of a full disk. */
static void test_explains(void **state)
{
    _cleanup_image_ struct image *image = make(9);
    struct err err = ERR_INIT, shown = ERR_INIT;

    (void)state;
    damage(image, 4, 100);
    _cleanup_verifier_ struct verifier *v = verifier_new(image, &err);
    assert_non_null(v);
    (void)!verifier_check(v, &image->layers[3], &err);
    err_set(&shown, ERR_SYSTEM, "no space");
    verifier_explain(v, &shown);
    assert_string_equal(shown.msg, "no space");
    err_set(&shown, ERR_FORMAT, "layer 4: bad tar archive");
    verifier_explain(v, &shown);
    assert_int_equal(shown.kind, ERR_DIGEST);
    assert_contains(shown.msg, "layer 4: content is ");
    /* a reader that goes on gets the error, too */
    assert_fails(verifier_check(v, &image->layers[3], &err), err, ERR_DIGEST);
}

static void test_has_nothing_to_explain(void **state)
{
    _cleanup_image_ struct image *image = make(9);
    struct err err = ERR_INIT, shown = ERR_INIT;
    _cleanup_verifier_ struct verifier *v = verifier_new(image, &err);

    (void)state;
    assert_non_null(v);
    assert_works(verifier_check(v, &image->layers[8], &err), err);
    err_set(&shown, ERR_FORMAT, "layer 9: bad tar archive");
    verifier_explain(v, &shown);
    assert_string_equal(shown.msg, "layer 9: bad tar archive");
}

static void test_can_be_given_up(void **state)
{
    (void)state;
    for (unsigned round = 0; round < 20; round++) {
        _cleanup_image_ struct image *image = make(MOST_LAYERS);
        struct err err = ERR_INIT;
        _cleanup_verifier_ struct verifier *v = verifier_new(image, &err);
        assert_non_null(v);
    }
}

static void test_counts_progress(void **state)
{
    _cleanup_image_ struct image *image = make(4);
    _Atomic uint64_t progress = 0;
    uint64_t total = 0;
    struct err err = ERR_INIT;

    (void)state;
    for (size_t i = 0; i < 4; i++) {
        image->layers[i].progress = &progress;
        total += image->layers[i].size;
    }
    assert_works(check(image, &err), err);
    assert_int_equal(progress, total);
}

/* ---- layers that arrive ---- */

/* Has the layers arrive, none of which has come; a media type says whether they are compressed. */
static struct arrival *hold(struct image *image, const char *type)
{
    struct err err = ERR_INIT;
    struct arrival *keeper = arrival_new(image->layer_count, &err);

    assert_non_null(keeper);
    for (size_t i = 0; i < image->layer_count; i++) {
        image->layers[i].arriving.blob = i;
        image->layers[i].media_type = type;
        image->layers[i].arriving.all = arrival_open(arrival_fd(keeper), image->layer_count, &err);
        assert_non_null(image->layers[i].arriving.all);
    }
    return keeper;
}

/* A few layers that the keeper still fetches. */
struct fetched {
    struct image *image;
    struct arrival *keeper;
    struct verifier *verifier;
};

static struct fetched fetch(void)
{
    struct fetched f = {.image = make(FEW)};
    struct err err = ERR_INIT;

    f.keeper = hold(f.image, "application/vnd.oci.image.layer.v1.tar+gzip");
    f.verifier = verifier_new(f.image, &err);
    assert_non_null(f.verifier);
    return f;
}

static void fetched_free(struct fetched *f)
{
    verifier_free(f->verifier);
    arrival_unref(f->keeper);
    image_free(f->image);
}

/* Starts before the first byte has come; bytes of other layers do not change what was checked. */
static void test_layers_that_arrive(void **state)
{
    struct fetched f = fetch();
    struct err err = ERR_INIT;

    (void)state;
    for (size_t i = FEW; i-- > 0;) {
        const struct layer *layer = &f.image->layers[i];
        assert_false(layer->blob_is_tar);
        damage(f.image, (unsigned)i + 1, (off_t)layer->size); /* behind the blob */
        arrival_advance(f.keeper, i, layer->size / 2);
        assert_works(verifier_check(f.verifier, layer, &err), err);
        arrival_advance(f.keeper, i, layer->size);
    }
    assert_works(verifier_finish(f.verifier, &err), err);
    fetched_free(&f);
}

/* The keeper checks the digest of a blob, which is all for a compressed one; not a diff_id. */
static void test_what_the_keeper_checks(void **state)
{
    static const char *const types[] = {"application/vnd.oci.image.layer.v1.tar+gzip",
                                        "application/vnd.oci.image.layer.v1.tar"};
    struct err err = ERR_INIT;

    (void)state;
    for (size_t t = 0; t < 2; t++) {
        _cleanup_image_ struct image *image = make(FEW);
        struct arrival *keeper = hold(image, types[t]);
        damage(image, 3, 1000);
        for (size_t i = 0; i < FEW; i++)
            arrival_advance(keeper, i, image->layers[i].size);
        assert_int_equal(check(image, &err), t == 0 ? 0 : -1);
        arrival_unref(keeper);
    }
    assert_contains(err.msg, "layer 3: content is sha256:");
}

static void test_a_layer_that_does_not_arrive(void **state)
{
    struct fetched f = fetch();
    struct err err = ERR_INIT;

    (void)state;
    for (size_t i = FEW; i-- > 3;)
        arrival_advance(f.keeper, i, f.image->layers[i].size);
    arrival_advance(f.keeper, 2, f.image->layers[2].size - 1);
    arrival_fail(f.keeper, 2, &(struct err){.kind = ERR_SYSTEM, .msg = "the connection broke"});
    assert_fails(verifier_finish(f.verifier, &err), err, ERR_SYSTEM);
    assert_contains(err.msg, "layer 3: the connection broke");
    fetched_free(&f);
}

/* No reader comes to it: it is kept, and of its compression nothing is known. */
static void test_a_layer_of_which_nothing_arrives(void **state)
{
    _cleanup_image_ struct image *image = make(FEW);
    struct arrival *keeper = hold(image, "application/vnd.oci.image.layer.v1.tar");
    struct err err = ERR_INIT;

    (void)state;
    for (size_t i = FEW; i-- > 1;)
        arrival_advance(keeper, i, image->layers[i].size);
    arrival_fail(keeper, 0, &(struct err){.kind = ERR_SYSTEM, .msg = "the connection broke"});
    _cleanup_verifier_ struct verifier *v = verifier_new(image, &err);
    assert_non_null(v);
    assert_fails(verifier_finish(v, &err), err, ERR_SYSTEM);
    assert_contains(err.msg, "layer 1: the connection broke");
    arrival_unref(keeper);
}

/* A media type that does not tell is not believed. */
static void test_the_kind_of_a_layer_that_arrives(void **state)
{
    _cleanup_image_ struct image *image = make_packed();
    struct arrival *keeper = hold(image, "application/vnd.oci.image.layer.v1.tar");
    struct err err = ERR_INIT;

    (void)state;
    for (size_t i = 0; i < PACKED; i++)
        arrival_advance(keeper, i, image->layers[i].size);
    _cleanup_verifier_ struct verifier *v = verifier_new(image, &err);
    assert_non_null(v);
    for (size_t i = 0; i < PACKED; i++)
        assert_int_equal(image->layers[i].blob_is_tar, i == PACKED - 1);
    assert_works(verifier_finish(v, &err), err);
    arrival_unref(keeper);
}

static int start(void **state)
{
    (void)state;
    if (!(content = malloc(LONG + MOST_LAYERS)))
        return -1;
    for (size_t i = 0; i < LONG + MOST_LAYERS; i++)
        content[i] = (char)(i * 31);
    return 0;
}

static int stop(void **state)
{
    (void)state;
    free(content);
    return 0;
}

UNIT_SUITE(test_verifier)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_right),
        cmocka_unit_test(test_an_empty_layer),
        cmocka_unit_test(test_wrong),
        cmocka_unit_test(test_wrong_diff_id),
        cmocka_unit_test(test_the_newest_wrong_layer_is_named),
        cmocka_unit_test(test_cut_file),
        cmocka_unit_test(test_more_than_allowed),
        cmocka_unit_test(test_compressed_layers),
        cmocka_unit_test(test_wrong_compressed_layers),
        cmocka_unit_test(test_readers_judge_compressed_layers),
        cmocka_unit_test(test_a_newer_blob_is_named),
        cmocka_unit_test(test_changed_in_between),
        cmocka_unit_test(test_explains),
        cmocka_unit_test(test_has_nothing_to_explain),
        cmocka_unit_test(test_can_be_given_up),
        cmocka_unit_test(test_counts_progress),
        cmocka_unit_test(test_layers_that_arrive),
        cmocka_unit_test(test_what_the_keeper_checks),
        cmocka_unit_test(test_a_layer_that_does_not_arrive),
        cmocka_unit_test(test_a_layer_of_which_nothing_arrives),
        cmocka_unit_test(test_the_kind_of_a_layer_that_arrives),
    };

    return cmocka_run_group_tests(tests, start, stop);
}
