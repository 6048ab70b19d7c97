#include "flatten/reader/reader_internal.h"

int reader_tree(struct reader *r, struct err *err)
{
    const struct wire_request request = {.op = WIRE_TREE};
    _cleanup_answer_ struct answer a = ANSWER_INIT;

    return reader_ask(r, &request, &a, err) < 0 ? -1 : answer_fd(&a, err);
}

int reader_tree_end(struct reader *r, uint64_t *left_out, struct err *err)
{
    const struct wire_request request = {.op = WIRE_TREE_END};
    _cleanup_answer_ struct answer a = ANSWER_INIT;

    if (reader_ask(r, &request, &a, err) < 0)
        return -1;
    *left_out = a.reply.number;
    return answer_fd(&a, err);
}

int reader_tree_publish(struct reader *r, struct err *err)
{
    const struct wire_request request = {.op = WIRE_TREE_NAME};
    _cleanup_answer_ struct answer a = ANSWER_INIT;

    return reader_ask(r, &request, &a, err);
}
