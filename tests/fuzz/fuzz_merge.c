/*
 * The merge as a pure function, on layers out of few bytes: for any layers, the output comes in a
 * legal order, once, and only from the input. A result is the tree of the model (fuzz_model.h).
 */
#include "fuzz.h"
#include "fuzz_model.h"
#include "fuzz_stack.h"
#include "tests/unit/lib/merge/merge_run.h"

/* A name that no layer has an entry at or below cannot be in the tree. */
static bool known(const struct stack *s, const char *path)
{
    size_t len = strlen(path);

    for (size_t i = 0; i < s->count; i++)
        if (strncmp(s->list[i].info.path, path, len) == 0 || s->list[i].info.kind == ENTRY_SYMLINK)
            return true;
    return false;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct stack stack;
    static struct merge_run r;
    struct err err = ERR_INIT;
    _cleanup_buf_ struct buf text = BUF_INIT;

    fuzz_stack(&stack, data, size);
    r = (struct merge_run){.stack = &stack, .merge = merge_new(&err)};
    must(r.merge);
    int rc = merge_run(&r, &err);
    must(rc >= 0 || err.kind == ERR_FORMAT);
    must(tree_count(merge_tree(r.merge)) <= 1 + 8 * (stack.count + 1) * 40);
    merge_free(r.merge);
    if (r.result.fault[0])
        fprintf(stderr, "%s\n", r.result.fault);
    must(!r.result.fault[0]);
    for (size_t i = 0; i < r.result.count; i++)
        must(known(&stack, r.result.list[i].path));
    result_text(&r.result, &text);
    if (rc == 0)
        model_check(&stack, text.data);
    result_free(&r.result);
    return 0;
}
