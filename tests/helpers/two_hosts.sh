#!/bin/sh
# Two hosts that only a cable joins: two network namespaces and a pair of interfaces, 10.0.0.1 and 10.0.0.2. Runs the
# first argument, a command, on the first, and the second on the other.
# Start it with `unshare -rn` (no root needed where user namespaces are allowed).
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
KIT_MACHINE=1 GLOO_SOCKET_IFNAME=veth1 $on_other sh -c "$2" &
second=$!
KIT_MACHINE=0 GLOO_SOCKET_IFNAME=veth0 sh -c "$1"
wait $second
