/* SHA-256 against NIST's vectors (FIPS 180-4 examples, CAVP), and OCI digests as text. */
#include "base/digest/sha256.h"

#include "tests/unit/lib/unit.h"

#define EMPTY "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
#define ABC   "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
#define TWO   "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"
#define MANY  "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0"

static void nist_vectors(void **state)
{
    static const char two_blocks[] = "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq";
    struct err err = ERR_INIT;
    struct digest d;

    (void)state;
    assert_works(sha256_digest("", 0, &d, &err), err);
    assert_string_equal(d.text, "sha256:" EMPTY);
    assert_works(sha256_digest("abc", 3, &d, &err), err);
    assert_string_equal(d.text, "sha256:" ABC);
    assert_works(sha256_digest(two_blocks, strlen(two_blocks), &d, &err), err);
    assert_string_equal(d.text, "sha256:" TWO);
    assert_works(sha256_digest("\xd3", 1, &d, &err), err);
    assert_string_equal(digest_hex(&d),
                        "28969cdfa74a12c82f3bad960b0b000aca2ac329deea5c2328ebc6f2ba9802c1");
}

/* One million 'a', in pieces that do not divide the block size. */
static void pieces_are_one_message(void **state)
{
    struct err err = ERR_INIT;
    struct digest d;
    char piece[997];

    (void)state;
    memset(piece, 'a', sizeof(piece));
    _cleanup_sha256_ struct sha256 *hash = sha256_new(&err);
    assert_non_null(hash);
    for (size_t left = 1000000; left > 0;) {
        size_t n = left < sizeof(piece) ? left : sizeof(piece);
        assert_works(sha256_update(hash, piece, n, &err), err);
        left -= n;
    }
    assert_works(sha256_finish(hash, &d, &err), err);
    assert_string_equal(digest_hex(&d), MANY);
    unsigned char bytes[4];
    assert_works(sha256_update(hash, "abc", 3, &err), err);
    assert_works(sha256_finish_bytes(hash, bytes, sizeof(bytes), &err), err);
    assert_memory_equal(bytes, "\xba\x78\x16\xbf", sizeof(bytes));
}

static void finish_starts_afresh(void **state)
{
    struct err err = ERR_INIT;
    struct digest d;

    (void)state;
    _cleanup_sha256_ struct sha256 *hash = sha256_new(&err);
    assert_non_null(hash);
    assert_works(sha256_update(hash, "ab", 2, &err), err);
    assert_works(sha256_update(hash, "", 0, &err), err);
    assert_works(sha256_update(hash, "c", 1, &err), err);
    assert_works(sha256_finish(hash, &d, &err), err);
    assert_string_equal(digest_hex(&d), ABC);
    assert_works(sha256_finish(hash, &d, &err), err);
    assert_string_equal(digest_hex(&d), EMPTY);
    assert_works(sha256_update(hash, "abc", 3, &err), err);
    assert_works(sha256_finish(hash, &d, &err), err);
    assert_string_equal(digest_hex(&d), ABC);
}

static void a_good_digest_is_copied(void **state)
{
    struct err err = ERR_INIT;
    struct digest a, b;

    (void)state;
    assert_works(digest_parse("sha256:" ABC, &a, &err), err);
    assert_string_equal(a.text, "sha256:" ABC);
    assert_string_equal(digest_hex(&a), ABC);
    assert_works(digest_parse("sha256:" ABC, &b, &err), err);
    assert_true(digest_equal(&a, &b));
    assert_works(digest_parse("sha256:" EMPTY, &b, &err), err);
    assert_false(digest_equal(&a, &b));
}

static void everything_else_is_refused(void **state)
{
    static const char *const bad[] = {
        "",
        "sha256:",
        "sha256",
        ABC,
        "sha256:BA7816BF8F01CFEA414140DE5DAE2223B00361A396177A9CB410FF61F20015AD",
        "sha256:Ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
        "SHA256:" ABC,
        "sha256:a7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad", /* 63 */
        "sha256:" ABC "0",                                                        /* 65 */
        "sha256:" ABC "\n",
        " sha256:" ABC,
        "sha512:" ABC,
        "sha512:" ABC ABC,
        "sha384:" ABC,
        "blake3:" ABC,
        "sha256+b64:" ABC,
        "sha256-" ABC,
        "sha256/" ABC,
        "sha256:ga7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015a",
        "sha256:g7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015add",
        "sha256:../../../../../../../../../../../../../../../../../../../../../etc",
        "sha256:../7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015a",
        "sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f2001/ad",
        "sha256:%2e7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015a",
        "../sha256:" ABC,
    };
    struct digest d = {"untouched"};

    (void)state;
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        struct err err = ERR_INIT;
        if (digest_parse(bad[i], &d, &err) != -1)
            fail_msg("accepted: '%s'", bad[i]);
        assert_int_equal(err.kind, ERR_FORMAT);
        assert_string_equal(d.text, "untouched");
    }
}

UNIT_SUITE(test_sha256)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nist_vectors),
        cmocka_unit_test(pieces_are_one_message),
        cmocka_unit_test(finish_starts_afresh),
        cmocka_unit_test(a_good_digest_is_copied),
        cmocka_unit_test(everything_else_is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
