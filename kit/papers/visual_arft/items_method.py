"""Visual-ARFT's sections 3 and 4 and appendices A and B: agents, prompts, objective, reward, and the MAT tasks."""

from __future__ import annotations

from kit.papers.items import Item, departs, same

ENVIRONMENT: tuple[Item, ...] = (
    same(
        "search-loop",
        "environment",
        "3.2",
        "The search agent asks a search engine again and again, and goes on from what it found.",
        "kit.tools.search:SearchTool",
    ),
    same(
        "code-loop",
        "environment",
        "3.2",
        "The coding agent writes Python that an environment runs on the image.",
        "kit.tools.code:CodeTool",
    ),
    departs(
        "steps-stored",
        "environment",
        "3.2 (released code)",
        "Several steps make up a task; the release trains each apart, on stored tool output.",
        "arft-executed",
    ),
    departs("code-limits", "environment", "3.2", "What code may do besides isn't told.", "shared-confined-code"),
    departs("code-functions", "environment", "3.2", "Code is the model's own.", "arft-operations"),
    departs("gold-box", "environment", "released code", "The true box replaces the model's crop.", "arft-executed"),
    departs(
        "gold-rollout",
        "environment",
        "released code",
        "The gold answer is written into one rollout.",
        "arft-no-gold-rollout",
    ),
    departs(
        "two-agents", "environment", "3.2", "Search and coding are two agents, trained apart.", "arft-joint-training"
    ),
    departs("problem-step", "environment", "released code", "A turn first names the distortion.", "arft-problem-step"),
    departs("image-replaced", "environment", "released code", "A new image replaces the last.", "arft-all-images"),
    same("engine", "hyper-parameter", "5", "Serper (Google) searches.", "node:21.search", "serper"),
    departs("engine-laptop", "environment", "5", "The engine is the open web.", "arft-offline-search"),
    same("snippets", "hyper-parameter", "released code", "A search shows 4 snippets.", "node:21.k", 4),
    same("plaintext", "environment", "A.1", "Results are snippets of plain text.", "kit.tools.search:information"),
    departs("first-tag", "environment", "3.2", "Tags' contents are extracted.", "shared-turn-ends-at-tag"),
)

PROMPT: tuple[Item, ...] = (
    departs(
        "prompt-tools",
        "prompt",
        "A.1, Figures 5 and 6",
        "A block describes each tool: purpose, use, input and output.",
        "arft-prompts",
    ),
    same("prompt-search", "prompt", "A.1", "search tags hold a query.", "kit.papers.visual_arft.env:PROTOCOL"),
    same("prompt-info", "prompt", "A.1", "Results come in information tags.", "kit.tools.search:information"),
    same("prompt-code", "prompt", "A.1", "code tags hold Python.", "kit.papers.visual_arft.env:PROTOCOL"),
    departs("prompt-fence", "prompt", "released code", "The Python stands in a Markdown fence.", "shared-fenced-code"),
    same("prompt-think", "prompt", "A.1", "Reasoning stands in think tags.", "kit.papers.visual_arft.env:PROTOCOL"),
    same("prompt-answer", "prompt", "A.1", "The answer stands in answer tags.", "kit.papers.visual_arft.env:PROTOCOL"),
    same("prompt-brief", "prompt", "A.1", "Answers and queries are to be short.", "kit.papers.visual_arft.env:FULL"),
    same("prompt-full", "hyper-parameter", "A.1", "All stages use this prompt.", "node:21.prompt", "full"),
    departs("prompt-laptop", "prompt", "A.1", "Every model gets it.", "arft-prompts"),
    departs(
        "prompt-direct", "prompt", "A.2", "Baselines are told “Answer the question directly”.", "arft-direct-suffix"
    ),
    same("single-turn", "prompt", "A.2", "Baselines answer in one turn.", "kit.evaluate.baselines:SingleTurnEnv"),
)

OBJECTIVE: tuple[Item, ...] = (
    same("grpo", "training", "3.2, 5", "GRPO trains, in groups.", "kit.train.grpo:GRPOSettings"),
    same("kl", "hyper-parameter", "3.1, eq. 1", "A KL term holds the policy near its start.", "node:23.beta", 0.04),
    departs("kl-laptop", "training", "3.1, eq. 1", "The KL term is part of the objective.", "arft-kl"),
    departs("kl-place", "training", "3.1, eq. 1", "The KL term is subtracted outside.", "shared-kl-per-token"),
    departs(
        "advantage", "training", "3.2", "Advantages aren't written down.", "shared-sample-std", "shared-flat-groups"
    ),
    departs("rollouts", "training", "5", "The framework samples.", "shared-own-rollouts", "shared-suppressed-ids"),
    departs(
        "steps-apart",
        "training",
        "3.2",
        "Each step is rewarded and gives a learning signal of its own.",
        "shared-turns-compared",
        "arft-step-weight",
    ),
    same("steps", "hyper-parameter", "3.2", "Steps are rewarded one by one.", "node:23.reward", "steps"),
    departs("steps-laptop", "training", "3.2", "Rewards are assigned at each step.", "arft-episode-reward"),
    departs("no-cold-start", "training", "3.2", "RL starts from the base, without demonstrations.", "arft-cold-start"),
    same("lesson-epochs", "hyper-parameter", "3.2", "There are no demonstrations.", "node:23.lesson_epochs", 0.0),
)

REWARD: tuple[Item, ...] = (
    departs("format", "reward", "3.2.1, eq. 3", "1 if the output contains valid tags.", "arft-strict-format"),
    same("answer", "reward", "3.2.1, eq. 4", "An answer earns its F1.", "kit.papers.visual_arft.reward:MEASURES"),
    same(
        "answer-measure",
        "hyper-parameter",
        "3.2.1, 5.2",
        "F1 is the default measure, not EM.",
        "kit.papers.visual_arft.reward:RewardConfig.answer",
        "f1",
    ),
    departs("gold-answers", "reward", "3.2.1", "There is one gold answer.", "shared-best-reference"),
    departs("query", "reward", "3.2.1, eq. 4", "A query is compared with the gold query.", "arft-query-order"),
    departs("encoder", "reward", "3.2.1", "A Sentence Transformer compares them.", "arft-similarity"),
    departs("step-kind", "reward", "3.2.1, eq. 4", "A step is rewarded for what it is.", "arft-step-kind"),
    same("least", "hyper-parameter", "released code", "Likeness below 0.5 earns nothing.", "node:22.least", 0.5),
    departs("code", "reward", "3.2.1, eq. 4", "Every code block earns 1, whatever it does.", "arft-code-ran"),
    same(
        "code-any",
        "hyper-parameter",
        "3.2.1, eq. 4",
        "Code that fails earns as much as other code.",
        "node:23.code_reward",
        "any",
    ),
    same(
        "code-value",
        "hyper-parameter",
        "3.2.1, eq. 4",
        "A code block earns 1.",
        "kit.papers.visual_arft.reward:RewardConfig.code",
        1.0,
    ),
    same("total", "reward", "3.2.1, eq. 5", "Format and accuracy add up.", "kit.papers.visual_arft.reward:step_scores"),
)

MAT: tuple[Item, ...] = (
    departs(
        "coding-sources",
        "data",
        "B.1",
        "Coding images and questions come from nine data sets.",
        "arft-sources",
        where="node:21.data",
    ),
    departs("coding-laptop", "data", "B.1", "Images are documents, signs and books.", "arft-drawn-sheets"),
    departs("training-released", "data", "4, B.2.1", "1,200 and 20 training examples.", "arft-released-tasks"),
    departs("pixels", "data", "released code", "Images have at most 401,408 pixels.", "arft-pixels"),
    departs(
        "strengths",
        "data",
        "B.2.2",
        "Distortions: turned by 90 or 180 degrees, dark, overexposed, blurred, noisy; strengths vary.",
        "arft-strengths",
    ),
    same(
        "kinds",
        "data",
        "B.2.2",
        "Six kinds of distortion, and none.",
        "kit.papers.visual_arft.mat_coding:SINGLE",
        ("none", "rotate90", "rotate180", "dark", "overexposed", "blur", "noise"),
    ),
    departs("combinations", "data", "B.2.2", "Several distortions at once.", "arft-combinations"),
    departs("crop", "data", "B.2.2", "Only a region matters in crop tasks.", "arft-crop"),
    same("coding-test", "hyper-parameter", "4, B.2.1", "200 tasks to test coding.", "node:21.test_share", 1.0),
    same(
        "coding-test-single",
        "data",
        "B.2.3",
        "10 test tasks of each single category.",
        "kit.papers.visual_arft.mat_coding:TEST",
    ),
    same("coding-train", "hyper-parameter", "B.2.3", "100 tasks a category.", "node:21.train_tasks", 100),
    same("coding-split", "data", "B.2.4", "Hard is several, or crop.", "kit.papers.visual_arft.mat_coding:COMBINED"),
    departs("coding-reviewed", "data", "B.2.1", "People reviewed the test images.", "arft-review"),
    same("search-test", "hyper-parameter", "4, B.2.1", "150 tasks to test search.", "node:21.search_test", 150),
    same("search-train", "hyper-parameter", "4, B.2.1", "20 to train on.", "node:21.search_train", 20),
    departs("search-made", "data", "4, B.1", "People collected images and wrote questions.", "arft-flags"),
    departs("search-split", "data", "B.2.4", "Hard has more hops and distractors.", "arft-hard-two-facts"),
    departs("search-chains", "data", "4", "Training examples have chains of thought.", "arft-gold-queries"),
    departs("search-reference", "data", "B.2.1", "Each has references that may distract.", "arft-offline-search"),
)
