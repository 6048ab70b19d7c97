#include "shim/privilege/bpf.h"

#include "base/cleanup.h"

#include <stdlib.h>

/* The values that the accumulator can hold when an instruction is reached. */
enum { MOST_VALUES = 4 };

struct reached {
    bool unknown; /* any value */
    unsigned char count;
    uint32_t values[MOST_VALUES];
};

/* The accumulator on one path. */
struct machine {
    bool known;
    uint32_t a;
};

struct program {
    const struct sock_filter *list;
    size_t count;
    uint32_t number, arch;
    struct reached *reached; /* for each instruction */
    bool passes;
};

/*
 * Adds a value to those that reach an instruction. Jumps lead forward only; one beyond the end
 * leads nowhere.
 */
static void mark_reached(struct program *p, size_t at, struct machine m)
{
    if (at >= p->count)
        return;
    struct reached *r = &p->reached[at];
    for (unsigned i = 0; m.known && i < r->count; i++)
        if (r->values[i] == m.a)
            return;
    if (m.known && r->count < MOST_VALUES)
        r->values[r->count++] = m.a;
    else
        r->unknown = true;
}

static bool refuses(uint32_t result)
{
    switch (result & SECCOMP_RET_ACTION_FULL) {
    case SECCOMP_RET_KILL_PROCESS:
    case SECCOMP_RET_KILL_THREAD:
    case SECCOMP_RET_TRAP:
    case SECCOMP_RET_ERRNO:
        return true;
    default:
        return false;
    }
}

/* Returns false if the kernel does not allow this load. */
static bool load_word(const struct program *p, uint32_t offset, struct machine *m)
{
    if (offset % 4 || offset > sizeof(struct seccomp_data) - sizeof(m->a))
        return false;
    m->known = offset == offsetof(struct seccomp_data, nr) ||
               offset == offsetof(struct seccomp_data, arch);
    m->a = offset == offsetof(struct seccomp_data, nr) ? p->number : p->arch;
    return true;
}

static void mask(uint32_t bits, struct machine *m)
{
    m->a = m->known ? m->a & bits : 0;
    m->known = m->known || bits == 0;
}

static bool compare(uint32_t a, const struct sock_filter *i)
{
    switch (BPF_OP(i->code)) {
    case BPF_JEQ:
        return a == i->k;
    case BPF_JGT:
        return a > i->k;
    case BPF_JGE:
        return a >= i->k;
    default:
        return (a & i->k) != 0;
    }
}

/* Follows both branches of a test on an unknown value, unless all values pass the test. */
static void run_branch(struct program *p, size_t at, struct machine m)
{
    const struct sock_filter *i = &p->list[at];
    bool all = BPF_OP(i->code) == BPF_JGE && i->k == 0;
    bool yes = m.known ? compare(m.a, i) : true;
    bool no = m.known ? !yes : !all;

    if (yes)
        mark_reached(p, at + 1 + i->jt, m);
    if (no)
        mark_reached(p, at + 1 + i->jf, m);
}

/* Runs one instruction. One that seccomp does not know ends the path. */
static void run_instruction(struct program *p, size_t at, struct machine m)
{
    const struct sock_filter *i = &p->list[at];

    switch (i->code) {
    case BPF_RET | BPF_K:
        p->passes = p->passes || !refuses(i->k);
        break;
    case BPF_LD | BPF_W | BPF_ABS:
        if (load_word(p, i->k, &m))
            mark_reached(p, at + 1, m);
        break;
    case BPF_ALU | BPF_AND | BPF_K:
        mask(i->k, &m);
        mark_reached(p, at + 1, m);
        break;
    case BPF_JMP | BPF_JA:
        mark_reached(p, at + 1 + (size_t)i->k, m);
        break;
    case BPF_JMP | BPF_JEQ | BPF_K:
    case BPF_JMP | BPF_JGT | BPF_K:
    case BPF_JMP | BPF_JGE | BPF_K:
    case BPF_JMP | BPF_JSET | BPF_K:
        run_branch(p, at, m);
        break;
    default:
        break;
    }
}

int bpf_may_pass(const struct sock_filter *program, size_t count, uint32_t number, uint32_t arch,
                 bool *out, struct err *err)
{
    _cleanup_free_ struct reached *reached = calloc(count + 1, sizeof(*reached));
    struct program p = {
        .list = program, .count = count, .number = number, .arch = arch, .reached = reached};

    *out = false;
    if (!reached)
        return err_nomem(err);
    mark_reached(&p, 0, (struct machine){.known = true});
    for (size_t at = 0; at < count && !p.passes; at++) {
        const struct reached *r = &reached[at];
        for (unsigned i = 0; i < r->count; i++)
            run_instruction(&p, at, (struct machine){.known = true, .a = r->values[i]});
        if (r->unknown)
            run_instruction(&p, at, (struct machine){.known = false});
    }
    *out = p.passes;
    return 0;
}
