#include "shim/capability.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/capability.h>

uint64_t capability_bit(const char *name)
{
    char text[64];
    cap_value_t value;

    if (strncasecmp(name, "cap_", 4) == 0)
        name += 4;
    int len = snprintf(text, sizeof(text), "cap_%s", name);
    if (len < 0 || (size_t)len >= sizeof(text) || cap_from_name(text, &value) < 0 || value < 0 ||
        value > 63)
        return 0;
    return (uint64_t)1 << value;
}
