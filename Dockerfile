# The kit without installing it on your machine:
#   docker build -t visual-agents-kit .
#   docker run --rm -it visual-agents-kit                          make demo: 15 minutes on two cores
#   docker run --rm -it -p 8888:8888 visual-agents-kit make lab LAB="--ip 0.0.0.0 --allow-root"
# Not tried in a container yet: its steps were run in an empty folder.
# The sandbox wants Linux's namespaces; where a container has none it says so and confines less (python -m kit doctor).
# For all of it: --security-opt seccomp=unconfined --security-opt apparmor=unconfined
FROM python:3.11-slim AS programs
RUN apt-get update -qq && apt-get install -y -qq --no-install-recommends make git && rm -rf /var/lib/apt/lists/*

FROM programs
WORKDIR /kit
COPY . .
RUN make .venv/ready-cpu
CMD ["make", "demo"]
