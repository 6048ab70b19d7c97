#include "flatten/carve/times/python_pairs.h"

/*
 * A header starts with the magic number of its Python. Flags follow since 3.7, and with them either
 * time and size or a hash of the source; before, the time. Magic numbers of Python 2 are above
 * 20000.
 */
enum { MAGIC_FLAGS = 3392, MAGIC_PYTHON_2 = 20000, FLAGS_AT = 4, TIME_AT = 8, OLD_TIME_AT = 4 };

static uint32_t little_endian(const unsigned char *bytes)
{
    return bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 | (uint32_t)bytes[3] << 24;
}

bool pyc_time(const unsigned char *head, uint32_t *time)
{
    unsigned magic = head[0] | (unsigned)head[1] << 8;
    bool has_flags = magic >= MAGIC_FLAGS && magic < MAGIC_PYTHON_2;

    *time = little_endian(head + (has_flags ? TIME_AT : OLD_TIME_AT));
    return !has_flags || !(little_endian(head + FLAGS_AT) & 1);
}
