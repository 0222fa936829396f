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
# **The question.** One agent restores a damaged image with code. Another looks up what no image shows. What are
# their tasks, and how do we know that these tasks can be solved at all?
#
# **The paper.** [Visual-ARFT (Liu et al., arXiv:2505.14246)](https://arxiv.org/abs/2505.14246): section 3.2 (the
# two settings, search and coding), section 4 and appendix B (the benchmark MAT, *Multimodal Agentic Tool Bench*: 200 coding and 150
# search tasks to test on, 1,200 and 20 to train on). Its Figure 2 is an overview of both agents; here you play
# both. Its Figures 7 and 8 show examples of the tasks; ours have the same form, with drawn pages instead of
# scans and photographs, and with flags instead of photographs of things.
#
# **Afterwards you can** distort an image and say how much of the damage can be undone; play both agents by hand,
# mistakes included; use both tools in one [episode](../docs/glossary.md#episode); write a query that finds a
# country by its flag; make such tasks from your own images and check without a model that each can be solved.
#
# | | hardware | minutes to run | memory |
# |---|---|---|---|
# | `laptop` | 1 core | 1 | 2 GB |
# | `gpu` | the same, the paper's numbers of tasks | not measured | not measured |
# | `node` | the same, the paper's own sources and benchmark | not measured | not measured |
#
# No model is trained here. At the end the tasks are written to `runs/<run>/data`, where notebooks 22, 23 and
# 24 read them. The paper's sources and its benchmark come from a hub: `python data_scripts/visual_arft.py --out
# data/paper --hub --pin` writes them to a folder, and `data` takes it from there (`node` does so, and searches the
# web). What is explained below on drawn sheets and flags holds for those tasks as well.

# %% tags=["parameters"]
run: str = "visual_arft"  # run directory under runs/, shared by notebooks 21 to 24
seed: int = 0  # draws the sheets to train on and those of the demonstrations
test_seed: int = 0  # draws the test sets and the search tasks: the same for every seed
train_tasks: int = 60  # coding tasks of each of the 12 categories; paper: 100
test_share: float = 0.5  # share of the paper's 200 coding test tasks
search_train: int = 20  # search tasks to train on, as in the paper
search_test: int = 60  # search tasks to test on; paper: 150
text_test: int = 40  # questions without pictures
data: str = ""  # folder of data_scripts/visual_arft.py; empty: drawn sheets, flags
lesson_sheets: int = 432  # coding episodes that a scripted expert demonstrates
lesson_searches: int = 864  # search episodes that it demonstrates
search: str = "offline"  # or serper: the web (key in SERPER_API_KEY)
k: int = 4  # snippets of one search, as in the released code
snippet_chars: int = 80  # characters of a snippet
prompt: str = "brief"  # system text: brief (tiny model) or full (real ones)

# %%
from collections import Counter
from textwrap import fill, shorten

import numpy as np
from IPython.display import display
from kit import view
from kit.episode import NamedImage, Task
from kit.files import ROOT, run_folder
from kit.tools import restoration
from kit.view import plots
from papers.visual_arft import data_folder, mat_coding, mat_search
from papers.visual_arft import experiment as visual_arft
from papers.visual_arft.corpora import documents
from papers.visual_arft.countries import Countries
from papers.visual_arft.env import VisualARFTEnv
from papers.visual_arft.index import Index
from papers.visual_arft.metrics import is_right
from pictures import documents as drawn
from pictures.distortion import NAMES, STRENGTHS, distort, draw, undo
from turn_sandbox import Sandbox
from workshop.exercises import check, hint, solution

# %%
given = data_folder.load_sets(ROOT / data) if data else {}
for name, tasks in given.items():
    print(f"{data}/{name}.jsonl: {len(tasks)} tasks")

# %% [markdown]
# ## Sheets to read
#
# MAT-Coding asks for something that is written in an image: on a receipt, a sign, a form, in a chart. Our images, called
# *sheets*, are drawn by a program. So we know exactly what stands on them. The digits of the last one are real handwriting.
# The tiny model saw all of these digits before (its card in [04](04_tiny_vlm.ipynb)): how it reads them says nothing of
# unseen ones. Each sheet comes with questions.

# %%
sheets = [
    draw_one(np.random.default_rng(seed + 3), ()) for draw_one in drawn.SHEETS.values()
]
items = [(sheet.kind, sheet.image) for sheet in sheets]
display(plots.images(items, side=1.2, title="One sheet of each kind"))
for sheet in sheets:
    question, answer = sheet.questions[0]
    print(f"{sheet.kind:8s} {question:28s} {answer}")

# %% [markdown]
# ## What can happen to them
#
# There are six distortions, as in the paper. The paper does not say how strong they are, so the strengths are ours.

# %%
whole = sheets[0].image
happened = {kind: draw(kind, np.random.default_rng(seed)) for kind in STRENGTHS}
bad = {kind: distort(whole, [one]) for kind, one in happened.items()}
items = [(NAMES[kind], image) for kind, image in bad.items()]
display(plots.images(items, side=1.1, title="The six distortions"))

# %% [markdown]
# Each is now undone as well as possible, by a program that is told how strong the distortion was. Guess before you
# open the output: which of the six come back exactly? Likeness to the original is measured in decibels (peak
# signal-to-noise ratio): more is better, and equal images have `inf`.

# %% tags=["guess"]
restored = {kind: undo(bad[kind], [one]) for kind, one in happened.items()}
items = [(NAMES[kind], image) for kind, image in restored.items()]
display(plots.images(items, side=1.1, title="The same six, undone"))
for kind, image in restored.items():
    near = mat_coding.likeness(whole, image)
    print(f"{NAMES[kind]:12s} restored: {near:5.1f} dB")

# %% [markdown]
# <details><summary>Which come back exactly, and why the others do not: guess first, then open</summary>
#
# Only the two rotations: they lose no pixel. Darkness and overexposure round every pixel to one of 256 levels, and
# levels that become the same stay the same. Blur and noise lose detail for good. What comes back is an estimate: a
# Wiener filter, which amplifies what the blur weakened, and the median of every 3×3 pixels against noise.
#
# </details>
#
# **Exercise 21.1.** A grey sheet has pixels of all 256 levels, 0 to 255. It is made dark: each level is multiplied
# by 0.12 and rounded to a whole number. How many *different* levels are left?

# %% tags=["exercise"]
answer = ...  # a number

check("21.1", answer)

# %% [markdown]
# An agent isn't told how strong a distortion was. It gets operations that estimate it from the image:

# %%
for name in ("rotate", "brighten", "darken", "sharpen", "denoise"):
    first_line = getattr(restoration, name).__doc__.replace("`", "").split("\n")[0]
    print(fill(first_line, 84, initial_indent=f"{name:9s}", subsequent_indent=" " * 9))

# %% [markdown]
# ## Can the task be solved?
#
# From a task whose answer can't be read, not even after the best restoration, nothing can be learnt. So every task passes a
# check before it is stored. The image is restored, and then *compared with what might stand there*: the right text is drawn
# in its place, then each rival, which is every number that differs in one digit, or every other word (handwriting, charts and
# boards have checks of their own). The restored image must be most like what is there. No model takes part. (Figure 3 of the
# paper shows how its authors made their tasks: coding tasks by a program too, search tasks by hand; people then reviewed all
# of them.)
#
# **Exercise 21.2.** Write the numbers that the right one is compared with: all that differ from it in exactly one
# digit. A number may begin with 0 here. Return them in rising order.


# %% tags=["exercise"]
def lookalikes(number: str) -> list[str]:
    """All numbers, as text, that differ from `number` in exactly one digit."""
    ...


check("21.2", lookalikes)

# %% [markdown]
# Here is the rotated sheet twice: turned back, and turned further the same way. Which of the two passes the check?

# %% tags=["guess"]
from pictures.readable import is_readable

question, gold = sheets[0].questions[0]
attempts = {
    "turned back": restoration.rotate(bad["rotate90"], -90),
    "turned further": restoration.rotate(bad["rotate90"], 90),
}
display(plots.images(list(attempts.items()), side=1.2, title=f"{question} {gold}"))
for name, image in attempts.items():
    print(f"{name:15s} can be read: {is_readable(sheets[0], image, gold)}")

# %% [markdown]
# ## Simple and Hard
#
# One distortion, or none, is *Simple*. Two or three at once are *Hard*, and so is an image of which only a part
# matters (`crop`). The paper tests on 10 tasks of each single kind and 130 Hard ones, and trains on 100 of each
# category. It has 12 categories; which combinations are among them it does not say, so ours are our choice.

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
display(plots.images(some, side=1.25, title="Hard tasks"))
for name, _ in some:
    print(f"{name:18s} {shown[name].question}")

# %% [markdown]
# The order of distortions matters. To make a sheet dark is to multiply its pixels by a small factor; to brighten it
# is to divide by the same factor. Noise is added to each pixel. It makes a difference which comes first.
#
# **Exercise 21.3.** A sheet gets noise with a standard deviation of `noise` levels, and its light is multiplied by
# `factor`. Then it is brightened, exactly back. How strong is the noise on the brightened sheet, if it was added
# before the sheet became dark, and how strong if after? (Leave rounding aside, and the limits at 0 and 255.)


# %% tags=["exercise"]
def noise_left(noise: float, factor: float, noise_came_first: bool) -> float:
    """Standard deviation of the noise on the brightened sheet, in levels."""
    ...


check("21.3", noise_left)

# %% [markdown]
# So in a combination the kit distorts detail first, then turns the sheet, then changes the light. An agent undoes
# them in the opposite order: light first, because nothing else can be seen well before.
#
# ## Playing the coding agent
#
# The agent's code runs in the sandbox ([notebook 02](02_sandbox.ipynb)), in a session of its own that already holds
# the image under the name `image`. This is the task, and the text that the agent is given. (Its last question
# is no part of the task: `brief` adds to each image the words by which the tiny model was taught to look at one; `full`
# adds none.)

# %%
box = Sandbox(allow_unsafe=True).start()  # all code that runs here is the kit's
env = VisualARFTEnv(box, prompt=prompt)
task = shown["light+turn"]
system, user = env.prompt(task)
display(plots.images([("image", task.images[0].image)], side=1.6))
print(fill(system, 84), "\n")
print("".join(part if isinstance(part, str) else "[image] " for part in user))

# %% [markdown]
# Which code would you write? A [turn](../docs/glossary.md#turn) may hold several steps; the agent is shown the last
# image that got a name. Decide first, then open the output.

# %% tags=["guess"]
env.reset(options={"task": task})
calls = {"rotate90": "rotate({}, -90)", "rotate180": "rotate({}, 180)"}
calls |= {"dark": "brighten({})", "overexposed": "darken({})"}
light, turned = (one.kind for one in reversed(mat_coding.distortions(task)))
code = f"a = {calls[light].format('image')}\nb = {calls[turned].format('a')}"
print(code)
seen, *_ = env.step(f"<think>I restore it.</think><code>{code}</code>")
items = [("given", task.images[0].image), (seen.images[0].name, seen.images[0].image)]
display(plots.images(items, side=1.3, title="Before and after the code"))

# %% [markdown]
# Then it answers. The environment's reward is the token F1 of the answer, a number from 0 to 1 that
# [notebook 22](22_visual_arft_rewards.ipynb) explains. The paper's Figure 4 (left) has an episode of the same form:
# code, a processed image, an answer. Its code comes from a 7B model, ours from this cell.

# %%
gold = task.target[0]
_, reward, over, _, _ = env.step(f"<think>I read it.</think><answer>{gold}</answer>")
print(task.question, gold, "| F1:", reward, "| over:", over)

# %% [markdown]
# A mistake does not end the episode: the error comes back as an observation. Here are five turns. Which of them
# raise an error, and which run but have nothing to show?

# %%
attempts = {
    "an unknown name": "a = rotate(picture, 90)",
    "a box outside": "a = crop(image, [0.5, 0.5, 1.5, 1.5])",
    "a comment": "# it looks turned",
    "no image": "x = image.size",
    "other Python": "from PIL import ImageOps\na = ImageOps.autocontrast(image)",
}
for name, code in attempts.items():
    print(f"{name:16s} {code.splitlines()}")

# %% tags=["guess"]
env.reset(options={"task": task})
for name, code in attempts.items():
    seen, *_ = env.step(f"<think>Hm.</think><code>{code}</code>")
    said = seen.text or f"shown: {', '.join(image.name for image in seen.images)}"
    print(fill(said, 84, initial_indent=f"{name:16s} ", subsequent_indent=" " * 17))
env.close()

# %% [markdown]
# ## Questions that no image answers
#
# A task of MAT-Search leads from an image to the thing in it, from there to a fact, and often from this fact to
# another. Ours start from real flags.

# %%
known = Countries()
flags = known.flags
rng = np.random.default_rng(seed + 5)
names = [str(name) for name in rng.choice(sorted(flags), size=6, replace=False)]
items = [(str(number), flags[name]) for number, name in enumerate(names, 1)]
display(plots.images(items, side=1.2, title="What is the capital of each country?"))

# %% tags=["guess"]
for number, name in enumerate(names, 1):
    print(number, name)

# %% [markdown]
# You recognise a flag only if you have seen it before. An agent that has not can still find out: a flag can be
# *described* in words, and the CIA World Factbook describes each of them. Search is offline here. Two packages'
# texts about countries, languages and regions are ranked by BM25: a document scores higher the more words it shares
# with the query, and the rarer these words are.

# %%
index = Index(documents(), visual_arft.cache())
print(f"{index.size:,d} documents")
for snippet in index.search("flag description vertical bands blue white red", k):
    print(" ", shorten(f"{snippet.title}: {snippet.text}", 80, placeholder=" …"))

# %% [markdown]
# The question itself, used as a query, finds nothing that helps. To search for the question as it stands is called
# *plain retrieval*; notebook 24 compares the agent with it.

# %%
asked = "What is the capital of the country with this flag?"
for snippet in index.search(asked, k):
    print(" ", shorten(f"{snippet.title}: {snippet.text}", 80, placeholder=" …"))

# %% [markdown]
# So each task holds its **gold queries**, one for each step, and the document that each has to find. A *Simple* search asks
# for a fact about the flag's country, a *Hard* one for a fact about what that fact names. Here is a Hard one. How many
# searches does it need?

# %%
search_tasks, held_out = mat_search.make_tasks(
    known, index, test_seed, search_train, search_test
)
task = next(t for t in held_out if t.meta["difficulty"] == "hard")
display(plots.images([("flag", task.images[0].image)], side=1.4))
print(fill(task.question, 84))

# %% tags=["guess"]
for query, found in zip(task.meta["queries"], task.meta["says"], strict=True):
    print(fill(query, 84), "\n    →", found)

# %% [markdown]
# Search tasks pass a check as well: each gold query finds its document among the first snippets, and the document
# holds what the next step needs. And training and test tasks share no country, neither at the start nor on the way.
#
# **Exercise 21.4.** A task is given as the list of its countries, the flag's first: `["Norway", "Germany"]`. Keep
# the test tasks that share no country with any training task, in their order.


# %% tags=["exercise"]
def without_overlap(train: list[list[str]], test: list[list[str]]) -> list[list[str]]:
    """The tasks of `test` that have no country in common with any task of `train`."""
    ...


check("21.4", without_overlap)

# %%
sides = [{c for t in s for c in t.meta["countries"]} for s in (search_tasks, held_out)]
print(len(search_tasks), "tasks to train on, about", len(sides[0]), "countries")
print(len(held_out), "tasks to test on, about", len(sides[1]), "countries")
assert not sides[0] & sides[1]

# %% [markdown]
# ## Both tools at once
#
# The paper's release trains two models, one for each tool. One agent can also have both. Here the flag was
# photographed in the dark, so it has to be restored first and looked up then. A script that knows the answer plays;
# open its turns one by one. Tinted tokens are those that the agent wrote: only these are trained on
# ([loss mask](../docs/glossary.md#loss-mask)). The search turns have the form of Figure 4 (right) of the paper: the
# question is taken apart, and each part is searched for.

# %%
from kit.chat import Chat
from kit.policy.scripted import ScriptedPolicy
from papers.visual_arft.expert import search_turns
from tiny import TINY

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
print(len(episode.ids), "tokens, of them the agent's own:", sum(episode.mask))

# %% [markdown]
# ## Demonstrations
#
# The paper has no [cold start](../docs/glossary.md#cold-start): a 7B model follows a protocol when it is told the
# rules. Our model has three million parameters and has never used a tool; it needs demonstrations. An expert, a
# script that knows the answers, plays some episodes: on sheets drawn for this, and in **invented worlds**. The
# countries of an invented world have flags, capitals, money and trade, and documents in the factbook's form. All of
# it is made up; only the names are those of real provinces and towns.
#
# There is a reason for this. Only about sixty real flags are left that no test task touches. A model that was shown
# them four times each knew them by heart, and recognised no others any more. But it is to learn *how* to look things
# up, not what was found.

# %%
from kit.tools.search import information

worlds = visual_arft.search_demonstrations(lesson_searches, seed)
invented, their_index = worlds[0]
items = [(t.meta["source"], t.images[0].image) for t in invented if t.images]
display(plots.images(items[:3], side=1.4, title="Flags of an invented world"))
task = invented[1]
print(fill(task.question, 84))
for query in task.meta["queries"]:
    print("\nquery:", query)
    found = information(their_index.search(query, 2), snippet_chars)
    print("\n".join(fill(line, 84) for line in found.splitlines()))

# %% [markdown]
# **Exercise 21.5.** Now you are the agent. Below is a flag of the same world; nobody can know it by heart. Write your
# first query, run the cell, read the snippets, add the next query, until you know the answer. Begin the description of
# the flag as the agent does: `flag description …`, then what you see. (A band that you can't tell from the page is
# white.)

# %%
mine = [t for t in invented if t.meta["difficulty"] == "hard"][:4][-1]
display(plots.images([("your flag", mine.images[0].image)], side=1.6))
print(fill(mine.question, 84))

# %% tags=["exercise"]
queries = []  # such as "flag description ..."
for query in queries:
    print(information(their_index.search(query, k), snippet_chars), "\n")

answer = ...  # text

check("21.5", answer, task=mine)

# %% [markdown]
# The expert plays all demonstrations, and nothing is simulated: its code runs, its queries are searched for. All of these do
# what is best: they act where something is damaged or has to be found, and read an undamaged sheet (one in twelve) at once.
# Notebook 23 exchanges four in ten of them for a turn that gives up, so that reinforcement has something to find out.

# %%
from papers.visual_arft.expert import expert

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
from papers.visual_arft.reward import score

rewards = Counter(score(e, e.task.target).total for e in played)
print("reward: episodes (at most 2, see the next notebook):", dict(rewards))
assert set(rewards) == {2.0}

# %% [markdown]
# ## Stored for 22, 23 and 24
#
# How many tasks there are to test on, and which, is yours to choose (`test_share`, `search_test`, `text_test`, `test_seed`).
# The kit's published runs have others and more of them (notebook 24 prints with which values), so their figures differ from
# those of a run that has this notebook's own.

# %%
from kit.data.store import load_tasks, save_episodes

texts = mat_search.text_questions(known, index, text_test, test_seed, held_out)
sets = {"coding-train": train, "coding-test": test}
sets |= {"search-train": search_tasks, "search-test": held_out, "text-test": texts}
sets |= given  # those of a folder take their place
folder = run_folder(run) / "data"
data_folder.save_sets(folder, sets)
for name, tasks in sets.items():
    assert [t.id for t in load_tasks(folder / f"{name}.jsonl")] == [t.id for t in tasks]
    print(f"data/{name}.jsonl: {len(tasks)} tasks")
save_episodes(folder / "coldstart.jsonl", played)
print(f"data/coldstart.jsonl: {len(played)} episodes")
play.keep(folder)
print("data/play.json: form of the prompt, length of snippets")
box.close()

# %% [markdown]
# ## Paper / here / why different

# %%
tested = {name: path.stem for name, path in visual_arft.test_sets(folder).items()}
print("                              paper    here")
print(f"coding tasks to train on      1,200  {len(sets['coding-train']):6,d}")
print(f"coding tasks to test on         200  {len(sets[tested['coding']]):6,d}")
print(f"search tasks to train on         20  {len(sets['search-train']):6,d}")
print(f"search tasks to test on         150  {len(sets[tested['search']]):6,d}")
where = f"{index.size:6,d} documents" if search == "offline" else "the web"
print(f"searches in                 the web  {where}")

# %% [markdown]
# The paper's coding images come from nine data sets of real documents, screens and scenes; ours are drawn (with `data`,
# four of those nine and two others). Its search
# questions were written by people; ours are made from a table of facts, so a program can check them. The released
# code of the paper trains single steps on stored tool output and never runs the code. Here each action is carried
# out, in training as well.
#
# ## What you have seen
#
# What are the two agents' tasks, and how do we know that they can be solved at all? (Each stored task passed a check without
# a model: a sheet, restored, looks most like the right answer, and each gold query finds its document. The demonstrations, of
# other tasks of the same form, add that the form works: a script that knows the answers plays them.)

# %% tags=["figure"]
from IPython.display import Markdown

best = max(rewards)
shared = sides[0] & sides[1]
needed = Counter(len(task.meta["queries"]) for task in held_out)
told = ", ".join(f"{n} need {queries}" for queries, n in sorted(needed.items()))
display(
    Markdown(f"""
- **By checks without a model**, above. Of {len(played)} demonstrations
  {rewards[best]} earn {best:g}: this shows that the form works, for their expert knows
  the answers.
- Held out are {len(test)} sheets, {counts["simple"]} of them Simple and
  {counts["hard"]}
  Hard, and {len(held_out)} searches, of which {told} queries one after the other.
- Training and test searches share {len(shared)} of {len(sides[0] | sides[1])}
  countries, so
  that a fact learnt by heart helps nowhere.
""")
)

# %% [markdown]
# Next: [22](22_visual_arft_rewards.ipynb), which pays these episodes in two ways and asks what each would teach.
