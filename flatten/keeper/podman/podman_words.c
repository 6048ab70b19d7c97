#include "flatten/keeper/podman/podman_words.h"

#include "base/buf.h"

#include <string.h>

static int add(struct podman_words *w, char *word, struct err *err)
{
    if (!word)
        return err_nomem(err);
    if (w->count == PODMAN_MOST_WORDS) {
        free(word);
        return err_set(err, ERR_LIMIT, "too many words for podman");
    }
    w->words[w->count++] = word;
    return 0;
}

/* Adds the options for "[DRIVER@]ROOT[+RUN]", each as one word: podman cannot mistake a path. */
static int add_store(struct podman_words *w, const char *store, struct err *err)
{
    const char *at = store[0] == '/' ? NULL : strchr(store, '@');
    const char *root = at ? at + 1 : store, *plus = strchr(root, '+');

    if (at && add(w, strf("--storage-driver=%.*s", (int)(at - store), store), err) < 0)
        return -1;
    if (plus && add(w, strf("--runroot=%s", plus + 1), err) < 0)
        return -1;
    return add(w, strf("--root=%.*s", plus ? (int)(plus - root) : (int)strlen(root), root), err);
}

int podman_words_make(const struct reference *store, const char *const words[], const char *name,
                      struct podman_words *out, struct err *err)
{
    *out = (struct podman_words){0};
    if (add(out, strdup("podman"), err) < 0 ||
        (store->store && add_store(out, store->store, err) < 0))
        return -1;
    for (size_t i = 0; words[i]; i++)
        if (add(out, strdup(words[i]), err) < 0)
            return -1;
    return name ? add(out, strdup("--"), err) < 0 ? -1 : add(out, strdup(name), err) : 0;
}

void podman_words_clear(struct podman_words *w)
{
    for (size_t i = 0; i < w->count; i++)
        free(w->words[i]);
    *w = (struct podman_words){0};
}
