#include "flatten/lookups.h"

const char *const lookup_kind_key[LOOKUP_KINDS] = {"stat", "missing", "readdir"};
const char *const lookup_cold_key[LOOKUP_COLDS] = {"dentries", "disk"};

/* Fitted to the measurements of docs/overlay-costs.md, 5 to 120 layers. */
const struct lookup_costs lookup_default_costs = {.k = {
                                                      [LOOKUP_STAT] = {0.15, 0.30},
                                                      [LOOKUP_MISSING] = {0.15, 0.46},
                                                      [LOOKUP_READDIR] = {0.285, 0.43},
                                                  }};

double lookup_ratio(const struct lookup_costs *c, enum lookup_kind kind, enum lookup_cold cold,
                    double layers)
{
    return layers > 1 ? 1 + c->k[kind][cold] * (layers - 1) : 1;
}
