#include "shim/admin/monitor/ready/journal.h"

#include "base/buf.h"
#include "shim/admin/engine/runtime_program.h"
#include "shim/host/process/child.h"

#include <stdint.h>
#include <stdlib.h>

char *journal_read(const char *id, double started, size_t most)
{
    _cleanup_free_ char *of = strf("CONTAINER_ID_FULL=%s", id);
    _cleanup_free_ char *since = strf("--since=@%lld", (long long)started);
    _cleanup_free_ char *text = malloc(most);
    struct runtime_program journalctl;
    struct err ignored;
    int status;

    runtime_program_find("journalctl", &journalctl);
    const char *const argv[] = {
        journalctl.path,           "--quiet", "--no-pager", "--all", "--output=json",
        "--output-fields=MESSAGE", since,     of,           NULL};
    if (!of || !since || !text || !journalctl.found ||
        child_output((char *const *)(uintptr_t)argv, text, most, &status, &ignored) < 0)
        return NULL;
    return steal_ptr(&text);
}
