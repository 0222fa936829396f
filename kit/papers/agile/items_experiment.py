"""AGILE's section 4 and appendices A, D and E: data, training settings, evaluation and claims."""

from __future__ import annotations

from kit.papers.items import Item, departs, not_run, same

MODEL = "Qwen/Qwen2.5-VL-7B-Instruct"

DATA: tuple[Item, ...] = (
    departs(
        "rl-images",
        "data",
        "4.1, appendix A",
        "15.6K images: 39.7 % of high resolution, 33.3 % with text, 26.9 % of dense scenes.",
        "agile-hub-mixture",
        "agile-offline-pictures",
        where="node:11.images",
    ),
    same("rl-size", "hyper-parameter", "4.1", "RL trains on 15.6K images.", "node:11.train_puzzles", 15600),
    same("rl-levels", "hyper-parameter", "4.1", "All pieces are misplaced at first.", "node:11.train_levels", [0]),
    departs("rl-levels-laptop", "data", "4.1", "No training puzzle has a piece in place.", "agile-training-levels"),
    same("rl-grid", "hyper-parameter", "4.1", "Training puzzles are 2 × 2.", "node:11.m", 2),
    same("whole-images", "hyper-parameter", "3.1, 4.1", "Images are cut whole.", "node:11.piece_px", 0),
    departs(
        "whole-images-laptop",
        "data",
        "3.1, 4.1",
        "Images are used as they are, and each makes one puzzle.",
        "agile-offline-pictures",
        "agile-plain-pictures",
    ),
    departs(
        "leaks",
        "data",
        "appendix A, 4.2",
        "Training images come from V*, HRBench and RealWorldQA, on which the model is then tested.",
        "agile-hub-mixture",
    ),
    departs(
        "test-images",
        "data",
        "4.2",
        "300 test images of several kinds are curated and not published.",
        "agile-held-out-pictures",
        "agile-evaluation-crops",
    ),
    same("test-size", "hyper-parameter", "4.2", "300 images a level are tested.", "node:12.eval_puzzles", 300),
    same("test-size-rl", "hyper-parameter", "4.2", "The same after RL.", "node:13.eval_puzzles", 300),
    same("test-size-3x3", "hyper-parameter", "4.2", "The same of 3 × 3 puzzles.", "node:14.eval_puzzles", 300),
    same("test-made", "hyper-parameter", "4.2", "So many puzzles are made.", "node:11.eval_puzzles", 300),
    same(
        "test-levels",
        "hyper-parameter",
        "Tables 1 and 2",
        "Levels are L0 to L2 of 2 × 2, and L0 to L7 of 3 × 3.",
        "kit.papers.agile.tasks:LEVELS",
        {2: (0, 1, 2), 3: (0, 1, 2, 3, 4, 5, 6, 7)},
    ),
)

TRAINING: tuple[Item, ...] = (
    same(
        "model",
        "hyper-parameter",
        "4.1",
        "The base is Qwen2.5-VL-7B.",
        "node:12.model",
        MODEL,
    ),
    same("model-data", "hyper-parameter", "4.1", "Its tokenizer encodes.", "node:11.model", MODEL),
    same(
        "model-base",
        "hyper-parameter",
        "4.1",
        "It is the untrained row.",
        "node:14.model",
        MODEL,
    ),
    departs("model-laptop", "training", "4.1", "All experiments use this model.", "agile-tiny-model"),
    departs("frameworks", "training", "4.1", "LLaMA-Factory does SFT, verl RL.", "agile-trl"),
    same("hardware", "training", "4.1", "8 A100 of 80 GB are used.", "node:13.num_processes", 8),
    same("sft-full", "hyper-parameter", "Table 4", "SFT is a full finetune.", "node:12.lora_rank", 0),
    same(
        "sft-vision",
        "hyper-parameter",
        "Table 4",
        "Vision tower and projector are frozen, the language model isn't.",
        "node:12.freeze_vision",
        True,
    ),
    same(
        "sft-cutoff",
        "hyper-parameter",
        "Table 4",
        "Cutoff is 16,384 tokens.",
        "kit.train.sft:SFTSettings.max_tokens",
        16384,
    ),
    departs("sft-cutting", "training", "Table 4", "Longer episodes are cut.", "shared-never-cut"),
    same("sft-epochs", "hyper-parameter", "Table 4", "2 epochs.", "node:12.epochs", 2.0),
    same("sft-batch", "hyper-parameter", "Table 4", "Batch size 32.", "node:12.batch_size", 32),
    same(
        "sft-accumulation",
        "hyper-parameter",
        "Table 4",
        "4 accumulation steps: on 8 GPUs one episode a pass.",
        "node:12.per_device_batch_size",
        1,
    ),
    same("sft-rate", "hyper-parameter", "Table 4", "Learning rate 1e-5.", "node:12.learning_rate", 1e-5),
    same("sft-schedule", "hyper-parameter", "Table 4", "Cosine.", "kit.train.sft:SFTSettings.schedule", "cosine"),
    same("sft-warmup", "hyper-parameter", "Table 4", "Warm-up 0.1.", "kit.train.sft:SFTSettings.warmup", 0.1),
    same("sft-replay", "hyper-parameter", "3.3", "Nothing but these episodes is trained on.", "node:12.replay", 0),
    departs("sft-replay-laptop", "training", "3.3", "SFT has the 1.6K trajectories only.", "shared-replay"),
    departs("sft-mask", "training", "3.3", "SFT's loss isn't written down.", "shared-sft-suppressed-ids"),
    same("rl-turns", "hyper-parameter", "Table 5", "At most 5 turns.", "node:13.max_turns", 5),
    same("rl-turns-sft", "hyper-parameter", "Table 5", "The same in evaluation after SFT.", "node:12.max_turns", 5),
    same("rl-turns-claims", "hyper-parameter", "Table 5", "The same for the claims.", "node:14.max_turns", 5),
    same("rl-rollouts", "hyper-parameter", "Table 5", "8 rollouts of a puzzle.", "node:13.group_size", 8),
    same("rl-batch", "hyper-parameter", "Table 5", "64 puzzles a batch.", "node:13.prompts_per_batch", 64),
    same(
        "rl-mini-batch",
        "hyper-parameter",
        "Table 5",
        "Mini-batch 64: one update of each batch.",
        "kit.papers.agile.settings:GRPO.iterations",
        1,
    ),
    same(
        "rl-micro-batch", "hyper-parameter", "Table 5", "2 episodes a pass and GPU.", "node:13.per_device_batch_size", 2
    ),
    same("rl-rate", "hyper-parameter", "Table 5", "Learning rate 2e-6.", "node:13.learning_rate", 2e-6),
    same("rl-kl", "hyper-parameter", "Table 5", "KL coefficient 0.", "node:13.beta", 0.0),
    same("rl-epochs", "hyper-parameter", "Table 5", "1 epoch: 244 batches.", "node:13.steps", 244),
    same("rl-full", "hyper-parameter", "4.1", "RL trains all parameters.", "node:13.lora_rank", 0),
    same("rl-vision", "hyper-parameter", "4.1", "Nothing is frozen in RL.", "node:13.freeze_vision", False),
    same("general-vision", "hyper-parameter", "4.1", "Nor in the comparison.", "node:15.freeze_vision", False),
    departs(
        "rl-schedule", "training", "Table 5", "No schedule is given.", "agile-unstated-values", where="node:13.schedule"
    ),
    departs(
        "rl-temperature",
        "training",
        "Table 5",
        "No temperature is given.",
        "agile-unstated-values",
        where="node:13.temperature",
    ),
    same(
        "rl-lengths",
        "hyper-parameter",
        "Table 5",
        "8,192 tokens of prompt and 20,000 of response.",
        "kit.papers.agile.settings:GRPO.max_episode_tokens",
        28192,
    ),
    departs(
        "rl-overlong", "training", "Table 5", "What is longer is cut by the framework.", "shared-ends-before-limit"
    ),
    same("rl-turn-tokens", "hyper-parameter", "Table 5", "2,048 tokens a turn.", "node:13.max_new_tokens", 2048),
    same("sft-turn-tokens", "hyper-parameter", "Table 5", "The same after SFT.", "node:12.max_new_tokens", 2048),
    same(
        "claims-turn-tokens", "hyper-parameter", "Table 5", "The same for the claims.", "node:14.max_new_tokens", 2048
    ),
    departs("rl-memory", "hyper-parameter", "Table 5", "vLLM gets 0.7 of a GPU.", "agile-gpu-memory-share"),
    departs("max-pixels", "hyper-parameter", "Table 4", "An image has at most 401,408 pixels.", "agile-max-pixels"),
)

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
