#include "flatten/stream/ustar.h"

#include <string.h>

bool ustar_put_octal(char *field, size_t width, uint64_t value)
{
    bool fits = value >> (3 * (width - 1)) == 0;

    for (size_t i = width - 1; i-- > 0; value >>= 3)
        field[i] = (char)(fits ? '0' + (value & 7) : '7');
    field[width - 1] = '\0';
    return fits;
}

void ustar_put_number(char *field, size_t width, uint64_t value)
{
    unsigned char *bytes = (unsigned char *)field;

    if (ustar_put_octal(field, width, value))
        return;
    for (size_t i = width; i-- > 0; value >>= 8)
        bytes[i] = (unsigned char)value;
    bytes[0] |= 0x80;
}

void ustar_put_checksum(struct ustar *header)
{
    const unsigned char *bytes = (const unsigned char *)header;
    unsigned sum = 0;

    memset(header->checksum, ' ', sizeof(header->checksum)); /* it counts itself as spaces */
    for (size_t i = 0; i < sizeof(*header); i++)
        sum += bytes[i];
    ustar_put_octal(header->checksum, 7, sum);
}
