#!/bin/bash
#SBATCH --job-name=@@NAME@@
#SBATCH --array=1-@@PARTS@@
#SBATCH --cpus-per-task=1
#SBATCH --requeue
#SBATCH --open-mode=append
#SBATCH --output="@@LOG@@/%a.log"
#SBATCH --signal=B:USR1@120@@DIRECTIVES@@
# Made by xrsim @@ORIGIN@@
# Slurm writes logs into this folder, which has to be there before: mkdir -p @@FOLDER@@
# When all tasks are done, this joins the parts:
#   @@JOINING@@
set -u
task=${SLURM_ARRAY_JOB_ID}_${SLURM_ARRAY_TASK_ID}
export RAYON_NUM_THREADS=${SLURM_CPUS_PER_TASK:-1}
part=@@PREFIX@@.$SLURM_ARRAY_TASK_ID-of-@@PARTS@@@@ENDING@@
tries=@@FOLDER@@/$SLURM_ARRAY_TASK_ID.tries
rows() { if [ -f "$part@@ROWS@@" ]; then wc -l <"$part@@ROWS@@"; else echo 0; fi; }
# Tries in a row that made no row, and the rows after the last of them. Preemption and other causes for which
# Slurm itself puts the task back into the queue do not count.
[ "${SLURM_RESTART_COUNT:-0}" -gt 0 ] || echo "0 $(rows)" >"$tries"
requeued=
again() {
    [ -z "$requeued" ] || return 0
    local n=0 before=0 now
    now=$(rows)
    read -r n before <"$tries"
    if [ "$now" -eq "${before:-0}" ]; then n=$((n + 1)); else n=0; fi
    echo "$n $now" >"$tries" || return 1
    if [ "$n" -gt 5 ]; then
        echo "$n tries in a row made no row: the task does not go back into the queue" >&2; return 1
    fi
    scontrol requeue "$task" && requeued=yes
}
# Before the time limit the task goes back into the queue; what it has written stays.
trap again USR1
@@COMMAND@@ --shard "$SLURM_ARRAY_TASK_ID/@@PARTS@@" --out "$part" &
child=$!
wait "$child"; status=$?
# A signal ends the wait, not the child.
while kill -0 "$child" 2>/dev/null; do wait "$child"; status=$?; done
# 128 and above: ended by a signal, such as that of a kernel that is short of memory. 75: another process writes to
# the part, such as this task on a node that was given up.
if [ "$status" -ge 128 ] || [ "$status" -eq 75 ]; then
    again && sleep 60
fi
exit "$status"
