#!/bin/sh
# Submits the tasks of a plan (`lookalike tasks plan`) to Slurm: an array of jobs for each step,
# which begins when all jobs of the step before are done, and one job that makes the results.
#
#     scripts/slurm-array.sh EXCHANGE DIR [sbatch flags ...]
#
# EXCHANGE and DIR are paths that all nodes see, or addresses. To repeat what failed, submit again:
# tasks that are done end at once. From the environment:
#
#     LOOKALIKE_MEMORY   memory of a task, in MiB (1024); a job asks for half as much again
#     LOOKALIKE_SCRATCH  directory for temporary files on each node (TMPDIR or /tmp)
#     LOOKALIKE_ALLOW_STORE  buckets and hosts of the inputs, if they are addresses and not in the
#                        bucket of EXCHANGE: `lookalike tasks plan` prints them
set -eu

if [ $# -lt 2 ]; then
    sed -n '2,/^set/s/^# \{0,1\}//p' "$0" >&2
    exit 2
fi
EXCHANGE=$1 OUT=$2
shift 2
MEMORY=${LOOKALIKE_MEMORY:-1024}
case $MEMORY in
    *[!0-9]* | '') echo "LOOKALIKE_MEMORY: $MEMORY is not a number of MiB" >&2; exit 2 ;;
esac
SCRATCH=${LOOKALIKE_SCRATCH:-${TMPDIR:-/tmp}}
export EXCHANGE OUT MEMORY SCRATCH
# Jobs get what is exported, and a variable that is only set would be missing there.
[ -z "${LOOKALIKE_ALLOW_STORE:-}" ] || export LOOKALIKE_ALLOW_STORE
tasks=$(lookalike tasks status "$EXCHANGE" | awk '$1 == "read" { sub(/.*-/, "", $2); print $2 + 1 }')
[ -n "$tasks" ] || exit 1

submit() { # NAME SCRIPT [flags ...]: prints the number of the job
    name=$1 script=$2
    shift 2
    sbatch --parsable --job-name "$name" --mem "$((MEMORY * 3 / 2))" --export ALL \
        --kill-on-invalid-dep=yes "$@" --wrap \
        "exec lookalike $script --memory \"\${MEMORY}MiB\" --scratch \"\$SCRATCH\" --threads \"\${SLURM_CPUS_PER_TASK:-1}\""
}

after=
for step in 0 1 2 3 4 5 6 7; do
    first=$((step * tasks))
    after=$(submit "tasks-$step" "tasks run \"\$EXCHANGE\" --task \$(($first + SLURM_ARRAY_TASK_ID))" \
        --array "0-$((tasks - 1))" --requeue ${after:+--dependency "afterok:$after"} "$@")
    echo "step $((step + 1)) of 8: job $after"
done
after=$(submit finish 'tasks finish "$EXCHANGE" -o "$OUT"' --dependency "afterok:$after" "$@")
echo "results: job $after"
