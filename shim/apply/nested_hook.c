#include "shim/apply/nested_hook.h"

#include "shim/apply/own_hook.h"

int nested_words_add(struct nested_words *words, const char *word, struct arena *arena,
                     struct err *err)
{
    words->list = arena_extend(arena, words->list, words->count, sizeof(*words->list));
    if (!word || !words->list)
        return err_nomem(err);
    words->list[words->count++] = word;
    return 0;
}

int nested_hook_put(const struct spec *spec, struct json_doc *doc, const struct nested_words *words,
                    bool *changed, struct err *err)
{
    return own_hook_put(&own_hook_mounts, spec, doc, words->count != 0, words->list, words->count,
                        changed, err);
}
