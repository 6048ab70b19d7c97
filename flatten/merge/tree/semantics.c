#include "flatten/merge/tree/semantics.h"

#include <string.h>

const char *const semantics_names[] = {"overlay", "spec", NULL};

enum semantics semantics_named(const char *name)
{
    return name && strcmp(name, semantics_names[SEMANTICS_SPEC]) == 0 ? SEMANTICS_SPEC
                                                                      : SEMANTICS_OVERLAY;
}
