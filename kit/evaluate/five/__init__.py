"""The five questions: does reinforcement add, does acting pay, do observations matter, which calls, is there a signal?

The stages of a run that answer them (``RUN/stages/STAGE.json``):

===================  =======================================================================================
stage                episodes
===================  =======================================================================================
grpo-own             the trained policy, greedily, with its own observations
grpo-swapped         the same, shown another episode's observations (:mod:`kit.evaluate.five.shown`)
grpo-blank           the same, shown blank ones
grpo-without-tools   the same, its tools switched off
sft-samples          the policy before reinforcement, each task several times, sampled
===================  =======================================================================================
"""

OWN, SWAPPED, BLANK, TOOLLESS, SAMPLES = "grpo-own", "grpo-swapped", "grpo-blank", "grpo-without-tools", "sft-samples"
STAGES = (OWN, SWAPPED, BLANK, TOOLLESS, SAMPLES)

TRIES = 8
"""How often the policy before reinforcement tries each task: k of pass@k."""
