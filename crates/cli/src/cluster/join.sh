#!/bin/bash
#SBATCH --job-name=@@NAME@@-join
#SBATCH --cpus-per-task=1
#SBATCH --output="@@LOG@@/join.log"@@DIRECTIVES@@
set -eu
export RAYON_NUM_THREADS=${SLURM_CPUS_PER_TASK:-1}
@@JOINING@@
