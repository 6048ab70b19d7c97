#include "shim/bpf.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

struct machine {
    uint32_t a;
    size_t at; /* the next instruction */
};

static bool load(struct machine *m, const struct sock_filter *i, const struct seccomp_data *data)
{
    if (i->k % 4 || i->k > sizeof(*data) - sizeof(m->a))
        return false;
    memcpy(&m->a, (const char *)data + i->k, sizeof(m->a));
    return true;
}

static bool jump(struct machine *m, const struct sock_filter *i)
{
    bool yes;

    switch (BPF_OP(i->code)) {
    case BPF_JA:
        m->at += i->k;
        return true;
    case BPF_JEQ:
        yes = m->a == i->k;
        break;
    case BPF_JGT:
        yes = m->a > i->k;
        break;
    case BPF_JGE:
        yes = m->a >= i->k;
        break;
    case BPF_JSET:
        yes = (m->a & i->k) != 0;
        break;
    default:
        return false;
    }
    m->at += yes ? i->jt : i->jf;
    return true;
}

unsigned bpf_run(const struct sock_filter *program, size_t count, const struct seccomp_data *data)
{
    struct machine m = {0};

    while (m.at < count) {
        const struct sock_filter *i = &program[m.at++];
        bool known = false;
        if (i->code == (BPF_RET | BPF_K))
            return i->k;
        if (i->code == (BPF_LD | BPF_W | BPF_ABS))
            known = load(&m, i, data);
        else if (BPF_CLASS(i->code) == BPF_JMP && BPF_SRC(i->code) == BPF_K)
            known = jump(&m, i);
        else if (i->code == (BPF_ALU | BPF_AND | BPF_K)) {
            m.a &= i->k;
            known = true;
        }
        if (!known)
            break;
    }
    return SECCOMP_RET_KILL_PROCESS;
}
