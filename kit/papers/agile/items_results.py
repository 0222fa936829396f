"""AGILE's sections 4.2 and 4.3 and appendix E: evaluation, general benchmarks and claims."""

from __future__ import annotations

from kit.papers.agile.items_experiment import MODEL
from kit.papers.items import Item, departs, not_run, same

EVALUATION: tuple[Item, ...] = (
    departs("framework", "metric", "4.1", "VLMEvalKit evaluates.", "agile-own-evaluation"),
    same("acc", "metric", "4.2", "Acc counts puzzles with all pieces right.", "kit.papers.agile.metrics:EVALUATION"),
    departs("score", "metric", "4.2", "Score is the share of pieces in place.", "agile-malformed-score"),
    departs("average", "metric", "Tables 1 and 2", "Averages are means over levels, no intervals.", "agile-intervals"),
    departs("random", "metric", "Tables 1 and 2", "A random row was measured.", "agile-chance-computed"),
    departs("untrained-row", "metric", "4.2", "The base is asked in the agent's prompt.", "agile-base-own-words"),
    not_run(
        "other-models",
        "metric",
        "Tables 1 to 3",
        "GPT-4o, Gemini, MiMo, InternVL and the 72B model are compared with.",
        "They need services or GPUs that this repository doesn't have; kit.policy.endpoint plays any that is served.",
    ),
    not_run(
        "case-study",
        "metric",
        "4.3, Figure 5, appendix C",
        "Ways of reasoning are shown by selected cases.",
        "No measure is given; the viewer shows every episode of a run instead.",
    ),
    not_run(
        "scale-general",
        "claim",
        "4.3, Figure 3",
        "With more puzzles HRBench4K and RealWorldQA rise by 2.0 and 1.8.",
        "Checkpoints of every budget would have to be measured on the hub's benchmarks with a real model, on GPUs.",
    ),
    same(
        "validation",
        "metric",
        "appendix E, Figure 11",
        "Accuracy on held-out puzzles is followed during RL.",
        "kit.train.held_out:held_out_accuracy",
    ),
    departs("curves", "metric", "appendix E, Figure 11", "Curves are of one run.", "agile-curves-of-seeds"),
)

GENERAL: tuple[Item, ...] = (
    departs(
        "benchmarks",
        "metric",
        "4.2, Table 3",
        "Nine benchmarks: MME-RealWorld, RealWorldQA, HRBench 4K and 8K, V*, MMVP, BLINK, HallusionBench, MMMU.",
        "agile-perception-only",
        "agile-skills-for-benchmarks",
        "agile-benchmark-scoring",
        where="node:15.benchmarks",
    ),
    departs("general-asked", "prompt", "4.2", "How questions are asked isn't told.", "agile-asked-barely"),
    same("general-all", "hyper-parameter", "4.2, Table 3", "All questions are asked.", "node:15.questions", 0),
    same("general-model", "hyper-parameter", "4.1", "Both arms have the base.", "node:15.model", MODEL),
    same("general-prompt", "hyper-parameter", "appendix B", "Puzzles have the same prompt.", "node:15.prompt", "full"),
    same("general-budget", "hyper-parameter", "4.3, Figure 4", "20K samples an arm.", "node:15.steps", 312),
    same("general-batch", "hyper-parameter", "Table 5", "64 a batch.", "node:15.prompts_per_batch", 64),
    same("general-rollouts", "hyper-parameter", "Table 5", "8 rollouts.", "node:15.group_size", 8),
    same("general-micro-batch", "hyper-parameter", "Table 5", "2 a pass.", "node:15.per_device_batch_size", 2),
    same("general-rate", "hyper-parameter", "Table 5", "Rate 2e-6.", "node:15.learning_rate", 2e-6),
    same("general-kl", "hyper-parameter", "Table 5", "KL coefficient 0.", "node:15.beta", 0.0),
    same("general-full", "hyper-parameter", "4.1", "All parameters learn.", "node:15.lora_rank", 0),
    same("general-turns", "hyper-parameter", "Table 5", "5 turns.", "node:15.max_turns", 5),
    same("general-tokens", "hyper-parameter", "Table 5", "2,048 tokens a turn.", "node:15.max_new_tokens", 2048),
    departs(
        "general-schedule", "training", "Table 5", "No schedule.", "agile-unstated-values", where="node:15.schedule"
    ),
    departs(
        "general-temperature",
        "training",
        "Table 5",
        "No temperature.",
        "agile-unstated-values",
        where="node:15.temperature",
    ),
)

CLAIMS: tuple[Item, ...] = (
    departs("A1", "claim", "1, 4.2, Table 1", "The untrained model is near random.", "agile-tiny-model"),
    departs("A2", "claim", "4.2, Table 1", "Cold start helps a little, RL most.", "agile-tiny-model"),
    departs("A3", "claim", "4.2, Tables 1 and 2", "RL on 2 × 2 carries over to 3 × 3.", "agile-tiny-model"),
    departs("A4", "claim", "Table 1", "More pieces in place, more puzzles solved.", "agile-tiny-model"),
    departs("A5", "claim", "4.3, Figure 3", "More RL puzzles, higher accuracy.", "agile-budgets-of-one-run"),
    departs("A6", "claim", "appendix E", "Turns rise, then fall; responses shorten.", "agile-curves-of-seeds"),
    departs(
        "A7",
        "claim",
        "4.3, Figure 4",
        "10K puzzles and 10K questions beat 20K questions.",
        "agile-arms-after-cold-start",
        "agile-qa-data",
        "agile-equal-tasks",
        "agile-qa-sources",
    ),
    departs(
        "A8",
        "claim",
        "4.2, Table 3",
        "Nine general benchmarks rise from 62.1 to 65.2.",
        "agile-perception-only",
        "agile-skills-for-benchmarks",
        "agile-asked-barely",
        "agile-benchmark-scoring",
    ),
)
