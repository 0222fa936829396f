"""Visual-ARFT's section 5 and its released scripts: training settings, evaluation and claims."""

from __future__ import annotations

from kit.papers.items import Item, departs, not_run, same

MODEL = "Qwen/Qwen2.5-VL-7B-Instruct"

TRAINING: tuple[Item, ...] = (
    same("model", "hyper-parameter", "5", "The base is Qwen2.5-VL-7B (or 3B).", "node:23.model", MODEL),
    same("model-claims", "hyper-parameter", "5", "The baseline is Qwen2.5-VL-7B.", "node:24.model", MODEL),
    departs("model-laptop", "training", "5", "Models have 3 and 7 billion weights.", "arft-tiny-model"),
    same("gpus", "hyper-parameter", "5", "8 GPUs train.", "node:23.num_processes", 8),
    same("generations", "hyper-parameter", "5", "8 generations a prompt.", "node:23.group_size", 8),
    same(
        "device-batch",
        "hyper-parameter",
        "released scripts",
        "One rollout a GPU and pass.",
        "node:23.per_device_batch_size",
        1,
    ),
    same("batch", "hyper-parameter", "released scripts", "16 rollouts an update.", "node:23.prompts_per_batch", 2),
    same("rl-steps", "hyper-parameter", "released results", "Coding at step 1,400.", "node:23.steps", 1400),
    departs("epochs", "training", "released scripts", "Coding 10 epochs, search 400.", "arft-steps"),
    same("rate", "hyper-parameter", "TRL's default", "Learning rate 1e-6.", "node:23.learning_rate", 1e-6),
    departs("schedule", "training", "TRL's default", "The rate falls linearly.", "arft-constant-rate"),
    same("temperature", "hyper-parameter", "TRL's default", "Temperature 0.9.", "node:23.temperature", 0.9),
    same("all-weights", "hyper-parameter", "released scripts", "All weights learn.", "node:23.lora_rank", 0),
    same("vision", "hyper-parameter", "released scripts", "The vision tower learns.", "node:23.freeze_vision", False),
    same("turns", "hyper-parameter", "released scripts", "Up to 5 iterations.", "node:23.max_turns", 5),
    same("turns-claims", "hyper-parameter", "released scripts", "Up to 5 in evaluation.", "node:24.max_turns", 5),
    departs(
        "turn-tokens",
        "hyper-parameter",
        "released scripts",
        "1,024 tokens in coding, 2,048 in search; 256 in training.",
        "arft-completion-length",
        where="node:23.max_new_tokens",
    ),
    departs(
        "answer-tokens",
        "hyper-parameter",
        "released scripts",
        "The same limits in evaluation.",
        "arft-completion-length",
        where="node:24.max_new_tokens",
    ),
    departs("overlong", "training", "released scripts", "Longer texts are cut.", "shared-ends-before-limit"),
)

EVALUATION: tuple[Item, ...] = (
    same("em", "metric", "5", "EM asks for the same text.", "kit.rewards.text_match:exact_match"),
    departs(
        "f1",
        "metric",
        "5",
        "F1 is the overlap of tokens.",
        "arft-f1-counts",
        "shared-spaceless-tokens",
        "shared-unicode-punctuation",
    ),
    departs("intervals", "metric", "Tables 1 to 4", "Values are of one run, without intervals.", "arft-intervals"),
    same("average", "metric", "Table 1", "Simple, Hard and all.", "kit.papers.visual_arft.metrics:LABELS"),
    departs("cot", "metric", "5.2, Table 4", "Chain of thought is a baseline.", "arft-prompts"),
    departs("rag", "metric", "5.2, Table 4", "Plain retrieval is a baseline.", "arft-rag-query"),
    departs("text-sets", "data", "5, Table 2", "2Wiki, HotpotQA, MuSiQue, Bamboogle in full.", "arft-text-sample"),
    departs("reward-search", "metric", "5.2, Table 3", "Rewards are compared on search, too.", "arft-em-search"),
    not_run(
        "other-models",
        "metric",
        "Tables 1 and 2",
        "GPT-4o, o3, LLaVA, InternVL and other search agents are compared with.",
        "They need services or GPUs that this repository doesn't have; kit.policy.endpoint plays any that is served.",
    ),
    not_run(
        "model-3b",
        "metric",
        "Tables 1, 2 and 4",
        "All is repeated with the 3B model.",
        "It needs a GPU; the profile gpu asks for it, and its figures would stand beside the 7B model's.",
    ),
    not_run(
        "cases",
        "metric",
        "5.2, Figure 4, B.2.5",
        "Selected cases are shown.",
        "No measure is given; the viewer shows every episode of a run instead.",
    ),
)

CLAIMS: tuple[Item, ...] = (
    departs(
        "R1", "claim", "5.1, Table 1", "Training lifts coding, most on Hard.", "arft-tiny-model", "arft-grpo-check"
    ),
    departs("R2", "claim", "5.1, Table 1", "Training lifts search.", "arft-tiny-model", "arft-grpo-check"),
    departs("R3", "claim", "5.2, Table 3", "An F1 reward beats an EM reward, on EM too.", "arft-tiny-model"),
    departs("R4", "claim", "5.2, Table 4", "The agent beats CoT and RAG.", "arft-tiny-model", "arft-rag-query"),
    departs(
        "R5", "claim", "5.1, Table 2", "20 examples carry over to text alone.", "arft-cold-start", "arft-text-sample"
    ),
)
