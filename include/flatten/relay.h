/*
 * Bytes on their way between threads: one producer fills blocks, each of several consumers sees
 * them all, in order. The number of blocks is fixed, so whoever is fast waits. Every block but the
 * last is full: what a consumer sees does not depend on timing.
 *
 * An error of the producer reaches the consumers behind the bytes before it; one of a consumer
 * stops everybody at once.
 */
#ifndef FLATTEN_RELAY_H
#define FLATTEN_RELAY_H

#include "base/cleanup.h"
#include "base/err.h"

#include <stddef.h>

enum { RELAY_MOST_CONSUMERS = 2 };

struct relay;

struct relay *relay_new(unsigned consumers, unsigned blocks, size_t block_size,
                        struct err *err) must_check;
/* All threads have left it. */
void relay_free(struct relay *r);

DEFINE_CLEANUP(relay, struct relay, relay_free)
#define _cleanup_relay_ _cleanup_(cleanup_relay)

/* Appends, waiting for room; -1 with the consumer's error. NULL data stands for zeros. */
int relay_write(struct relay *r, const void *data, size_t len, struct err *err) must_check;

/* The end: of the content, or (with an error) of what could be had of it. */
void relay_end(struct relay *r, const struct err *why);

/*
 * The present block of a consumer (numbered from 0), waiting for one: 1, 0 at the end, or -1. It is
 * valid until relay_release.
 */
int relay_take(struct relay *r, unsigned consumer, const void **data, size_t *len,
               struct err *err) must_check;
void relay_release(struct relay *r, unsigned consumer);

/* Stops everybody; the first reason counts. */
void relay_stop(struct relay *r, const struct err *why);

/* Starts a thread that catches no signals: they are the main thread's. */
struct worker;
typedef void worker_run(void *ctx);
struct worker *worker_start(worker_run *run, void *ctx, struct err *err) must_check;
/* Waits for its end. */
void worker_join(struct worker *w);

#endif
