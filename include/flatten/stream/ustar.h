/*
 * The blocks of a tar archive that is written (POSIX pax, "ustar Interchange Format"). Pure.
 */
#ifndef FLATTEN_USTAR_H
#define FLATTEN_USTAR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { USTAR_BLOCK = 512 }; /* bytes; headers and content are filled up to whole blocks */

/* POSIX pax, "ustar Header Block". */
struct ustar {
    char name[100], mode[8], uid[8], gid[8], size[12], mtime[12], checksum[8], type[1];
    char linkname[100], magic[6], version[2], uname[32], gname[32], devmajor[8], devminor[8];
    char prefix[155], unused[12];
};

_Static_assert(sizeof(struct ustar) == USTAR_BLOCK, "a header is a block");

/*
 * Writes a number into a field: octal digits and a NUL. Returns false for a number of too many
 * digits, for which the field is all sevens.
 */
bool ustar_put_octal(char *field, size_t width, uint64_t value);

/* The same, but a number of too many digits is written in base 256, as GNU tar does. */
void ustar_put_number(char *field, size_t width, uint64_t value);

/* Sets the checksum of a header that is complete otherwise. */
void ustar_put_checksum(struct ustar *header);

/* Returns how many zeros fill up content of this size. */
static inline size_t ustar_padding(uint64_t size)
{
    return (size_t)(-size & (USTAR_BLOCK - 1));
}

#endif
