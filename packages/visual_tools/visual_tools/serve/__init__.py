"""Tools as a service: processes that do the calls, a supervisor that starts them again, a web front, and its client.

A training asks its tools thousands of times an hour; one of them will crash, or never return. Here a call's way is::

    client ──HTTP──▶ app ──▶ pool, a queue ──pipe──▶ worker, a process that holds some tools and does one call at a time

The front imports no tool, so none can take it down. A worker that dies ends one call, its own, which says so; calls
that wait are done by the worker that comes after it. One that takes longer than its deadline is killed, which is the
same. A full queue refuses, in words. Nothing is kept but images, and the client sends those again where they are
missed, so that a service may even be started anew while a training goes on.

Where one machine doesn't suffice, Ray Serve takes the place of the worker processes (:mod:`.on_ray`).
"""
