/* A question to the keeper, for the parts of the reader. */
#ifndef FLATTEN_READER_INTERNAL_H
#define FLATTEN_READER_INTERNAL_H

#include "flatten/reader/reader.h"
#include "flatten/wire/wire.h"

struct answer {
    struct wire_reply reply; /* its texts point into `message` */
    struct buf message;
    int fd; /* owned; -1 without one */
};

#define ANSWER_INIT                                                                                \
    {                                                                                              \
        .fd = -1                                                                                   \
    }

/* 0, or -1 with the keeper's error; the answer is cleared with answer_clear in any case. */
int reader_ask(struct reader *r, const struct wire_request *request, struct answer *out,
               struct err *err) must_check;

/* One more reply to what was asked. */
int reader_next(struct reader *r, struct answer *out, struct err *err) must_check;

/* The answer's descriptor, the caller's: -1 with an error if it has none. */
int answer_fd(struct answer *a, struct err *err) must_check;

void answer_clear(struct answer *a);

#define _cleanup_answer_ _cleanup_(answer_clear)

#endif
