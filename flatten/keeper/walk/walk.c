#include "flatten/keeper/walk/walk_internal.h"

#include "flatten/wire/wire.h"
#include "flatten/wire/wire_entry.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/capability.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>

/* Keeps the capabilities to read any file, and any attribute (trusted.*), and no others. */
static int drop_capabilities(struct err *err)
{
    static const cap_value_t kept[] = {CAP_DAC_READ_SEARCH, CAP_SYS_ADMIN};
    cap_t caps = cap_init();

    if (!caps)
        return err_sys(err, "cap_init");
    int rc = cap_set_flag(caps, CAP_PERMITTED, 2, kept, CAP_SET) < 0 ||
                     cap_set_flag(caps, CAP_EFFECTIVE, 2, kept, CAP_SET) < 0 ||
                     cap_set_proc(caps) < 0
                 ? err_sys(err, "cannot drop capabilities")
                 : 0;
    cap_free(caps);
    return rc;
}

/* Closes all descriptors but the standard ones and the socket, which becomes the next. */
static int keep_socket(int socket, struct err *err)
{
    enum { SOCKET = STDERR_FILENO + 1 };

    if (socket != SOCKET && dup3(socket, SOCKET, O_CLOEXEC) < 0)
        return err_sys(err, "dup");
    if (syscall(SYS_close_range, SOCKET + 1, ~0U, 0) < 0)
        return err_sys(err, "close_range (Linux 5.9)");
    return SOCKET;
}

static int confine(const struct walk_layers *layers, int *socket, struct err *err)
{
    if (walk_mount(layers, err) < 0 || (*socket = keep_socket(*socket, err)) < 0)
        return -1;
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
        return err_sys(err, "PR_SET_NO_NEW_PRIVS");
    return drop_capabilities(err);
}

/* Sends the end of a walk, or of the preparation: `failure` or NULL. */
static int send_end(int socket, const struct err *failure, struct err *err)
{
    _cleanup_buf_ struct buf message = BUF_INIT;

    wire_encode_end(failure, &message);
    return wire_send(socket, &message, -1, err);
}

/* Walks what a request asks for; any other request is an error. */
static int answer(const struct walk_layers *layers, uint32_t number, int socket, struct err *err)
{
    struct err failure = ERR_INIT;
    char root[16];

    if (layers->apart ? number < 1 || number > layers->count : number != 0)
        return err_set(err, ERR_FORMAT, "a walk of a layer that is not there");
    snprintf(root, sizeof(root), number ? "/%u" : "/", number);
    int rc = walk_tree(socket, root, &failure);
    return send_end(socket, rc < 0 ? &failure : NULL, err);
}

/* Receives a request. Returns 1, 0 when the reader is gone, or -1. */
static int receive_request(int socket, uint32_t *number, struct err *err)
{
    _cleanup_buf_ struct buf request = BUF_INIT;
    int rc = wire_receive(socket, &request, NULL, err);

    return rc > 0 && wire_decode_walk(&request, number, err) < 0 ? -1 : rc;
}

/* Walks at each request, until the reader is gone. */
static int serve(const struct walk_layers *layers, int socket, struct err *err)
{
    uint32_t number;
    int rc;

    while ((rc = receive_request(socket, &number, err)) > 0)
        if (answer(layers, number, socket, err) < 0)
            return -1;
    return rc;
}

int walk_here(int socket, struct err *err)
{
    struct err failure = ERR_INIT;
    uint32_t number;
    int rc = receive_request(socket, &number, err);

    if (rc <= 0)
        return rc;
    rc = walk_whole(socket, &failure);
    return send_end(socket, rc < 0 ? &failure : NULL, err);
}

static void walk_process(const struct walk_layers *layers, int socket)
{
    struct err err = ERR_INIT, ignored = ERR_INIT;
    int rc = confine(layers, &socket, &err);

    if (send_end(socket, rc < 0 ? &err : NULL, &ignored) == 0 && rc == 0)
        rc = serve(layers, socket, &ignored);
    _exit(rc < 0);
}

static int wait_ready(int socket, struct err *err)
{
    _cleanup_buf_ struct buf message = BUF_INIT;
    struct wire_entry none;
    int rc = wire_receive(socket, &message, NULL, err);

    if (rc == 0)
        return err_set(err, ERR_SYSTEM, "the process that mounts the layers died");
    return rc < 0 || wire_decode_entry(&message, &none, err) != 0 ? -1 : 0;
}

int walk_start(const struct walk_layers *layers, struct err *err)
{
    pid_t keeper = getpid();
    int pair[2];

    if (wire_pair(pair, err) < 0)
        return -1;
    fflush(stdout);
    pid_t pid = fork();
    if (pid == 0) {
        if (prctl(PR_SET_PDEATHSIG, SIGKILL) < 0 || getppid() != keeper)
            _exit(1);
        close(pair[0]);
        walk_process(layers, pair[1]);
    }
    close(pair[1]);
    _cleanup_fd_ int socket = pair[0];
    if (pid < 0)
        return err_sys(err, "fork");
    if (wait_ready(socket, err) < 0) {
        cleanup_fd(&socket);
        socket = -1;
        waitpid(pid, NULL, 0);
        return -1;
    }
    return steal_fd(&socket);
}
