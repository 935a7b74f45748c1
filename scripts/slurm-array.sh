#!/bin/sh
# Submits the tasks of a plan (`lookalike tasks plan`) to Slurm: an array of jobs for each step,
# which begins when all jobs of the step before are done, and one job that makes the results.
#
#     scripts/slurm-array.sh EXCHANGE TASKS DIR [sbatch flags ...]
#
# EXCHANGE and DIR are paths that all nodes see, or addresses; TASKS is that of `--tasks`. To repeat
# what failed, submit again: tasks that are done end at once. LOOKALIKE_MEMORY is the memory of a
# task (1GiB), and a job asks for half as much again.
set -eu

[ $# -ge 3 ] || { sed -n '2,/^set/s/^# \{0,1\}//p' "$0" | sed '$d' >&2; exit 2; }
exchange=$1 tasks=$2 out=$3
shift 3
memory=${LOOKALIKE_MEMORY:-1GiB}
case $memory in
    *GiB) megabytes=$((${memory%GiB} * 1536)) ;;
    *MiB) megabytes=$((${memory%MiB} * 3 / 2)) ;;
    *) echo "LOOKALIKE_MEMORY: $memory is not a number of MiB or GiB" >&2; exit 2 ;;
esac
export EXCHANGE="$exchange" OUT="$out" MEMORY="$memory"

submit() { # NAME SCRIPT [flags ...]: prints the number of the job
    name=$1 script=$2
    shift 2
    sbatch --parsable --job-name "$name" --mem "$megabytes" --export ALL --wrap "$script" "$@"
}

after=
for step in 0 1 2 3 4 5 6 7; do
    first=$((step * tasks))
    after=$(submit "tasks-$step" \
        "exec lookalike tasks run \"\$EXCHANGE\" --task \$(($first + SLURM_ARRAY_TASK_ID)) --memory \"\$MEMORY\"" \
        --array "0-$((tasks - 1))" --requeue ${after:+--dependency "afterok:$after"} "$@")
    echo "step $((step + 1)) of 8: job $after"
done
after=$(submit finish 'exec lookalike tasks finish "$EXCHANGE" -o "$OUT" --memory "$MEMORY"' \
    --dependency "afterok:$after" "$@")
echo "results: job $after"
