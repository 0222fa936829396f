"""Tools that look at an image and answer in words: 26 of them, each by an algorithm, some by a model that is served.

From inside out::

    tool.py, schema.py              what a tool is, and one call of it
    words.py, regions.py,           what several tools read and are given
    counting.py
    perception/ charts/ geometry/   the tools; their names are in registry.py
    drawn/                          charts and diagrams whose table, words and points are known, to try them on
    super_resolution.py, smfanet.py what enlarges images; no tool of the 26, but what one of an environment uses
    serve/                          tools in processes of their own, behind HTTP, and the client
    command.py, __main__.py         by hand: list, call, serve
"""
