#include "shim/runtime/words.h"

#include "base/buf.h"

#include <stdlib.h>
#include <string.h>

int words_index(const struct words *words, const char *word)
{
    int i = 0;

    while (i < words->argc && words->argv[i] != word)
        i++;
    return i;
}

/* Copies argv, with room for the two words of an option. */
static int own_words(struct words *words, struct err *err)
{
    if (words->own)
        return 0;
    words->own = calloc((size_t)words->argc + 3, sizeof(*words->own));
    if (!words->own)
        return err_nomem(err);
    for (int i = 0; i < words->argc; i++)
        words->own[i] = words->argv[i];
    words->argv = words->own;
    return 0;
}

int words_replace(struct words *words, const char *value, const char *by, struct err *err)
{
    int at = 0;

    if (own_words(words, err) < 0)
        return -1;
    while (value < words->own[at] || value > words->own[at] + strlen(words->own[at]))
        at++;
    char *made = strf("%.*s%s", (int)(value - words->own[at]), words->own[at], by);
    if (!made)
        return err_nomem(err);
    words->made[words->made_count++] = words->own[at] = made;
    return 0;
}

int words_insert(struct words *words, const char *before, char *option, const char *value,
                 struct err *err)
{
    char *made = own_words(words, err) < 0 ? NULL : strdup(value);

    if (!made)
        return err_nomem(err);
    words->made[words->made_count++] = made;
    int at = words_index(words, before);
    if (at > 0 && strcmp(words->own[at - 1], "--") == 0)
        at--;
    memmove(words->own + at + 2, words->own + at, (size_t)(words->argc - at) * sizeof(*words->own));
    words->own[at] = option;
    words->own[at + 1] = made;
    words->argc += 2;
    return 0;
}

void words_free(struct words *words)
{
    free(words->own);
    for (size_t i = 0; i < words->made_count; i++)
        free(words->made[i]);
}
