#include "shim/admin/watch/trace/program.h"

#include <fcntl.h>
#include <string.h>

/* The fields that the kernel passes to a program of a tracepoint of a system call. */
enum { FIELD_ARGS = 16, FIELD_RESULT = 16 };

/* Places on the stack of a program, below its frame pointer. */
enum { AT_KEY = -8, AT_IDS = -16, AT_PENDING = -32 };

/* BPF_K and BPF_IMM, for operands that are numbers, are 0 and not written with other zeros. */
enum { R0, R1, R2, R3, R4, R6 = 6, R7, R8, R10 = 10 };

static size_t put(struct program *p, uint8_t code, unsigned dst, unsigned src, int off, int32_t imm)
{
    p->list[p->count] = (struct bpf_insn){.code = code,
                                          .dst_reg = (uint8_t)(dst & 15),
                                          .src_reg = (uint8_t)(src & 15),
                                          .off = (int16_t)off,
                                          .imm = imm};
    return p->count++;
}

static void move(struct program *p, unsigned dst, unsigned src)
{
    put(p, BPF_ALU64 | BPF_MOV | BPF_X, dst, src, 0, 0);
}

static void move_number(struct program *p, unsigned dst, int32_t number)
{
    put(p, BPF_ALU64 | BPF_MOV | BPF_K, dst, 0, 0, number);
}

/* Sets a register to an address: another register plus a number. */
static void address(struct program *p, unsigned dst, unsigned base, int32_t offset)
{
    move(p, dst, base);
    put(p, BPF_ALU64 | BPF_ADD, dst, 0, 0, offset);
}

/* Sets a register to 64 bits; `kind` BPF_PSEUDO_MAP_FD makes a descriptor the map. */
static void wide(struct program *p, unsigned dst, unsigned kind, uint64_t number)
{
    put(p, BPF_LD | BPF_DW, dst, kind, 0, (int32_t)(uint32_t)number);
    put(p, 0, 0, 0, 0, (int32_t)(uint32_t)(number >> 32));
}

static void load(struct program *p, unsigned dst, unsigned base, int offset)
{
    put(p, BPF_LDX | BPF_MEM | BPF_DW, dst, base, offset, 0);
}

static void store(struct program *p, unsigned base, int offset, unsigned src)
{
    put(p, BPF_STX | BPF_MEM | BPF_DW, base, src, offset, 0);
}

static void call(struct program *p, int32_t helper)
{
    put(p, BPF_JMP | BPF_CALL, 0, 0, 0, helper);
}

static void leave(struct program *p)
{
    move_number(p, R0, 0);
    put(p, BPF_JMP | BPF_EXIT, 0, 0, 0, 0);
}

/* Leaves the program unless the comparison of a register with a number holds. */
static void leave_unless(struct program *p, uint8_t comparison, unsigned reg, int32_t number)
{
    put(p, BPF_JMP | comparison | BPF_K, reg, 0, 2, number);
    leave(p);
}

/* Keeps the thread as the key of the hash. */
static void put_key(struct program *p)
{
    call(p, BPF_FUNC_get_current_pid_tgid);
    store(p, R10, AT_KEY, R0);
}

static void put_map_and_key(struct program *p, int map)
{
    wide(p, R1, BPF_PSEUDO_MAP_FD, (uint64_t)map);
    address(p, R2, R10, AT_KEY);
}

static void put_filter(struct program *p, const struct tracer_filter *filter)
{
    if (filter->by_namespace) {
        wide(p, R1, 0, filter->dev);
        wide(p, R2, 0, filter->inode);
        address(p, R3, R10, AT_IDS);
        move_number(p, R4, (int32_t)sizeof(struct bpf_pidns_info));
        call(p, BPF_FUNC_get_ns_current_pid_tgid);
        leave_unless(p, BPF_JEQ, R0, 0);
        put_key(p);
        return;
    }
    put_key(p);
    put(p, BPF_ALU64 | BPF_RSH | BPF_K, R0, 0, 0, 32);
    leave_unless(p, BPF_JNE, R0, (int32_t)filter->not_pid);
}

/* Stores the arguments: the name's address, 0 without one, and the descriptor. */
static void put_arguments(struct program *p, const struct tracepoint_call *c)
{
    if (c->argument == TRACEPOINT_NO_NAME)
        move_number(p, R0, 0);
    else
        load(p, R0, R6, FIELD_ARGS + 8 * (int)c->argument);
    store(p, R10, AT_PENDING, R0);
    if (c->argument)
        load(p, R0, R6, FIELD_ARGS);
    else
        move_number(p, R0, AT_FDCWD);
    put(p, BPF_STX | BPF_MEM | BPF_W, R10, R0,
        AT_PENDING + (int)offsetof(struct program_pending, dirfd), 0);
    put(p, BPF_ST | BPF_MEM | BPF_W, R10, 0,
        AT_PENDING + (int)offsetof(struct program_pending, call), (int32_t)c->call);
}

void program_enter(struct program *out, const struct tracer_filter *filter, int pending,
                   const struct tracepoint_call *c)
{
    *out = (struct program){0};
    move(out, R6, R1);
    if (strcmp(c->name, "fcntl") == 0) {
        load(out, R0, R6, FIELD_ARGS + 8);
        put(out, BPF_JMP | BPF_JEQ | BPF_K, R0, 0, 3, F_DUPFD_CLOEXEC); /* over the next check */
        leave_unless(out, BPF_JEQ, R0, F_DUPFD);
    }
    put_filter(out, filter);
    put_arguments(out, c);
    put_map_and_key(out, pending);
    address(out, R3, R10, AT_PENDING);
    move_number(out, R4, BPF_ANY);
    call(out, BPF_FUNC_map_update_elem);
    leave(out);
}

/* Counts a record that is lost, and leaves. */
static void put_lost(struct program *p, int lost)
{
    put(p, BPF_ST | BPF_MEM | BPF_W, R10, 0, AT_IDS, 0);
    wide(p, R1, BPF_PSEUDO_MAP_FD, (uint64_t)lost);
    address(p, R2, R10, AT_IDS);
    call(p, BPF_FUNC_map_lookup_elem);
    leave_unless(p, BPF_JNE, R0, 0);
    move_number(p, R1, 1);
    put(p, BPF_STX | BPF_ATOMIC | BPF_DW, R0, R1, 0, BPF_ADD);
    leave(p);
}

/* Takes the pending call: the address of its name to R8, the rest to the stack. */
static void put_take(struct program *p, int pending)
{
    put_map_and_key(p, pending);
    call(p, BPF_FUNC_map_lookup_elem);
    leave_unless(p, BPF_JNE, R0, 0);
    load(p, R8, R0, 0);
    load(p, R1, R0, (int)offsetof(struct program_pending, dirfd));
    store(p, R10, AT_PENDING, R1);
    put_map_and_key(p, pending);
    call(p, BPF_FUNC_map_delete_elem);
}

/* Fills the record at R7. */
static void put_record(struct program *p)
{
    load(p, R1, R10, AT_KEY);
    store(p, R7, offsetof(struct watch_record, task), R1);
    load(p, R1, R10, AT_PENDING);
    store(p, R7, offsetof(struct watch_record, dirfd), R1);
    load(p, R1, R6, FIELD_RESULT);
    store(p, R7, offsetof(struct watch_record, result), R1);
    address(p, R1, R7, (int32_t)offsetof(struct watch_record, comm));
    move_number(p, R2, WATCH_COMM);
    call(p, BPF_FUNC_get_current_comm);
    address(p, R1, R7, (int32_t)offsetof(struct watch_record, name));
    move_number(p, R2, WATCH_NAME);
    move(p, R3, R8);
    call(p, BPF_FUNC_probe_read_user_str);
    store(p, R7, offsetof(struct watch_record, len), R0);
}

void program_exit(struct program *out, int pending, int ring, int lost)
{
    *out = (struct program){0};
    move(out, R6, R1);
    put_key(out);
    put_take(out, pending);
    wide(out, R1, BPF_PSEUDO_MAP_FD, (uint64_t)ring);
    move_number(out, R2, (int32_t)sizeof(struct watch_record));
    move_number(out, R3, 0);
    call(out, BPF_FUNC_ringbuf_reserve);
    size_t jump = put(out, BPF_JMP | BPF_JNE | BPF_K, R0, 0, 0, 0);
    put_lost(out, lost);
    out->list[jump].off = (int16_t)(out->count - jump - 1);
    move(out, R7, R0);
    put_record(out);
    move(out, R1, R7);
    move_number(out, R2, BPF_RB_NO_WAKEUP);
    call(out, BPF_FUNC_ringbuf_submit);
    leave(out);
}
