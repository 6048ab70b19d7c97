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

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

/* One lock and one signal of change for all relays that a thread may wait for at the same time. */
struct hub {
    pthread_mutex_t lock;
    pthread_cond_t changed;
};

struct hub *hub_new(struct err *err) must_check;
void hub_free(struct hub *hub);

DEFINE_CLEANUP(hub, struct hub, hub_free)
#define _cleanup_hub_ _cleanup_(cleanup_hub)

enum { RELAY_MOST_CONSUMERS = 2 };

struct relay;

/* The hub is borrowed. */
struct relay *relay_new(struct hub *hub, unsigned consumers, unsigned blocks, size_t block_size,
                        struct err *err) must_check;
/* All threads have left it. */
void relay_free(struct relay *r);

DEFINE_CLEANUP(relay, struct relay, relay_free)
#define _cleanup_relay_ _cleanup_(cleanup_relay)

/* Appends, waiting for room; -1 with the consumer's error. NULL data stands for zeros. */
int relay_write(struct relay *r, const void *data, size_t len, struct err *err) must_check;

/*
 * The same for who makes the bytes there: waits for *room bytes (at least one) at *to; then says
 * how many of them were filled.
 */
int relay_reserve(struct relay *r, void **to, size_t *room, struct err *err) must_check;
void relay_commit(struct relay *r, size_t len);

/* The end: of the content, or (with an error) of what could be had of it. */
void relay_end(struct relay *r, const struct err *why);

/*
 * The present block of a consumer (numbered from 0), waiting for one: 1, 0 at the end, or -1. It is
 * valid until relay_release.
 */
int relay_take(struct relay *r, unsigned consumer, const void **data, size_t *len,
               struct err *err) must_check;
void relay_release(struct relay *r, unsigned consumer);

/*
 * The same for who holds the hub's lock: is there something for this consumer (a block, the end, an
 * error)? What is it? The block is done with. Everybody stops.
 */
bool relay_ready(const struct relay *r, unsigned consumer);
int relay_present(const struct relay *r, unsigned consumer, const void **data, size_t *len,
                  struct err *err) must_check;
void relay_drop(struct relay *r, unsigned consumer);
void relay_halt(struct relay *r, const struct err *why);

/* Stops everybody; the first reason counts. */
void relay_stop(struct relay *r, const struct err *why);

/* Starts a thread that catches no signals: they are the main thread's. */
struct worker;
typedef void worker_run(void *ctx);
struct worker *worker_start(worker_run *run, void *ctx, struct err *err) must_check;
/* Waits for its end. */
void worker_join(struct worker *w);

#endif
