/* /dev/shm, memlock and workers in the policy, against what loaders of data need. */
#include "shim/admin/doctor/doctor.h"

#include "base/human.h"
#include "shim/gather/tuning.h"

static const uint64_t least_shm = (uint64_t)1 << 30, least_memlock = 64u << 20;

static void examine_shm(const struct policy *policy, const struct tuning_facts *host,
                        struct diagnoses *out)
{
    const struct policy_amount *shm = &policy->tuning.of[TUNING_SHM].value;
    const char *path = policy->files[0].path;
    bool small = shm->given && !shm->share && shm->number < least_shm;
    bool large = shm->given && !shm->share && shm->number > host->memory;
    char size[HUMAN_SIZE], memory[HUMAN_SIZE];
    struct diagnosis *of;

    if (shm->given && !small && !large) {
        diagnoses_add(out, DIAGNOSIS_OK, "tuning-shm", path, "it sets the size of /dev/shm");
        return;
    }
    if (large) {
        of = diagnoses_add(out, DIAGNOSIS_WARNING, "tuning-shm", path,
                           "it sets /dev/shm to %s, and this host has %s of memory",
                           human_size_binary(shm->number, size),
                           human_size_binary(host->memory, memory));
        diagnosis_cost(out, of, "a container that fills it makes the kernel kill processes");
    } else {
        of = small ? diagnoses_add(out, DIAGNOSIS_ADVICE, "tuning-shm", path,
                                   "it sets /dev/shm to only %s",
                                   human_size_binary(shm->number, size))
                   : diagnoses_add(out, DIAGNOSIS_ADVICE, "tuning-shm", path,
                                   "it does not set the size of /dev/shm: Docker's is 64 MiB");
        diagnosis_cost(out, of,
                       "workers of a DataLoader pass batches through it, and end with a bus error "
                       "when it is full");
    }
    diagnosis_mend(out, of, "\"tuning\": {\"shm_size\": \"50%%\"} in the policy");
}

static void examine_memlock(const struct policy *policy, struct diagnoses *out)
{
    const struct policy_amount *memlock = &policy->tuning.of[TUNING_MEMLOCK].value;
    const char *path = policy->files[0].path;
    char size[HUMAN_SIZE];

    if (memlock->given && memlock->number >= least_memlock) {
        diagnoses_add(out, DIAGNOSIS_OK, "tuning-memlock", path, "it sets memlock");
        return;
    }
    struct diagnosis *of =
        memlock->given
            ? diagnoses_add(out, DIAGNOSIS_ADVICE, "tuning-memlock", path,
                            "it sets memlock to only %s", human_size_binary(memlock->number, size))
            : diagnoses_add(out, DIAGNOSIS_ADVICE, "tuning-memlock", path,
                            "it does not set memlock: the engine's is 8 MiB as a rule");
    diagnosis_cost(out, of, "pin_memory and RDMA fail, or fall back to slower copies");
    diagnosis_mend(out, of, "\"tuning\": {\"memlock\": \"unlimited\"} in the policy");
}

static void advise_workers(struct diagnosis *of, uint64_t cpus, struct diagnoses *out)
{
    diagnosis_mend(out, of,
                   "\"tuning\": {\"threads\": true, \"workers\": \"75%%\"} in the policy: %llu "
                   "workers for a container with all processors",
                   (unsigned long long)(cpus * 3 / 4 ? cpus * 3 / 4 : 1));
}

static void examine_workers(const struct policy *policy, const struct tuning_facts *host,
                            struct diagnoses *out)
{
    const struct policy_amount *workers = &policy->tuning.of[TUNING_WORKERS].value;
    const char *path = policy->files[0].path;
    unsigned long long cpus = host->cpus, number = workers->number;
    struct diagnosis *of;

    if (workers->given && !workers->share && number > cpus) {
        of = diagnoses_add(out, DIAGNOSIS_ADVICE, "tuning-workers", path,
                           "it tells containers to start %llu workers, and this host has %llu "
                           "processor%s",
                           number, cpus, human_s(cpus));
        diagnosis_cost(out, of,
                       "workers wait for each other, and each has its own copy of the batches that "
                       "it loads ahead");
        advise_workers(of, cpus, out);
        return;
    }
    if (workers->given || policy->tuning.threads) {
        diagnoses_add(out, DIAGNOSIS_OK, "tuning-workers", path,
                      "it tells containers how many threads and workers to start");
        return;
    }
    of = diagnoses_add(out, DIAGNOSIS_ADVICE, "tuning-workers", path,
                       "it tells containers nothing about threads and workers");
    diagnosis_cost(out, of,
                   "OpenMP and BLAS start a thread for each of this host's %llu processors, in "
                   "each worker of a DataLoader too, whatever --cpus says",
                   cpus);
    advise_workers(of, cpus, out);
}

void doctor_tuning(const struct policy *policy, struct diagnoses *out)
{
    struct tuning_facts host;

    tuning_gather(&host);
    examine_shm(policy, &host, out);
    examine_memlock(policy, out);
    examine_workers(policy, &host, out);
}
