#!/bin/bash
# The papers' profile `node` on two machines of eight GPUs: sbatch cluster/slurm.sh, from the project's folder.
# How long it takes says python -m kit plan agile --profile node --gpus 16: more than a queue may allow at once. So SLURM
# asks for an end five minutes before the limit below, and the same command again goes on from the last checkpoint.
#SBATCH --job-name=agile
#SBATCH --nodes=2
#SBATCH --ntasks-per-node=1
#SBATCH --gpus-per-node=8
#SBATCH --cpus-per-task=64
#SBATCH --time=24:00:00
#SBATCH --signal=TERM@300
set -eu
export KIT_RUNS="${KIT_RUNS:-$PWD/runs}" # on a file system that all machines share
export TARGET="${TARGET:-agile}" RANKS="$KIT_RUNS/ranks-$SLURM_JOB_ID.txt" PYTHON="${PYTHON:-.venv/bin/python}"
mkdir -p "$KIT_RUNS"
scontrol show hostnames "$SLURM_JOB_NODELIST" | sed 's/$/ slots=8/' > "$RANKS"
srun bash -c '
if [ "$SLURM_NODEID" = 0 ]; then
    exec "$PYTHON" -m kit run "$TARGET" --profile node --name big --verbose --set num_processes=16 \
        --set strategy=zero3 --set rollout_engine=colocate --set hostfile="$RANKS"
else
    exec "$PYTHON" -m kit join big --wait 86400
fi'
