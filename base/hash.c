#include "base/hash.h"

#include <string.h>
#include <sys/auxv.h>

static const uint64_t odd = 0x9e3779b97f4a7c15u;

const struct hash_key hash_key_shared = {{0x243f6a8885a308d3, 0x13198a2e03707344}};

/* Returns the process's key: the kernel puts 16 random bytes beside the program's arguments. */
struct hash_key hash_key(void)
{
    const void *random = (const void *)getauxval(AT_RANDOM);
    struct hash_key key = {{odd, odd}};

    if (random)
        memcpy(key.part, random, sizeof(key.part));
    return key;
}

/* Folds both halves of a full product: every bit of the inputs reaches every bit of the result. */
static uint64_t mix(uint64_t a, uint64_t b)
{
    __extension__ unsigned __int128 product = (unsigned __int128)a * b;

    return (uint64_t)product ^ (uint64_t)(product >> 64);
}

uint64_t hash_bytes_by(const struct hash_key *by, const void *data, size_t len, uint64_t more)
{
    const unsigned char *p = data;
    const uint64_t *key = by->part;
    uint64_t word = 0;
    uint64_t h = mix(key[0] ^ more ^ odd, key[1] ^ len);

    for (; len >= sizeof(word); p += sizeof(word), len -= sizeof(word)) {
        memcpy(&word, p, sizeof(word));
        h = mix(h ^ word, key[1] ^ odd);
    }
    word = 0;
    if (len)
        memcpy(&word, p, len);
    return mix(h ^ word, key[0] ^ odd);
}

uint64_t hash_bytes(const void *data, size_t len, uint64_t more)
{
    struct hash_key key = hash_key();

    return hash_bytes_by(&key, data, len, more);
}

void hash_stream_begin(struct hash_stream *h)
{
    struct hash_key key = hash_key();

    *h = (struct hash_stream){.len = 0};
    memcpy(h->key, key.part, sizeof(h->key));
    h->lane[0] = h->key[0];
    h->lane[1] = h->key[1] ^ odd;
}

/* Two lanes, so that one product need not wait for the other. */
static void add_block(struct hash_stream *h, const unsigned char *block)
{
    uint64_t word[2];

    memcpy(word, block, sizeof(word));
    h->lane[0] = mix(h->lane[0] ^ word[0], h->key[1] ^ odd);
    h->lane[1] = mix(h->lane[1] ^ word[1], h->key[0] ^ odd);
}

void hash_stream_add(struct hash_stream *h, const void *data, size_t len)
{
    const unsigned char *p = data;
    size_t waiting = h->len % sizeof(h->rest);

    if (len == 0)
        return;
    h->len += len;
    if (waiting) {
        size_t piece = sizeof(h->rest) - waiting;
        piece = len < piece ? len : piece;
        memcpy(h->rest + waiting, p, piece);
        p += piece;
        len -= piece;
        if (waiting + piece < sizeof(h->rest))
            return;
        add_block(h, h->rest);
    }
    for (; len >= sizeof(h->rest); p += sizeof(h->rest), len -= sizeof(h->rest))
        add_block(h, p);
    if (len)
        memcpy(h->rest, p, len);
}

uint64_t hash_stream_end(struct hash_stream *h)
{
    size_t waiting = h->len % sizeof(h->rest);

    memset(h->rest + waiting, 0, sizeof(h->rest) - waiting);
    add_block(h, h->rest);
    return mix(h->lane[0] ^ h->len ^ odd, h->lane[1] ^ h->key[0]);
}
