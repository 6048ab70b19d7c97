#include "base/hex.h"

#include <string.h>

bool hex_is(const char *text, size_t count)
{
    return strspn(text, "0123456789abcdef") == count && !text[count];
}
