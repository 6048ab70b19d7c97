/* Bytes of containers and stores of this host, measured for alerts. */
#ifndef SHIM_MEASURE_H
#define SHIM_MEASURE_H

#include "shim/admin/monitor/alerts.h"

/*
 * Measures what the limits need: free room of the stores; the upper directories, and starts, only
 * if a limit of them is given. `before` are the alerts of the run before. `stores` are looked at
 * beside the usual ones. A store that does not answer within five seconds is not known, nor is a
 * container whose files cannot be read. Fails without memory, or if /proc cannot be read. The
 * caller calls measures_free, also after a failure.
 */
int measure(const struct policy_alerts *limits, const char *const *stores, size_t store_count,
            const struct alert_list *before, struct measures *out, struct err *err) must_check;

#endif
