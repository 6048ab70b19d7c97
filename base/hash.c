#include "base/hash.h"

#include <string.h>
#include <sys/auxv.h>

static const uint64_t odd = 0x9e3779b97f4a7c15u;

/* The process's secret: the kernel puts 16 random bytes beside the program's arguments. */
static void secret(uint64_t key[2])
{
    const void *random = (const void *)getauxval(AT_RANDOM);

    key[0] = key[1] = odd;
    if (random)
        memcpy(key, random, 2 * sizeof(*key));
}

/* Both halves of a full product, folded: every bit of the inputs reaches every bit of the result.
 */
static uint64_t mix(uint64_t a, uint64_t b)
{
    __extension__ unsigned __int128 product = (unsigned __int128)a * b;

    return (uint64_t)product ^ (uint64_t)(product >> 64);
}

uint64_t hash_bytes(const void *data, size_t len, uint64_t more)
{
    const unsigned char *p = data;
    uint64_t key[2], word = 0;

    secret(key);
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
