#include "shim/admin/doctor/doctor.h"

#include "shim/admin/check/lint.h"

#include <unistd.h>

static void examine_findings(const struct policy *policy, struct diagnoses *out)
{
    _cleanup_findings_ struct findings findings = {0};

    if (!diagnoses_want(out, "policy"))
        return;
    lint_policy(policy, &findings);
    lint_host(policy, &findings);
    lint_engines(policy, &findings);
    size_t errors = findings_count(&findings, FINDING_ERROR);
    size_t warnings = findings_count(&findings, FINDING_WARNING);
    const char *path = policy->files[0].path;
    if (errors + warnings == 0) {
        diagnoses_add(out, DIAGNOSIS_OK, "policy", path, "it has no errors (mode %s)",
                      policy_mode_names[policy->mode]);
        return;
    }
    struct diagnosis *of =
        diagnoses_add(out, errors ? DIAGNOSIS_ERROR : DIAGNOSIS_WARNING, "policy", path,
                      "it has %zu error%s and %zu warning%s", errors, errors == 1 ? "" : "s",
                      warnings, warnings == 1 ? "" : "s");
    diagnosis_mend(out, of, "flatbed check shows them");
}

static void examine_tuning(const struct policy *policy, struct diagnoses *out)
{
    const char *path = policy->files[0].path;
    struct diagnosis *of;

    if (policy->tuning.of[TUNING_SHM].value.given) {
        diagnoses_add(out, DIAGNOSIS_OK, "tuning-shm", path, "it sets the size of /dev/shm");
    } else {
        of = diagnoses_add(out, DIAGNOSIS_ADVICE, "tuning-shm", path,
                           "it does not set the size of /dev/shm: Docker's is 64 MiB");
        diagnosis_cost(out, of,
                       "workers of a DataLoader pass batches through it, and end with a bus error "
                       "when it is full");
        diagnosis_mend(out, of, "\"tuning\": {\"shm_size\": \"50%%\"} in the policy");
    }
    if (policy->tuning.of[TUNING_MEMLOCK].value.given) {
        diagnoses_add(out, DIAGNOSIS_OK, "tuning-memlock", path, "it sets memlock");
        return;
    }
    of = diagnoses_add(out, DIAGNOSIS_ADVICE, "tuning-memlock", path,
                       "it does not set memlock: the engine's is 8 MiB as a rule");
    diagnosis_cost(out, of, "pin_memory and RDMA fail, or fall back to slower copies");
    diagnosis_mend(out, of, "\"tuning\": {\"memlock\": \"unlimited\"} in the policy");
}

static void examine_workers(const struct policy *policy, struct diagnoses *out)
{
    const char *path = policy->files[0].path;
    long cpus = sysconf(_SC_NPROCESSORS_ONLN);
    struct diagnosis *of;

    if (policy->tuning.of[TUNING_WORKERS].value.given || policy->tuning.threads) {
        diagnoses_add(out, DIAGNOSIS_OK, "tuning-workers", path,
                      "it tells containers how many threads and workers to start");
        return;
    }
    of = diagnoses_add(out, DIAGNOSIS_ADVICE, "tuning-workers", path,
                       "it tells containers nothing about threads and workers");
    diagnosis_cost(out, of,
                   "OpenMP and BLAS start a thread for each of this host's %ld processors, in each "
                   "worker of a DataLoader too, whatever --cpus says",
                   cpus);
    diagnosis_mend(out, of, "\"tuning\": {\"threads\": true, \"workers\": \"75%%\"} in the policy");
}

void doctor_policy(const struct policy *policy, struct diagnoses *out)
{
    if (!policy) {
        struct diagnosis *of = diagnoses_add(out, DIAGNOSIS_ADVICE, "policy", policy_default_path,
                                             "there is none: containers start as if without "
                                             "flatbed-runtime");
        diagnosis_mend(out, of, "flatbed-policy(5) has an example");
        return;
    }
    examine_findings(policy, out);
    examine_tuning(policy, out);
    examine_workers(policy, out);
    doctor_volumes(policy, out);
}
