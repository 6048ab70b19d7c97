/* Classic BPF programs as seccomp runs them (seccomp(2)), on values. Pure. */
#ifndef SHIM_BPF_H
#define SHIM_BPF_H

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>

/*
 * What the program returns for a call: SECCOMP_RET_ALLOW and so on. A program that the kernel
 * would not have taken (an unknown instruction, a jump beyond its end) kills.
 */
unsigned bpf_run(const struct sock_filter *program, size_t count, const struct seccomp_data *data);

#endif
