#include "base/digest/sha256.h"

#include "base/hex.h"

#include <openssl/evp.h>
#include <string.h>

struct sha256 {
    EVP_MD_CTX *ctx;
};

/* Without an algorithm, the one that the context has is used again: to fetch it takes 16 locks. */
static int sha256_begin(struct sha256 *hash, const EVP_MD *algorithm, struct err *err)
{
    if (EVP_DigestInit_ex(hash->ctx, algorithm, NULL) != 1)
        return err_set(err, ERR_SYSTEM, "libcrypto has no SHA-256");
    return 0;
}

struct sha256 *sha256_new(struct err *err)
{
    _cleanup_sha256_ struct sha256 *hash = calloc(1, sizeof(*hash));

    if (!hash || !(hash->ctx = EVP_MD_CTX_new())) {
        err_nomem(err);
        return NULL;
    }
    return sha256_begin(hash, EVP_sha256(), err) < 0 ? NULL : steal_ptr(&hash);
}

void sha256_free(struct sha256 *hash)
{
    EVP_MD_CTX_free(hash->ctx);
    free(hash);
}

int sha256_update(struct sha256 *hash, const void *data, size_t len, struct err *err)
{
    if (EVP_DigestUpdate(hash->ctx, data, len) != 1)
        return err_set(err, ERR_SYSTEM, "libcrypto failed to hash");
    return 0;
}

int sha256_finish_bytes(struct sha256 *hash, void *out, size_t len, struct err *err)
{
    unsigned char raw[SHA256_SIZE];

    if (EVP_DigestFinal_ex(hash->ctx, raw, NULL) != 1)
        return err_set(err, ERR_SYSTEM, "libcrypto failed to hash");
    memcpy(out, raw, len);
    return sha256_begin(hash, NULL, err);
}

int sha256_finish(struct sha256 *hash, struct digest *out, struct err *err)
{
    unsigned char raw[SHA256_SIZE];

    if (sha256_finish_bytes(hash, raw, sizeof(raw), err) < 0)
        return -1;
    digest_of_bytes(raw, out);
    return 0;
}

int sha256_digest(const void *data, size_t len, struct digest *out, struct err *err)
{
    _cleanup_sha256_ struct sha256 *hash = sha256_new(err);

    if (!hash || sha256_update(hash, data, len, err) < 0)
        return -1;
    return sha256_finish(hash, out, err);
}

int digest_parse(const char *text, struct digest *out, struct err *err)
{
    static const char prefix[] = "sha256:";
    size_t skip = sizeof(prefix) - 1;

    if (strncmp(text, prefix, skip) != 0 || !hex_is(text + skip, DIGEST_SIZE - 1 - skip))
        return err_set(err, ERR_FORMAT, "'%.80s' is not a sha256 digest", text);
    memcpy(out->text, text, DIGEST_SIZE);
    return 0;
}

bool digest_equal(const struct digest *a, const struct digest *b)
{
    return strcmp(a->text, b->text) == 0;
}

const char *digest_hex(const struct digest *d)
{
    return d->text + sizeof("sha256:") - 1;
}

static unsigned nibble(char c)
{
    return (unsigned)(c <= '9' ? c - '0' : c - 'a' + 10);
}

void digest_of_bytes(const unsigned char *bytes, struct digest *out)
{
    static const char hex[] = "0123456789abcdef";
    char *p = stpcpy(out->text, "sha256:");

    for (int i = 0; i < SHA256_SIZE; i++) {
        *p++ = hex[bytes[i] >> 4];
        *p++ = hex[bytes[i] & 15];
    }
    *p = '\0';
}

void digest_bytes(const struct digest *d, unsigned char *out, size_t len)
{
    const char *hex = digest_hex(d);

    for (size_t i = 0; i < len; i++)
        out[i] = (unsigned char)(nibble(hex[2 * i]) << 4 | nibble(hex[2 * i + 1]));
}
