/*
 * Passes bytes between threads: one producer fills blocks; each consumer sees all of them, in
 * order. The number of blocks is fixed, so a fast thread waits for a slow one. Each block is full,
 * but for the last and those of a flush: what a consumer sees does not depend on timing.
 *
 * An error of the producer reaches the consumers after the bytes before it. An error of a consumer
 * stops all threads at once.
 */
#ifndef FLATTEN_RELAY_H
#define FLATTEN_RELAY_H

#include "base/cleanup.h"
#include "base/err.h"

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

/* One lock and one condition for all relays that a thread may wait for at the same time. */
struct hub {
    pthread_mutex_t lock;
    pthread_cond_t changed;
};

/* NULL without memory. */
struct hub *hub_new(struct err *err) must_check;

/* No relay may use it any more. */
void hub_free(struct hub *hub);

/* Waits, with the lock, until a thread says that something has changed. */
void hub_wait(struct hub *hub);

DEFINE_CLEANUP(hub, struct hub, hub_free)
#define _cleanup_hub_ _cleanup_(cleanup_hub)

enum { RELAY_MOST_CONSUMERS = 2 };

struct relay;

/* A relay of `blocks` blocks of `block_size` bytes. The hub is borrowed. NULL without memory. */
struct relay *relay_new(struct hub *hub, unsigned consumers, unsigned blocks, size_t block_size,
                        struct err *err) must_check;
/* No thread may use it any more. */
void relay_free(struct relay *r);

DEFINE_CLEANUP(relay, struct relay, relay_free)
#define _cleanup_relay_ _cleanup_(cleanup_relay)

/*
 * Appends bytes (`data` NULL: zeros), and waits for room. -1 with the error of a consumer, or
 * without memory, which stops all threads.
 */
int relay_write(struct relay *r, const void *data, size_t len, struct err *err) must_check;

/*
 * Appends without a copy: waits for *room bytes (at least one) at *to, to be filled before
 * relay_commit.
 */
int relay_reserve(struct relay *r, void **to, size_t *room, struct err *err) must_check;

/* Says how many of the reserved bytes were filled. */
void relay_commit(struct relay *r, size_t len);

/*
 * Passes on what was appended, although the block is not full; an empty block, if it was nothing.
 * Waits and fails as relay_write.
 */
int relay_flush(struct relay *r, struct err *err) must_check;

/* Ends the content; with `why`, because of an error. */
void relay_end(struct relay *r, const struct err *why);

/*
 * Waits for the consumer's next block; consumers are numbered from 0. Returns 1 with a block that
 * stays until relay_release, 0 at the end, or -1.
 */
int relay_take(struct relay *r, unsigned consumer, const void **data, size_t *len,
               struct err *err) must_check;

/* Ends the use of the block that relay_take returned. */
void relay_release(struct relay *r, unsigned consumer);

/* ---- called with the hub's lock, by a thread that serves several relays ---- */

/* Returns true if there is a block for the consumer, the end or an error. */
bool relay_ready(const struct relay *r, unsigned consumer);

/* As relay_take, when relay_ready is true. */
int relay_present(const struct relay *r, unsigned consumer, const void **data, size_t *len,
                  struct err *err) must_check;

/* As relay_release. */
void relay_drop(struct relay *r, unsigned consumer);

/* As relay_stop. */
void relay_halt(struct relay *r, const struct err *why);

/* ---- called without the lock ---- */

/* Stops all threads. The first reason is the one that they report. */
void relay_stop(struct relay *r, const struct err *why);

struct worker;
typedef void worker_run(void *ctx);

/* Starts a thread with all signals blocked: the main thread handles them. */
struct worker *worker_start(worker_run *run, void *ctx, struct err *err) must_check;

/* Waits for the thread's end, and frees it. */
void worker_join(struct worker *w);

#endif
