# ---
# jupyter:
#   jupytext:
#     text_representation:
#       extension: .py
#       format_name: percent
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
# ---

# %% [markdown]
# # 21 · Visual-ARFT: the tasks, the tools, the data
#
# **The question.** What does an agent do that can mend a picture with code, and look up what no
# picture shows? And how do we know that its tasks can be solved at all?
#
# **The paper.** Visual-ARFT (Liu et al.): section 3.1 (the two agents), section 4 and appendix B (MAT:
# 200 coding and 150 search tasks to test on, 1,200 and 20 to train on).
#
# **Afterwards you can** distort a picture and say what of it can be undone; play both agents by hand,
# mistakes included, and both tools in one episode; write a query that finds a country by its flag;
# make such tasks from your own pictures and prove that each can be solved without a model.
#
# | | hardware | minutes | memory |
# |---|---|---|---|
# | `laptop` | 1 core | 1 | 2 GB |
# | `gpu` | the same, the paper's numbers of tasks | not measured | not measured |
# | `node` | the same, the paper's own sources and benchmark | not measured | not measured |
#
# No model is trained here. What is written at the end, `runs/<run>/data`, is what notebooks 22, 23 and
# 24 read. The paper's own data come from a hub: `python data_scripts/visual_arft.py --hub`.

# %% tags=["parameters"]
run: str = "visual_arft"  # run directory under runs/, shared by notebooks 21 to 24
seed: int = 0  # draws the sheets to train on and those an expert shows
test_seed: int = 0  # draws the test sets and the search tasks: the same for every seed
train_tasks: int = 60  # coding tasks of each of the 12 categories; paper: 100
test_share: float = 0.5  # share of the paper's 200 coding test tasks
search_train: int = 20  # search tasks to train on, as in the paper
search_test: int = 60  # search tasks to test on; paper: 150
text_test: int = 40  # questions without pictures
lesson_sheets: int = 432  # coding episodes for an expert to show
lesson_searches: int = 864  # search episodes for an expert to show
search: str = "offline"  # or serper: the web (key in SERPER_API_KEY)
k: int = 4  # snippets of one search, as in the paper
snippet_chars: int = 80  # characters of a snippet
prompt: str = "brief"  # system text: brief (tiny model) or full (real ones)

# %%
from collections import Counter

import numpy as np
from IPython.display import display
from kit import view
from kit.data import documents as printed
from kit.data.corpora import documents
from kit.data.countries import Countries
from kit.data.distortion import NAMES, STRENGTHS, distort, draw, undo
from kit.episode import NamedImage, Task
from kit.files import run_folder
from kit.papers.visual_arft import experiment as visual_arft
from kit.papers.visual_arft import mat_coding, mat_search
from kit.papers.visual_arft.env import VisualARFTEnv
from kit.papers.visual_arft.metrics import is_right
from kit.sandbox import Sandbox
from kit.tools import restoration as mending
from kit.tools.index import Index
from kit.view import plots

# %% [markdown]
# ## Pictures to read from
#
# MAT-Coding asks for what is written in a picture: on receipts, signs, forms, in charts. Ours are
# drawn, so that what they say is known; the digits of the last one are real handwriting. Each comes
# with questions.

# %%
sheets = [
    draw_one(np.random.default_rng(seed + 3), ())
    for draw_one in printed.SHEETS.values()
]
display(plots.images([(sheet.kind, sheet.image) for sheet in sheets], side=1.4))
for sheet in sheets:
    question, answer = sheet.questions[0]
    print(f"{sheet.kind:8s} {question:28s} {answer}")

# %% [markdown]
# ## What can happen to them
#
# Six distortions, as in the paper; how strong they are it doesn't say, so the strengths are ours. One
# question before you look: which of the six can be undone exactly?

# %%
whole = sheets[0].image
happened = {kind: draw(kind, np.random.default_rng(seed)) for kind in STRENGTHS}
bad = {kind: distort(whole, [one]) for kind, one in happened.items()}
display(plots.images([(NAMES[kind], image) for kind, image in bad.items()], side=1.3))

# %%
mended = {kind: undo(bad[kind], [one]) for kind, one in happened.items()}
display(plots.images([(NAMES[kind], m) for kind, m in mended.items()], side=1.3))
for kind, image in mended.items():
    near = mat_coding.likeness(whole, image)
    print(f"{NAMES[kind]:12s} mended, it is like the original to {near:5.1f} dB")

# %% [markdown]
# The two rotations: no pixel is lost (an infinite number of decibels). Darkness and overexposure lose
# what falls between two of 256 levels. Blur and noise lose detail for good: what comes back is a
# guess, Wiener's filter against the one and a median against the other.
#
# That was undoing with the strengths known. An agent doesn't know them. It gets operations that guess:

# %%
for name in ("rotate", "brighten", "darken", "sharpen", "denoise"):
    says_of_it = getattr(mending, name).__doc__.replace("`", "")
    print(f"{name:9s}", says_of_it.split("\n")[0])

# %% [markdown]
# ## Can the task be solved?
#
# A data set whose answers can't be read from its pictures teaches despair. So every task passes a
# check before it is written down: it is mended, and then *compared with what else might stand there*.
# A number is drawn again in its place, once as it is and once with each digit changed; the picture
# must be most like the first. No model takes part.
#
# The same sheet, mended and turned the wrong way: which of these two passes?

# %%
from kit.data.readable import is_readable

question, answer = sheets[0].questions[0]
right = mending.rotate(bad["rotate90"], -90)
wrong = mending.rotate(bad["rotate90"], 90)
display(plots.images([("turned back", right), ("turned on", wrong)], side=1.3))
print(question, answer)
for name, image in (("turned back", right), ("turned on", wrong)):
    print(f"{name:12s} can be read: {is_readable(sheets[0], image, answer)}")

# %% [markdown]
# ## Simple and Hard
#
# One distortion, or none, is *Simple*. Two or three at once are *Hard*, and so is a picture of which
# only a part matters. The paper tests 10 of each single kind and 130 hard ones; it trains on 100 of each
# of 12 categories.

# %%
print(f"{'category':20s} test  train")
for category, n in mat_coding.TEST.items():
    print(f"{category:20s} {n:4d}  {mat_coding.TRAIN[category]:5d}")
train, test = visual_arft.coding_sets(seed, train_tasks, test_share, test_seed)
counts = mat_coding.summary(test)
print("here, to test on:", counts["simple"], "simple,", counts["hard"], "hard")

# %%
shown = {task.meta["category"]: task for task in test}
some = [(name, shown[name].images[0].image) for name in mat_coding.CATEGORIES[7:]]
display(plots.images(some, side=1.4))
for name, _ in some:
    print(f"{name:18s} {shown[name].question}")

# %% [markdown]
# Order matters. Noise on a dark picture can't be told from the picture any more once it is brightened; noise
# that was there before the light went can. So detail is distorted first, then the sheet is turned, then the light
# goes, and it is mended from the end: light first, by which the rest is seen.
#
# ## Playing the coding agent
#
# Its code runs in a session of its own, in the sandbox (notebook 02), where the picture is `image`.
# What is it told?

# %%
box = Sandbox(allow_unsafe=True).start()  # all players are the kit's
env = VisualARFTEnv(box, prompt=prompt)
task = shown["light+turn"]
system, user = env.prompt(task)
print(system, "\n")
print("".join(part if isinstance(part, str) else "[picture] " for part in user))

# %% [markdown]
# Look at the picture. What would you write? Several steps may stand in one turn; the last picture that
# gets a name is shown.

# %%
env.reset(options={"task": task})
calls = {"rotate90": "rotate({}, -90)", "rotate180": "rotate({}, 180)"}
calls |= {"dark": "brighten({})", "overexposed": "darken({})"}
light, turned = (one.kind for one in reversed(mat_coding.distortions(task)))
code = f"a = {calls[light].format('image')}\nb = {calls[turned].format('a')}"
print(code)
seen, *_ = env.step(f"<think>I mend it.</think><code>{code}</code>")
images = [("given", task.images[0].image), (seen.images[0].name, seen.images[0].image)]
display(plots.images(images, side=1.4))

# %%
answer = task.target[0]
_, reward, over, _, _ = env.step(f"<think>I read it.</think><answer>{answer}</answer>")
print(task.question, answer, "| F1:", reward, "| over:", over)

# %% [markdown]
# What goes wrong comes back as an observation. Which of these five turns will fail, and which will
# only have nothing to show?

# %%
env.reset(options={"task": task})
attempts = {
    "a name that isn't there": "a = rotate(picture, 90)",
    "a box outside": "a = crop(image, [0.5, 0.5, 1.5, 1.5])",
    "a comment": "# it looks turned",
    "no picture": "x = image.size",
    "its own way": "from PIL import ImageOps\na = ImageOps.autocontrast(image)",
}
for name, code in attempts.items():
    seen, *_ = env.step(f"<think>Hm.</think><code>{code}</code>")
    print(f"{name:24s} → {seen.text or [p.name for p in seen.images]}")
env.close()

# %% [markdown]
# ## Questions that no picture answers
#
# MAT-Search: a picture, an entity, a fact about it, a fact about that. Ours start from real flags.

# %%
known = Countries()
flags = known.flags
rng = np.random.default_rng(seed + 5)
names = [str(name) for name in rng.choice(sorted(flags), size=6, replace=False)]
display(plots.images([("?", flags[name]) for name in names], side=1.2))
print("What is the capital of each?")
print("(" + ", ".join(names) + ")")

# %% [markdown]
# Whoever knows them has seen them before. An agent that never has can still find out: a flag can be
# *described*, and the CIA World Factbook describes every one of them. Search is offline: BM25 over all
# that two packages say of countries, languages and regions.

# %%
index = Index(documents(), visual_arft.cache())
print(f"{index.size:,d} documents")
for snippet in index.search("flag description vertical bands blue white red", k):
    print(f"  {snippet.title}: {snippet.text[:60]}")

# %% [markdown]
# The question itself finds nothing. That is *plain retrieval*, which notebook 24 compares with:

# %%
asked = "What is the capital of the country with this flag?"
for snippet in index.search(asked, k):
    print(f"  {snippet.title}: {snippet.text[:60]}")

# %% [markdown]
# So each task keeps its **gold queries**, one a step, and the document that each has to find. Below, a
# Hard one. How many searches does it take?

# %%
search_tasks, held_out = mat_search.make_tasks(
    known, index, test_seed, search_train, search_test
)
task = next(t for t in held_out if t.meta["difficulty"] == "hard")
display(plots.images([("flag", task.images[0].image)], side=1.4))
print(task.question, "\n")
for query, says_so in zip(task.meta["queries"], task.meta["says"], strict=True):
    print(f"{query:64s} → {says_so}")

# %% [markdown]
# Three. Every task passed a check here, too: each gold query finds its document among the first
# snippets, and what the next step needs stands in it. And training and test share no country, not on the
# way either:

# %%
sides = [{c for t in s for c in t.meta["countries"]} for s in (search_tasks, held_out)]
print(len(search_tasks), "tasks to train on, about", len(sides[0]), "countries")
print(len(held_out), "tasks to test on, about", len(sides[1]), "countries")
assert not sides[0] & sides[1]

# %% [markdown]
# ## Both tools at once
#
# The paper trains two agents. Nothing stops one from having both tools: here somebody has photographed
# the flag in the dark. A script that knows the answer plays; step through it. Tinted tokens are the
# agent's own, the only ones that are ever trained on.

# %%
from kit.chat import Chat
from kit.papers.visual_arft.expert import search_turns
from kit.policy.scripted import ScriptedPolicy
from kit.tiny.build import TINY

flag = task.images[0].image
dark = distort(flag, [draw("dark", np.random.default_rng(seed))])
meta = {**task.meta, "tools": ["code", "search"]}
night = Task("night", (NamedImage("flag", dark),), task.question, task.target, meta)
first = "<think>dark.</think><code>image_1 = brighten(flag)</code>"
turns = (first, *search_turns(task))

chat = Chat.from_pretrained(TINY)
how = {"k": k, "snippet_chars": snippet_chars, "search": search}
play = visual_arft.Play(prompt=prompt, max_turns=8, **how)
script = ScriptedPolicy(chat, lambda episode: turns[len(episode.turns)])
[episode] = play(script, chat, visual_arft.Tools(box, index), [night], temperature=0.0)
display(view.show(episode, chat=chat, is_right=is_right))

# %%
print("actions:", [turn.action.name for turn in episode.turns])
print("answer: ", episode.answer, "| gold:", task.target[0])
print(len(episode.ids), "tokens, the agent's own:", sum(episode.mask))

# %% [markdown]
# ## Lessons
#
# The paper has no cold start: a 7B model follows a protocol that it is told. A model of three million
# parameters that has never acted doesn't, so an expert shows it some episodes: on sheets of their own, and in
# **invented worlds**. Their countries have flags, capitals, money and trade, documents of the factbook's form,
# and nothing in common with the real ones. Why go to such lengths? The real countries that no test touches
# have some sixty flags; shown those four times over, the model knew them by heart and saw no others any more.
# What it is to learn is *how* to look things up.

# %%
from kit.tools.search import information

worlds = visual_arft.search_demonstrations(lesson_searches, seed)
invented, their_index = worlds[0]
sewn = [(t.meta["source"], t.images[0].image) for t in invented if t.images]
display(plots.images(sewn[:5], side=1.2))
task = invented[1]
print(task.question)
for query in task.meta["queries"]:
    print(f"\n{query}")
    print(information(their_index.search(query, 2), snippet_chars))

# %% [markdown]
# The expert plays them all, for real: its code runs, its queries are searched for.

# %%
from kit.papers.visual_arft.expert import expert

sheets = visual_arft.coding_demonstrations(lesson_sheets, seed)
show = ScriptedPolicy(chat, expert)
played = []
for tasks, engine in [(sheets, index), *worlds]:
    tools = visual_arft.Tools(box, engine)
    for at in range(0, len(tasks), 32):  # at most 32 sessions at once
        played += play(show, chat, tools, tasks[at : at + 32], temperature=0.0)
print(len(sheets), "sheets,", len(played) - len(sheets), "searches")
print("turns:", dict(sorted(Counter(len(e.turns) for e in played).items())))

# %%
from kit.papers.visual_arft.reward import score

paid = Counter(score(e, e.task.target).total for e in played)
print("rewards (at most 2, see the next notebook):", dict(paid))
assert set(paid) == {2.0}

# %% [markdown]
# ## Stored for 22, 23 and 24

# %%
from kit.data.store import load_tasks, save_episodes, save_tasks

texts = visual_arft.text_questions(known, index, text_test, test_seed, held_out)
data = run_folder(run) / "data"
sets = {"coding-train": train, "coding-test": test}
sets |= {"search-train": search_tasks, "search-test": held_out, "text-test": texts}
for name, tasks in sets.items():
    save_tasks(data / f"{name}.jsonl", tasks)
    assert [t.id for t in load_tasks(data / f"{name}.jsonl")] == [t.id for t in tasks]
    print(f"data/{name}.jsonl: {len(tasks)} tasks")
save_episodes(data / "coldstart.jsonl", played)
print(f"data/coldstart.jsonl: {len(played)} episodes")
play.keep(data)
print("data/play.json: how tasks are told, what searches show")
box.close()

# %% [markdown]
# ## Paper / here / why different

# %%
print("                              paper    here")
print(f"coding tasks to train on      1,200  {len(train):6,d}")
print(f"coding tasks to test on         200  {len(test):6,d}")
print(f"search tasks to train on         20  {len(search_tasks):6,d}")
print(f"search tasks to test on         150  {len(held_out):6,d}")
print(f"searches in                 the web  {index.size:6,d} documents")

# %% [markdown]
# Its pictures come from nine data sets of real documents and screens, ours are drawn; its questions
# about entities were written by people, ours follow from a table of facts, which is why they can be
# checked. Its release trains single steps on stored tool output and never runs the code. Here
# everything an agent says is done.
#
# Next: [22, the two rewards](22_visual_arft_rewards.ipynb).
