#include "flatten/keeper/tree/tree_unpack.h"

#include "flatten/keeper/tree/tree_place.h"
#include "flatten/keeper/tree/tree_process.h"
#include "flatten/wire/wire.h"
#include "flatten/wire/wire_entry.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>

struct tree_unpack {
    struct tree_place place;
    pid_t writer; /* 0: none */
    int pipe;     /* for the reader; -1 when it has it */
    int socket;   /* of the tree writer */
    bool ended;   /* it has told how it ended: */
    struct err end;
    uint64_t left_out;
};

static int start_writer(struct tree_unpack *t, bool owners, struct err *err)
{
    enum { PIPE_SIZE = 1 << 20 }; /* bytes; the limit for users without privileges */
    int pair[2], ends[2];

    if (pipe2(ends, O_CLOEXEC) < 0)
        return err_sys(err, "pipe");
    _cleanup_fd_ int input = ends[0];
    t->pipe = ends[1];
    (void)!fcntl(t->pipe, F_SETPIPE_SZ, PIPE_SIZE);
    if (wire_pair(pair, err) < 0)
        return -1;
    _cleanup_fd_ int theirs = pair[1];
    t->socket = pair[0];
    struct tree_process process = {t->place.tree, input, theirs, owners, getpid()};
    fflush(stdout);
    t->writer = fork();
    if (t->writer == 0)
        tree_process_run(&process);
    if (t->writer > 0)
        return 0;
    t->writer = 0;
    return err_sys(err, "fork");
}

struct tree_unpack *tree_unpack_start(const char *path, bool owners, struct err *err)
{
    _cleanup_(cleanup_tree_unpack) struct tree_unpack *t = calloc(1, sizeof(*t));

    if (!t) {
        err_nomem(err);
        return NULL;
    }
    *t = (struct tree_unpack){.place = TREE_PLACE_INIT, .pipe = -1, .socket = -1};
    if (tree_place_make(&t->place, path, err) < 0 || start_writer(t, owners, err) < 0) {
        err_wrap(err, "%s", path);
        return NULL;
    }
    return steal_ptr(&t);
}

int tree_unpack_pipe(struct tree_unpack *t)
{
    return steal_fd(&t->pipe);
}

/* Receives how the tree writer ended: t->end has its error, or none. */
static int receive_end(struct tree_unpack *t, struct err *err)
{
    _cleanup_buf_ struct buf message = BUF_INIT;
    struct wire_entry none;
    int rc = t->ended ? 1 : wire_receive(t->socket, &message, NULL, err);

    if (rc < 0 || t->ended)
        return rc < 0 ? -1 : 0;
    t->ended = true;
    if (rc == 0)
        err_set(&t->end, ERR_SYSTEM, "the process that writes files died");
    else if (message.len == sizeof(t->left_out))
        memcpy(&t->left_out, message.data, sizeof(t->left_out));
    else if (wire_decode_entry(&message, &none, &t->end) >= 0)
        err_set(&t->end, ERR_SYSTEM, "the process that writes files breaks the rules");
    return 0;
}

int tree_unpack_finish(struct tree_unpack *t, uint64_t *left_out, struct err *err)
{
    if (receive_end(t, err) < 0)
        return -1;
    if (t->end.kind != ERR_NONE) {
        *err = t->end;
        return -1;
    }
    *left_out = t->left_out;
    return t->socket;
}

void tree_unpack_explain(struct tree_unpack *t, struct err *err)
{
    struct err ignored = ERR_INIT;

    if (err->sys == EPIPE && receive_end(t, &ignored) == 0 && t->end.kind != ERR_NONE)
        *err = t->end;
}

int tree_unpack_publish(struct tree_unpack *t, struct err *err)
{
    uint64_t left_out;

    return tree_unpack_finish(t, &left_out, err) < 0 ? -1 : tree_place_publish(&t->place, err);
}

void tree_unpack_free(struct tree_unpack *t)
{
    cleanup_fd(&t->pipe);
    cleanup_fd(&t->socket);
    if (t->writer > 0) {
        kill(t->writer, SIGKILL);
        while (waitpid(t->writer, NULL, 0) < 0 && errno == EINTR)
            ;
    }
    tree_place_clear(&t->place);
    free(t);
}
