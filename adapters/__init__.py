"""The papers' environments for other people's trainers: Gymnasium, TRL, verifiers, OpenEnv.

Importing this needs none of them; each module needs the one that it is named after.
"""
