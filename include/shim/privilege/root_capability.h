/*
 * The capabilities with which a process that is not root acts as root (capabilities(7),
 * Linux 6.12): one of them, as an ambient capability, is enough in the host's user namespace. Pure.
 */
#ifndef SHIM_ROOT_CAPABILITY_H
#define SHIM_ROOT_CAPABILITY_H

#include "base/buf.h"
#include "base/json/json.h"

#include <stdint.h>

/*
 * Appends those that are in the process's ambient list and in `kept`, such as "CAP_SETUID (sets any
 * uid), CAP_CHOWN": each once, the first with what it does. A name that libcap does not know
 * counts, unless `kept` takes anything away (capability_keep removes it then).
 */
void root_capability_print(const struct json *process, uint64_t kept, struct buf *out);

#endif
