#!/bin/sh
# Runs `torchrun ARGUMENTS` on two hosts that only a cable joins: two network namespaces and a pair of interfaces.
# Start it with `unshare -rn` (no root needed where user namespaces are allowed); PYTHON is the interpreter.
set -e
ip link set lo up
unshare -n sleep 600 &
other=$!
trap 'kill $other' EXIT
until [ "$(readlink /proc/$other/ns/net)" != "$(readlink /proc/$$/ns/net)" ]; do sleep 0.05; done
on_other="nsenter -t $other -n"
ip link add name veth0 type veth peer name veth1 netns $other
ip addr add 10.0.0.1/24 dev veth0
ip link set veth0 up
$on_other ip link set lo up
$on_other ip addr add 10.0.0.2/24 dev veth1
$on_other ip link set veth1 up
start="$PYTHON -m torch.distributed.run --nnodes 2 --nproc_per_node 1 --master_addr 10.0.0.1 --master_port 29500"
GLOO_SOCKET_IFNAME=veth1 $on_other $start --node_rank 1 "$@" &
second=$!
GLOO_SOCKET_IFNAME=veth0 $start --node_rank 0 "$@"
wait $second
