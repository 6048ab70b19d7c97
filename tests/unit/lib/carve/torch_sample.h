/*
 * Images in the shape of those that deep learning uses: some 1,000 owners, 90,000 paths, 5,400
 * names in flat directories that many packages share (usr/bin, usr/lib/x86_64-linux-gnu,
 * usr/share/doc).
 */
#ifndef TESTS_TORCH_SAMPLE_H
#define TESTS_TORCH_SAMPLE_H

#include "tests/unit/lib/carve/layout_sample.h"

enum torch_shape {
    TORCH_DEBIAN, /* all are Debian packages, CUDA's libraries among those of the system */
    TORCH_PIP,    /* frameworks and CUDA from pip, below site-packages */
};

enum { TORCH_SYSTEM = 620, TORCH_PACKAGES = 330 };

/* The files that each Debian package has in directories of all packages. */
static inline void add_shared(struct sample *s, uint32_t owner, const char *name, unsigned seed)
{
    sample_addf(s, owner, 3000, "usr/share/doc/%s/copyright", name);
    sample_addf(s, owner, 9000, "usr/share/doc/%s/changelog.Debian.gz", name);
    for (unsigned i = 0; i < seed % 3; i++)
        sample_addf(s, owner, 60000, "usr/bin/%s-%u", name, i);
    for (unsigned i = 0; i < seed % 2; i++)
        sample_addf(s, owner, 3000, "usr/share/man/man1/%s-%u.1.gz", name, i);
    for (unsigned i = 0; i < seed % 4; i++)
        sample_addf(s, owner, 150000, "usr/lib/x86_64-linux-gnu/%s.so.%u", name, i);
    if (seed % 3 == 0)
        sample_addf(s, owner, 200, "usr/share/lintian/overrides/%s", name);
}

static inline void add_system(struct sample *s, unsigned number)
{
    static const char *const homes[] = {"share", "lib", "lib/python3.11", "include"};
    _cleanup_free_ char *name = strf("pkg%u", number);
    uint32_t owner = sample_owner(s, OWNER_DPKG, TIER_SYSTEM, name, "1.0-1");

    add_shared(s, owner, name, (unsigned)(sample_hash(name, 1) >> 40));
    for (unsigned i = 0; i < 30; i++)
        sample_addf(s, owner, 4000, "usr/%s/%s/d%u/f%u", homes[number % 4], name, i / 10, i);
    for (unsigned i = 0; i < 3; i++)
        sample_addf(s, 1, 4000, "var/lib/dpkg/info/%s.%u", name, i);
}

static inline void add_large(struct sample *s, enum torch_shape shape, enum owner_tier tier,
                             const char *name, uint64_t bytes, unsigned files)
{
    bool debian = shape == TORCH_DEBIAN;
    uint32_t owner = sample_owner(s, debian ? OWNER_DPKG : OWNER_PIP, tier, name, "11.8.0-5");

    if (debian)
        add_shared(s, owner, name, 12);
    if (debian)
        sample_addf(s, owner, bytes, "usr/lib/x86_64-linux-gnu/%s.so.11", name);
    else
        sample_addf(s, owner, bytes, "usr/lib/python3/site-packages/%s/lib/%s.so", name, name);
    const char *home = debian && tier == TIER_TOOLCHAIN ? "include" : "lib/python3/site-packages";
    for (unsigned i = 0; i < files; i++)
        sample_addf(s, owner, 5000, "usr/%s/%s/d%u/f%u.py", home, name, i / 20, i);
}

static inline void add_package(struct sample *s, enum torch_shape shape, unsigned number)
{
    _cleanup_free_ char *name = strf("python3-mod%u", number);
    bool debian = shape == TORCH_DEBIAN;
    uint32_t owner = sample_owner(s, debian ? OWNER_DPKG : OWNER_PIP, TIER_PACKAGE, name, "1.0");
    unsigned files = 20 + (unsigned)(sample_hash(name, 2) >> 40) % 260;

    if (debian)
        add_shared(s, owner, name, number % 12 == 0 ? 1 : 0);
    for (unsigned i = 0; i < 6; i++)
        sample_addf(s, owner, 2000, "usr/lib/python3/site-packages/%s.dist-info/f%u", name, i);
    for (unsigned i = 0; i < files; i++)
        sample_addf(s, owner, 12000, "usr/lib/python3/site-packages/%s/d%u/f%u.py", name, i / 15,
                    i);
}

static inline struct sample *torch_sample(enum torch_shape shape)
{
    static const struct {
        const char *name;
        enum owner_tier tier;
        unsigned megabytes, files;
    } large[] = {
        {"libcublas11", TIER_TOOLCHAIN, 560, 2},   {"libcublaslt11", TIER_TOOLCHAIN, 420, 2},
        {"libcudnn8", TIER_TOOLCHAIN, 980, 2},     {"libcufft10", TIER_TOOLCHAIN, 280, 2},
        {"libcusparse11", TIER_TOOLCHAIN, 260, 2}, {"libcusolver11", TIER_TOOLCHAIN, 210, 2},
        {"libnccl2", TIER_TOOLCHAIN, 190, 2},      {"libcurand10", TIER_TOOLCHAIN, 100, 2},
        {"libnpp11", TIER_TOOLCHAIN, 120, 2},      {"libnvrtc11", TIER_TOOLCHAIN, 50, 2},
        {"libnvjpeg11", TIER_TOOLCHAIN, 10, 2},    {"libcudart11", TIER_TOOLCHAIN, 1, 2},
        {"libllvm15", TIER_TOOLCHAIN, 115, 2},     {"gcc-12", TIER_TOOLCHAIN, 60, 400},
        {"torch", TIER_FRAMEWORK, 1300, 9000},     {"tensorflow", TIER_FRAMEWORK, 900, 6000},
        {"triton", TIER_FRAMEWORK, 230, 700},      {"torchvision", TIER_FRAMEWORK, 30, 500},
        {"onnxruntime", TIER_FRAMEWORK, 70, 300},
    };
    struct sample *s = sample_new();

    for (unsigned i = 0; i < TORCH_SYSTEM; i++)
        add_system(s, i);
    for (size_t i = 0; i < sizeof(large) / sizeof(*large); i++)
        add_large(s, shape, large[i].tier, large[i].name, large[i].megabytes * 1000000ull,
                  large[i].files);
    for (unsigned i = 0; i < TORCH_PACKAGES; i++)
        add_package(s, shape, i);
    for (unsigned i = 0; i < 600; i++)
        sample_addf(s, 0, 10000, "opt/app/src/d%u/f%u.py", i / 20, i);
    for (unsigned i = 0; i < 4; i++)
        sample_addf(s, 0, 450000000, "opt/models/weights-%u.bin", i);
    sample_addf(s, 1, 200000, "var/lib/dpkg/status");
    sample_addf(s, 1, 80000, "etc/ld.so.cache");
    return s;
}

#endif
