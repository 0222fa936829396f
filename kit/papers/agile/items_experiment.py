"""AGILE's section 4.1 and appendices A and D: data and training settings."""

from __future__ import annotations

from kit.papers.items import Item, departs, same

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
    same("whole-images", "hyper-parameter", "3.1, 4.1", "Images are cut whole.", "node:11.whole", True),
    same("piece-size", "hyper-parameter", "3.1, 4.1", "Pieces are as large as the image gives.", "node:11.piece_px", 0),
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
    same(
        "test-size-rl", "hyper-parameter", "4.2", "300 images a level are tested after RL.", "node:13.eval_puzzles", 300
    ),
    same(
        "test-size-3x3",
        "hyper-parameter",
        "4.2",
        "300 images a level of 3 × 3 puzzles are tested.",
        "node:14.eval_puzzles",
        300,
    ),
    same("test-made", "hyper-parameter", "4.2", "300 test puzzles a level are made.", "node:11.eval_puzzles", 300),
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
    same("model-data", "hyper-parameter", "4.1", "Episodes are encoded for it.", "node:11.model", MODEL),
    same(
        "model-base",
        "hyper-parameter",
        "4.1",
        "The untrained row is Qwen2.5-VL-7B.",
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
    same(
        "rl-turns-sft", "hyper-parameter", "Table 5", "At most 5 turns in evaluation after SFT.", "node:12.max_turns", 5
    ),
    same("rl-turns-claims", "hyper-parameter", "Table 5", "At most 5 turns for the claims.", "node:14.max_turns", 5),
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
    same(
        "general-vision",
        "hyper-parameter",
        "4.1",
        "Nothing is frozen in the comparison with questions.",
        "node:15.freeze_vision",
        False,
    ),
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
    same(
        "sft-turn-tokens",
        "hyper-parameter",
        "Table 5",
        "2,048 tokens a turn after SFT.",
        "node:12.max_new_tokens",
        2048,
    ),
    same(
        "claims-turn-tokens",
        "hyper-parameter",
        "Table 5",
        "2,048 tokens a turn for the claims.",
        "node:14.max_new_tokens",
        2048,
    ),
    departs("rl-memory", "hyper-parameter", "Table 5", "vLLM gets 0.7 of a GPU.", "agile-gpu-memory-share"),
    same("max-pixels", "hyper-parameter", "Table 4", "At most 401,408 pixels an image.", "node:11.max_pixels", 401408),
    departs("max-pixels-stages", "data", "Table 4", "SFT has this limit; RL names none.", "agile-max-pixels"),
)
