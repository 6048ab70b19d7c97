/*
 * Command lines, one word a line: a line without a known flavour means the same in both, or is
 * refused, and a line that creates a container names one. An exec has one container and one process
 * file.
 */
#include "fuzz.h"
#include "shim/runtime/call/call_read.h"

#include <string.h>

enum { MOST_WORDS = 64 };

static bool same_text(const char *a, const char *b)
{
    return a == b || (a && b && strcmp(a, b) == 0);
}

static void check_flavor(int count, char **words, enum lowlevel_flavor flavor,
                         const struct call *agreed)
{
    struct err err = ERR_INIT;
    struct call call;
    int rc = call_read(count, words, flavor, &call, &err);

    must(rc == 0 || rc == -1);
    if (rc < 0) {
        must(err.msg[0] != '\0');
    } else if (call_edits(&call)) {
        must(call_edits(agreed) && same_text(call.id, agreed->id));
        must(same_text(call.bundle, agreed->bundle) && same_text(call.config, agreed->config));
    } else if (call_execs(&call)) {
        must(call_execs(agreed) && same_text(call.id, agreed->id));
        must(same_text(call.process, agreed->process));
    } else if (call_edits(agreed)) { /* this flavour refuses the line itself */
        must(call.verb == VERB_UNKNOWN);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *words[MOST_WORDS + 1], *text = malloc(size + 1), *rest = text;
    struct err err = ERR_INIT;
    struct call_own own;
    struct call call;
    int count = 0;

    must(text != NULL);
    memcpy(text, data, size);
    text[size] = '\0';
    while (rest && count < MOST_WORDS)
        words[count++] = strsep(&rest, "\n");
    words[count] = NULL;
    if (call_own_parse(count, words, &own, &err) == 0) {
        must(own.count <= count);
        int rc = call_read(count - own.count, words + own.count, FLAVOR_UNKNOWN, &call, &err);
        must(rc >= -1 && rc <= 1);
        must(rc != 0 || !call_edits(&call) || call.id != NULL);
        for (enum lowlevel_flavor f = FLAVOR_RUNC; rc == 0 && f <= FLAVOR_CRUN; f++)
            check_flavor(count - own.count, words + own.count, f, &call);
    }
    free(text);
    return 0;
}
