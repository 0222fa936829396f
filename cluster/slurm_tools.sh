#!/bin/bash
# Tools as a service beside trainings: sbatch cluster/slurm_tools.sh, from the project's folder; docs/tools.md sizes it.
# $KIT_RUNS/tools.txt says where it listens. Whoever reaches the port may call the tools.
#SBATCH --job-name=tools
#SBATCH --nodes=1
#SBATCH --ntasks=1
#SBATCH --cpus-per-task=64
#SBATCH --time=24:00:00
set -eu
export KIT_RUNS="${KIT_RUNS:-$PWD/runs}" # on a file system that all machines share
port="${PORT:-8765}"
mkdir -p "$KIT_RUNS"
echo "http://$(hostname):$port" > "$KIT_RUNS/tools.txt"
exec srun "${PYTHON:-.venv/bin/python}" -m kit tools serve --host 0.0.0.0 --port "$port" --workers "${WORKERS:-43}"
