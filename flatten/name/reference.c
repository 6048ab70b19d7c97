#include "flatten/name/reference.h"

void reference_clear(struct reference *ref)
{
    free(ref->path);
    free(ref->name);
    *ref = (struct reference){0};
}
