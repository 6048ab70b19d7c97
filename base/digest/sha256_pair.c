#include "base/digest/sha256_pair.h"

#include <string.h>

static const uint32_t initial[8] = {
    0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19,
};

#ifdef __x86_64__

#include <cpuid.h>
#include <immintrin.h>

#define WITH_SHA __attribute__((target("sha,sse4.1,ssse3")))

/* FIPS 180-4, section 4.2.2. */
static const uint32_t constants[64] __attribute__((aligned(16))) = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
};

/* The state in the order of the instructions: ABEF and CDGH. */
struct rounds {
    __m128i abef, cdgh, words[4];
};

bool sha256_pair_supported(void)
{
    unsigned a, b, c, d;

    return __get_cpuid_count(7, 0, &a, &b, &c, &d) && (b & bit_SHA) &&
           __get_cpuid(1, &a, &b, &c, &d) && (c & bit_SSE4_1) && (c & bit_SSSE3);
}

WITH_SHA static inline void load_state(struct rounds *r, const uint32_t state[8])
{
    __m128i abcd = _mm_loadu_si128((const __m128i *)state);
    __m128i efgh = _mm_loadu_si128((const __m128i *)(state + 4));
    __m128i cdab = _mm_shuffle_epi32(abcd, 0xb1), hgfe = _mm_shuffle_epi32(efgh, 0x1b);

    r->abef = _mm_alignr_epi8(cdab, hgfe, 8);
    r->cdgh = _mm_blend_epi16(hgfe, cdab, 0xf0);
}

WITH_SHA static inline void store_state(const struct rounds *r, uint32_t state[8])
{
    __m128i feba = _mm_shuffle_epi32(r->abef, 0x1b), dchg = _mm_shuffle_epi32(r->cdgh, 0xb1);

    _mm_storeu_si128((__m128i *)state, _mm_blend_epi16(feba, dchg, 0xf0));
    _mm_storeu_si128((__m128i *)(state + 4), _mm_alignr_epi8(dchg, feba, 8));
}

/* Runs rounds 4i to 4i+3 and prepares the message schedule for later rounds. `i` is a constant. */
WITH_SHA static inline __attribute__((always_inline)) void four_rounds(struct rounds *r, int i,
                                                                       const unsigned char *block)
{
    const __m128i swap = _mm_set_epi64x(0x0c0d0e0f08090a0b, 0x0405060700010203);
    __m128i *w = r->words;

    if (i < 4)
        w[i] = _mm_shuffle_epi8(_mm_loadu_si128((const __m128i *)(block + i * 16)), swap);
    __m128i sum = _mm_add_epi32(w[i & 3], _mm_load_si128((const __m128i *)(constants + i * 4)));
    r->cdgh = _mm_sha256rnds2_epu32(r->cdgh, r->abef, sum);
    if (i >= 3 && i < 15) {
        __m128i *next = &w[(i + 1) & 3];
        *next = _mm_add_epi32(*next, _mm_alignr_epi8(w[i & 3], w[(i - 1) & 3], 4));
        *next = _mm_sha256msg2_epu32(*next, w[i & 3]);
    }
    r->abef = _mm_sha256rnds2_epu32(r->abef, r->cdgh, _mm_shuffle_epi32(sum, 0x0e));
    if (i >= 1 && i < 13)
        w[(i - 1) & 3] = _mm_sha256msg1_epu32(w[(i - 1) & 3], w[i & 3]);
}

WITH_SHA static inline void add_state(struct rounds *r, __m128i abef, __m128i cdgh)
{
    r->abef = _mm_add_epi32(r->abef, abef);
    r->cdgh = _mm_add_epi32(r->cdgh, cdgh);
}

WITH_SHA static void one_stream(uint32_t state[8], const unsigned char *data, size_t blocks)
{
    struct rounds r;

    load_state(&r, state);
    for (; blocks > 0; blocks--, data += SHA256_BLOCK) {
        __m128i abef = r.abef, cdgh = r.cdgh;
#pragma GCC unroll 16
        for (int i = 0; i < 16; i++)
            four_rounds(&r, i, data);
        add_state(&r, abef, cdgh);
    }
    store_state(&r, state);
}

WITH_SHA static void two_streams(uint32_t state_a[8], const unsigned char *a, uint32_t state_b[8],
                                 const unsigned char *b, size_t blocks)
{
    struct rounds r, s;

    load_state(&r, state_a);
    load_state(&s, state_b);
    for (; blocks > 0; blocks--, a += SHA256_BLOCK, b += SHA256_BLOCK) {
        __m128i abef_a = r.abef, cdgh_a = r.cdgh, abef_b = s.abef, cdgh_b = s.cdgh;
#pragma GCC unroll 16
        for (int i = 0; i < 16; i++) {
            four_rounds(&r, i, a);
            four_rounds(&s, i, b);
        }
        add_state(&r, abef_a, cdgh_a);
        add_state(&s, abef_b, cdgh_b);
    }
    store_state(&r, state_a);
    store_state(&s, state_b);
}

#else

bool sha256_pair_supported(void)
{
    return false;
}

static void one_stream(uint32_t state[8], const unsigned char *data, size_t blocks)
{
    (void)state, (void)data, (void)blocks;
}

static void two_streams(uint32_t state_a[8], const unsigned char *a, uint32_t state_b[8],
                        const unsigned char *b, size_t blocks)
{
    (void)state_a, (void)a, (void)state_b, (void)b, (void)blocks;
}

#endif

static void begin(struct sha256_lane *lane)
{
    memcpy(lane->state, initial, sizeof(initial));
    lane->len = 0;
}

int sha256_lane_init(struct sha256_lane *lane, struct err *err)
{
    *lane = (struct sha256_lane){0};
    begin(lane);
    if (sha256_pair_supported())
        return 0;
    lane->fallback = sha256_new(err);
    return lane->fallback ? 0 : -1;
}

void sha256_lane_clear(struct sha256_lane *lane)
{
    cleanup_sha256(&lane->fallback);
}

int sha256_lane_update(struct sha256_lane *lane, const void *data, size_t len, struct err *err)
{
    const unsigned char *p = data;
    size_t waiting = lane->len % SHA256_BLOCK;

    if (lane->fallback)
        return sha256_update(lane->fallback, data, len, err);
    lane->len += len;
    if (waiting) {
        size_t piece = SHA256_BLOCK - waiting < len ? SHA256_BLOCK - waiting : len;
        memcpy(lane->rest + waiting, p, piece);
        p += piece;
        len -= piece;
        if (waiting + piece < SHA256_BLOCK)
            return 0;
        one_stream(lane->state, lane->rest, 1);
    }
    one_stream(lane->state, p, len / SHA256_BLOCK);
    if (len % SHA256_BLOCK)
        memcpy(lane->rest, p + len / SHA256_BLOCK * SHA256_BLOCK, len % SHA256_BLOCK);
    return 0;
}

int sha256_lane_zeros(struct sha256_lane *lane, uint64_t len, struct err *err)
{
    static const char zeros[64 * 1024];

    while (len > 0) {
        size_t part = len < sizeof(zeros) ? (size_t)len : sizeof(zeros);
        if (sha256_lane_update(lane, zeros, part, err) < 0)
            return -1;
        len -= part;
    }
    return 0;
}

int sha256_pair_update(struct sha256_lane *a, const void *data_a, struct sha256_lane *b,
                       const void *data_b, size_t len, struct err *err)
{
    const unsigned char *p = data_a, *q = data_b;
    size_t whole = len / SHA256_BLOCK * SHA256_BLOCK;

    if (a->fallback || a->len % SHA256_BLOCK || b->len % SHA256_BLOCK)
        whole = 0;
    if (whole) {
        two_streams(a->state, p, b->state, q, whole / SHA256_BLOCK);
        a->len += whole;
        b->len += whole;
    }
    if (sha256_lane_update(a, p + whole, len - whole, err) < 0)
        return -1;
    return sha256_lane_update(b, q + whole, len - whole, err);
}

/* Returns how many bytes the last block of the stream lacks, `len` at most. */
static size_t to_next_block(const struct sha256_lane *lane, size_t len)
{
    size_t lacking = (SHA256_BLOCK - lane->len % SHA256_BLOCK) % SHA256_BLOCK;

    return lacking < len ? lacking : len;
}

int sha256_twin_update(struct sha256_lane *a, struct sha256_lane *b, const void *data, size_t len,
                       struct err *err)
{
    const char *p = data;
    size_t first_a = to_next_block(a, len), first_b = to_next_block(b, len);
    size_t left = len - (first_a > first_b ? first_a : first_b);
    size_t both = left / SHA256_BLOCK * SHA256_BLOCK;

    if (sha256_lane_update(a, p, first_a, err) < 0 || sha256_lane_update(b, p, first_b, err) < 0 ||
        sha256_pair_update(a, p + first_a, b, p + first_b, both, err) < 0)
        return -1;
    first_a += both;
    first_b += both;
    return sha256_lane_update(a, p + first_a, len - first_a, err) < 0
               ? -1
               : sha256_lane_update(b, p + first_b, len - first_b, err);
}

int sha256_lane_finish_bytes(struct sha256_lane *lane, void *out, size_t len, struct err *err)
{
    static const unsigned char padding[SHA256_BLOCK] = {0x80};
    unsigned char length[8], raw[SHA256_SIZE];
    uint64_t bits = lane->len * 8;

    if (lane->fallback)
        return sha256_finish_bytes(lane->fallback, out, len, err);
    for (size_t i = 8; i-- > 0; bits >>= 8)
        length[i] = (unsigned char)bits;
    size_t fill = SHA256_BLOCK - (lane->len + sizeof(length)) % SHA256_BLOCK;
    if (sha256_lane_update(lane, padding, fill, err) < 0 ||
        sha256_lane_update(lane, length, sizeof(length), err) < 0)
        return -1;
    for (size_t i = 0; i < SHA256_SIZE; i++)
        raw[i] = (unsigned char)(lane->state[i / 4] >> (24 - i % 4 * 8));
    memcpy(out, raw, len);
    begin(lane);
    return 0;
}

int sha256_lane_finish(struct sha256_lane *lane, struct digest *out, struct err *err)
{
    unsigned char raw[SHA256_SIZE];

    if (sha256_lane_finish_bytes(lane, raw, sizeof(raw), err) < 0)
        return -1;
    digest_of_bytes(raw, out);
    return 0;
}
