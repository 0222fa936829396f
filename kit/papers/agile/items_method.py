"""AGILE's sections 3.1 to 3.3 and appendix B: puzzles, environment, prompt, cold-start data, objective and reward."""

from __future__ import annotations

from kit.papers.items import Item, departs, same

ENVIRONMENT: tuple[Item, ...] = (
    same("grid", "environment", "3.1", "An image is cut into m × m pieces.", "kit.papers.agile.puzzle:make_task"),
    same(
        "resize",
        "environment",
        "3.1",
        "Sides that m doesn't divide are resized first.",
        "kit.papers.agile.puzzle:make_task",
    ),
    same(
        "shuffle", "environment", "3.1, eq. 1", "The pieces are shuffled at random.", "kit.papers.agile.puzzle:shuffle"
    ),
    same(
        "labels",
        "environment",
        "3.1, appendix B",
        "Pieces are labelled A, B, … in row-major order.",
        "kit.papers.agile.puzzle:LABELS",
    ),
    same(
        "truth",
        "environment",
        "3.1, eq. 2",
        "The right order is known from the recorded shuffle.",
        "kit.papers.agile.puzzle:make_task",
    ),
    same(
        "state", "environment", "3.1, eq. 3", "The model keeps a current arrangement.", "kit.papers.agile.env:JigsawEnv"
    ),
    same("api", "environment", "3.1", "Actions are Python that the environment runs.", "kit.tools.code:CodeTool"),
    departs("swap", "environment", "3.1", "Swap exchanges any two pieces.", "agile-swap-must-look"),
    same("observe", "environment", "3.1", "Observe shows the current arrangement.", "kit.papers.agile.env:JigsawEnv"),
    departs("gap", "environment", "3.1", "The look of an observation isn't told.", "agile-white-gap"),
    departs("crop", "environment", "3.1", "Crop cuts out a part of an observation.", "agile-view-limits"),
    departs("zoom", "environment", "3.1", "Zoom enlarges a part.", "agile-view-limits"),
    departs("code-limits", "environment", "3.1", "What code may do besides isn't told.", "shared-confined-code"),
    same("loop", "environment", "algorithm 1", "Turns and feedback alternate, up to T turns.", "kit.rollout:rollout"),
    departs(
        "no-action",
        "environment",
        "algorithm 1",
        "A turn with neither code nor answer is followed by the next turn.",
        "agile-no-action-ends",
    ),
    same(
        "no-action-sft",
        "hyper-parameter",
        "algorithm 1",
        "Evaluation after SFT goes on after a turn without action.",
        "node:12.on_no_action",
        "tell",
    ),
    same(
        "no-action-rl",
        "hyper-parameter",
        "algorithm 1",
        "RL goes on after a turn without action.",
        "node:13.on_no_action",
        "tell",
    ),
    same(
        "no-action-claims",
        "hyper-parameter",
        "algorithm 1",
        "Evaluation on 3×3 goes on after a turn without action.",
        "node:14.on_no_action",
        "tell",
    ),
    same(
        "no-action-general",
        "hyper-parameter",
        "algorithm 1",
        "Puzzles in the comparison at an equal budget go on after a turn without action.",
        "node:15.on_no_action",
        "tell",
    ),
    departs(
        "both-tags",
        "environment",
        "algorithm 1",
        "Code is looked for first, then an answer.",
        "shared-turn-ends-at-tag",
    ),
    same("answer-ends", "environment", "algorithm 1", "An answer ends the episode.", "kit.rollout:rollout"),
    same(
        "feedback-role",
        "environment",
        "algorithm 1",
        "Feedback is appended as user input.",
        "kit.chat:Chat.reply",
    ),
)

PROMPT: tuple[Item, ...] = (
    departs(
        "prompt-everywhere", "prompt", "appendix B", "One prompt serves collection, SFT and RL.", "agile-brief-prompt"
    ),
    same(
        "prompt-data",
        "hyper-parameter",
        "appendix B",
        "Demonstrations are collected with the full prompt.",
        "node:11.prompt",
        "full",
    ),
    same("prompt-sft", "hyper-parameter", "appendix B", "SFT has the full prompt.", "node:12.prompt", "full"),
    same("prompt-rl", "hyper-parameter", "appendix B", "RL has the full prompt.", "node:13.prompt", "full"),
    same("prompt-claims", "hyper-parameter", "appendix B", "Evaluation has the full prompt.", "node:14.prompt", "full"),
    departs(
        "prompt-hints",
        "prompt",
        "appendix B",
        "Four hints are told at length: text that runs on, structure, edges, directions.",
        "agile-prompt-words",
    ),
    departs(
        "prompt-crop-advice",
        "prompt",
        "appendix B",
        "When to crop is shown by an example, and its reasons are asked for.",
        "agile-prompt-words",
    ),
    departs(
        "prompt-explain",
        "prompt",
        "appendix B",
        "Swaps and image operations are to be explained before the code.",
        "agile-prompt-words",
    ),
    same("prompt-layout", "prompt", "appendix B", "The first layout is told as a list.", "kit.papers.agile.env:FULL"),
    same("prompt-state", "prompt", "appendix B", "The list is called state, row by row.", "kit.papers.agile.env:FULL"),
    same(
        "prompt-crop",
        "prompt",
        "appendix B",
        "crop takes an image and shares of its sides.",
        "kit.papers.agile.env:FULL",
    ),
    same("prompt-zoom", "prompt", "appendix B", "zoom takes an image and a factor.", "kit.papers.agile.env:FULL"),
    same(
        "prompt-swap",
        "prompt",
        "appendix B",
        "Two entries of state are exchanged, then observation(state) is called.",
        "kit.papers.agile.env:FULL",
    ),
    same("prompt-ids", "prompt", "appendix B", "Results are numbered in their names.", "kit.papers.agile.env:FULL"),
    same(
        "prompt-tags",
        "prompt",
        "appendix B",
        "Reasoning, code and answer stand in think, code and answer tags.",
        "kit.papers.agile.env:PROTOCOL",
    ),
    same("prompt-stop", "prompt", "appendix B", "A turn stops after its code.", "kit.protocol:Protocol.stops"),
    departs(
        "prompt-one-operation",
        "prompt",
        "appendix B",
        "One image operation or look a turn is allowed.",
        "agile-one-operation",
    ),
    same("prompt-final", "prompt", "appendix B", "The answer is the final state.", "kit.papers.agile.env:FULL"),
    departs(
        "prompt-user",
        "prompt",
        "appendix B",
        "The request comes first, then each piece after its label.",
        "agile-user-prompt",
    ),
)

COLD_START: tuple[Item, ...] = (
    departs("expert", "data", "3.2", "Gemini 2.5 Pro plays the puzzles.", "agile-scripted-expert"),
    same(
        "filter-right",
        "data",
        "3.2",
        "Only trajectories with the right answer are kept.",
        "kit.papers.agile.demonstrations:is_sound",
    ),
    departs("filter-read", "data", "3.2", "Every step of these is verified by people.", "agile-nobody-reads"),
    same(
        "balance-steps",
        "data",
        "3.2",
        "Trajectories are balanced over 4 to 8 steps.",
        "kit.papers.agile.expert:STEPS",
        (4, 5, 6, 7, 8),
    ),
    same(
        "balance-actions",
        "data",
        "3.2",
        "They are balanced over the kinds of action.",
        "kit.papers.agile.demonstrations:KINDS",
        ("swap", "observe", "crop", "zoom"),
    ),
    departs("balance-levels", "data", "3.2", "Balancing over difficulty isn't mentioned.", "agile-balanced-levels"),
    same("sft-size", "hyper-parameter", "3.2, 4.1", "1.6K trajectories are kept.", "node:11.sft_episodes", 1600),
    same("sft-used", "hyper-parameter", "4.1", "SFT sees all 1.6K of them.", "node:12.sft_episodes", 1600),
)

REWARD: tuple[Item, ...] = (
    same(
        "grpo-objective",
        "training",
        "3.3, eq. 4",
        "The clipped ratio is averaged over each trajectory's own tokens, then over the group.",
        "kit.papers.agile.settings:GRPO.loss_type",
        "grpo",
    ),
    same("mask", "training", "3.3, eq. 4", "Tokens of the environment carry no loss.", "kit.train.pack:pack"),
    departs("kl-place", "training", "3.3, eq. 4", "The KL term stands outside the mean.", "shared-kl-per-token"),
    departs(
        "advantage",
        "training",
        "3.3",
        "Advantages come from relative rewards within the group; the deviation isn't defined.",
        "shared-sample-std",
        "shared-flat-groups",
    ),
    departs(
        "clip", "training", "3.3, eq. 4", "The clipping range is named ε, without a value.", "agile-unstated-values"
    ),
    departs(
        "sampler",
        "training",
        "3.3, 4.1",
        "verl samples from the old policy and trains on it.",
        "shared-own-rollouts",
        "shared-suppressed-ids",
    ),
    same(
        "reward-accuracy",
        "reward",
        "3.3",
        "The accuracy reward is 1 if all pieces are right, else 0.",
        "kit.papers.agile.reward:is_right",
    ),
    departs("answer-form", "reward", "3.3", "How an answer's text becomes a list isn't told.", "agile-answer-parsing"),
    departs(
        "reward-format",
        "reward",
        "3.3",
        "The format reward is 1 if reasoning, code and answer are in their tags.",
        "agile-strict-format",
    ),
    departs(
        "reward-steps",
        "reward",
        "3.3, eq. 5",
        "The steps actually used count where the answer is right.",
        "agile-steps",
    ),
    same(
        "reward-step-max",
        "reward",
        "3.3, eq. 5",
        "Wrong answers cost the maximum of steps.",
        "kit.papers.agile.experiment:Play",
    ),
    same(
        "lambda",
        "hyper-parameter",
        "3.3",
        "The step penalty λ is −0.05.",
        "kit.papers.agile.reward:RewardConfig.step_penalty",
        -0.05,
    ),
    same(
        "alpha",
        "hyper-parameter",
        "3.3",
        "Accuracy weighs α = 0.8.",
        "kit.papers.agile.reward:RewardConfig.accuracy",
        0.8,
    ),
    same(
        "beta", "hyper-parameter", "3.3", "Format weighs β = 0.2.", "kit.papers.agile.reward:RewardConfig.format", 0.2
    ),
    same("gamma", "hyper-parameter", "3.3", "Steps weigh γ = 1.0.", "kit.papers.agile.reward:RewardConfig.step", 1.0),
)
