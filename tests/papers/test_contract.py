"""What every paper promises, tried through its record alone: a sixth one is tried by being registered.

Each brings tasks that a script plays right (:class:`papers.registry.Golden`). The same tasks are played by scripts that
keep no form, and by a model that never answers.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, fields, is_dataclass, replace
from importlib import import_module
from inspect import signature
from pathlib import Path
from typing import Any

import pytest
from gymnasium.utils.env_checker import check_env
from hypothesis import given, settings
from hypothesis import strategies as st
from stubborn_models import says

from kit.chat import Chat
from kit.environment import ToolEnv
from kit.episode import Action, Episode, Score, Task, Turn
from kit.evaluate.outcomes import REASONS, Outcome
from kit.policy import Policy
from kit.policy.hf import HFPolicy, load_model_and_chat
from kit.policy.scripted import Script, ScriptedPolicy
from kit.rollout import rollout
from kit.tools.base import run_tool
from kit.train.experiment import Rollouts
from kit.train.playable import UnplayableTasks, check_playable
from papers.claims import VERDICTS, Claim
from papers.registry import PAPERS, Golden, Paper, PaperError, papers
from papers.results import read_results, write_results
from workshop.jobs.notebooks import find, parameters
from workshop.jobs.run import profile_values

MALFORMED = {
    "nothing": "",
    "noise": "\x00 ]] }} \u202e 1e999 <|im_end|>",
    "no tag closes": "<think>I look.<answer>",
    "an empty answer": "<think>I know.</think><answer></answer>",
    "another type": '<think>I know.</think><answer>{"a": [null, 1e400]}</answer>',
    "tags the wrong way round": "</answer></think><think><answer>",
}
"""Turns that no task is answered by."""

NAMES = ("think", "rethink", "answer", "code", "search", "zoom", "tool_call")
TAGS = st.sampled_from([f"<{end}{name}>" for name in NAMES for end in ("", "/")])
BOX, CALL = "[[0, 0, 0.3, 0.3]]", '{"tool": "easyocr.read", "arguments": {}}'
HELD = st.sampled_from(("print(1)", BOX, CALL, "A, B", "7", "\ud800", "1e999")) | st.text(st.characters())
BLOCKS = st.builds("<{0}>{1}</{0}>".format, st.sampled_from(NAMES), HELD)
ANY_TEXT = st.lists(BLOCKS | TAGS | HELD, max_size=6).map("".join)
"""Tags in any order, what may stand between them, and whatever else there is, halves of characters too."""


@dataclass(frozen=True)
class Tried:
    """A paper with what plays its tasks, and the episodes that its script plays right."""

    paper: Paper
    golden: Golden
    chat: Chat
    right: Sequence[Episode]

    def environment(self) -> ToolEnv:
        """Make one by the record: by its limits where they do, else by itself."""
        play = self.golden.play
        made: Any = play.environment(self.golden.tools) if isinstance(play, Rollouts) else None
        return made or self.paper.load_environment()()

    def played(self, policy: Policy, tasks: Sequence[Task] = ()) -> list[Episode]:
        """Play the tasks, or some others, greedily."""
        config = replace(self.golden.play, temperature=0.0)
        return rollout(policy, self.chat, tasks or self.golden.tasks, self.environment, config)

    def by_script(self, script: Script, tasks: Sequence[Task] = ()) -> list[Episode]:
        """Play them by a script."""
        return self.played(ScriptedPolicy(self.chat, script), tasks)

    def stepped(self, task: Task, texts: Sequence[str]) -> Episode:
        """Say some texts to an environment, whatever they are, until it is over."""
        env, turns, over = self.environment(), [], False
        env.reset(options={"task": task})
        while texts and not over:
            (text, *texts) = texts
            seen, _, over, _, info = env.step(text)
            assert isinstance(seen.text, str) and env.observation_space.contains(seen)
            turns.append(Turn((), (), text, info["action"], None if over else seen))
        env.close()
        answered = bool(turns and turns[-1].action and turns[-1].action.name == "answer")
        return Episode(task, (), tuple(turns), "answer" if answered else "format" if over else "turns")

    def scores(self, *episodes: Episode) -> list[Score]:
        """Score episodes of one task as one group."""
        return self.golden.reward(episodes, episodes[0].task.target)


@pytest.fixture(scope="module", params=papers())
def tried(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Tried]:
    from tiny import TINY

    paper = papers()[request.param]
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("KIT_RUNS", str(tmp_path_factory.mktemp("runs")))
        with paper.open_golden() as golden:
            ready = Tried(paper, golden, Chat.from_pretrained(TINY), ())
            yield replace(ready, right=ready.by_script(golden.script))


def test_its_parts_are_where_the_record_says(tried: Tried) -> None:
    paper = tried.paper
    assert issubclass(paper.load_environment(), ToolEnv)  # type: ignore[arg-type]
    assert isinstance(tried.environment(), paper.load_environment())  # type: ignore[arg-type]
    assert paper.name not in PAPERS or (paper.validate and paper.claims and paper.fidelity)
    assert not paper.fidelity or paper.load_fidelity()
    assert [source.name for source in find(paper.name)] == list(paper.notebooks)
    assert all(is_dataclass(paper.settings_of(name)) for name in paper.settings)
    numbers = {int(name[:2]) for name in paper.notebooks}
    assert {made for needed in paper.needs.values() for made in needed.values()} <= numbers
    assert paper.load_judge("grpo") is paper.load_evaluation().is_right
    assert all(callable(paper.load_judge(part)) for part in paper.judges)
    for part in ("environment", "limits", "evaluation", "validate", "claims", "golden"):
        gone = replace(paper, **{part: "papers.registry:Gone"})
        load = gone.open_golden if part == "golden" else getattr(gone, f"load_{part}")
        with pytest.raises(PaperError, match=rf"'{paper.name}': its {part} can't be loaded from 'papers.registry"):
            load()


def test_made_tasks_are_solvable_and_a_spoiled_one_is_refused(tried: Tried) -> None:
    golden, validate = tried.golden, tried.paper.load_validate()
    check_playable({"made": golden.tasks}, tried.chat, tried.environment, golden.play)
    if validate is None:
        return
    check_playable({"made": golden.tasks}, validate=lambda one: validate(one, golden.tools))
    assert golden.spoiled is not None, "a task that its validate refuses"
    with pytest.raises(UnplayableTasks, match="made:1, task "):
        check_playable({"made": [golden.spoiled]}, validate=lambda one: validate(one, golden.tools))


def test_a_task_that_lacks_what_its_check_reads_is_refused_by_the_fields_name(tried: Tried) -> None:
    """Whatever a task lacks, its check says so or doesn't need it; what is told names the field."""
    golden, validate = tried.golden, tried.paper.load_validate()
    if validate is None:
        return
    for task in golden.tasks:
        for name in task.meta:
            one = replace(task, meta={other: value for other, value in task.meta.items() if other != name})
            told = validate(one, golden.tools)
            assert not told or f"meta[{name!r}]" in told, (task.id, name)
        for gold in (None, (), ("",)):
            assert "gold answer" in validate(replace(task, target=gold), golden.tools)
        with suppress(UnplayableTasks):  # some kinds need no image
            one = replace(task, images=(), originals=())
            check_playable({"made": [one]}, validate=lambda one: validate(one, golden.tools))


def test_an_environment_begins_each_task_and_its_tools_tell_what_they_take(tried: Tried) -> None:
    env = tried.environment()
    try:
        for task in tried.golden.tasks:
            env.reset(options={"task": task})
            system, user = env.prompt(task)
            assert isinstance(system, str) and [part for part in user if not isinstance(part, str)] == [*task.images]
            assert any(isinstance(part, str) and part.strip() for part in user)
            assert env.toolset and env.protocol.stops
            for name, tool in env.toolset.items():
                assert name == tool.name and tool.description and json.dumps(dict(tool.parameters))
                assert tool.parameters["type"] == "object"
                told = run_tool(tool, Action(name, "", {"no such argument": 1}), {})
                assert told.status == "error" and told.text, "an argument that no schema has is told"
    finally:
        env.close()
    check_env(tried.environment(), skip_render_check=True)
    env.reset(seed=0)
    assert env.task.images or env.task.question, "whoever resets without a task is given one"
    env.close()


def test_the_script_earns_what_its_parts_say_and_more_than_any_other(tried: Tried) -> None:
    evaluation = tried.paper.load_evaluation()
    assert [e.ended for e in tried.right] == ["answer"] * len(tried.golden.tasks)
    for name, text in MALFORMED.items():
        wrong = tried.by_script(lambda episode, text=text: text)
        for right, other in zip(tried.right, wrong, strict=True):
            best, less = tried.scores(right, other)
            for score in (best, less):
                assert score.total == pytest.approx(sum(score.parts.values())), (name, score)
            assert best.correct and not less.correct and best.total > less.total, (name, right.task.id)
            assert evaluation.is_right(right, right.task.target)
            assert other.ended != "answer" or not evaluation.is_right(other, other.task.target)


@settings(max_examples=80)
@given(data=st.data())
def test_no_text_makes_a_turn_a_reward_or_an_outcome_raise(tried: Tried, data: st.DataObject) -> None:
    """Turns of the script's own come between, so that tools are called and answers are judged."""
    right = max(tried.right, key=lambda episode: len(episode.turns))
    own = st.sampled_from([turn.text for turn in right.turns])
    said = tried.stepped(right.task, data.draw(st.lists(own | ANY_TEXT, max_size=4)))
    _, found = tried.scores(right, said)
    assert found.total == pytest.approx(sum(found.parts.values()))
    assert len(found.turns) in (0, len(said.turns))
    [outcome] = tried.paper.load_evaluation().outcomes([said])
    assert outcome.reason in REASONS and outcome.correct == found.correct


def test_a_model_that_never_answers_plays_a_whole_episode_and_is_scored(tried: Tried, tmp_path: Path) -> None:
    model, chat = load_model_and_chat(says("", tmp_path))
    task, right = tried.golden.tasks[0], tried.right[0]
    [mute] = replace(tried, chat=chat).played(HFPolicy(model, chat), [task])
    assert mute.ended in ("format", "turns", "tokens") and mute.answer is None
    best, least = tried.scores(right, mute)
    assert not least.correct and least.total < best.total
    [outcome] = tried.paper.load_evaluation().outcomes([mute])
    assert not outcome.correct and outcome.reason == mute.ended


def test_outcomes_go_there_and_back(tried: Tried, tmp_path: Path) -> None:
    evaluation = tried.paper.load_evaluation()
    wrong = tried.by_script(lambda episode: MALFORMED["an empty answer"])
    episodes = [*tried.right, *wrong]
    saved = evaluation.save_stage(tmp_path, "grpo", episodes, {"tasks": 1})
    outcomes = evaluation.outcomes(episodes, seed=3)
    assert all(type(outcome) is evaluation.outcome_type and outcome.reason in REASONS for outcome in outcomes)
    assert [outcome.correct for outcome in outcomes] == [True] * len(tried.right) + [False] * len(wrong)
    assert evaluation.load_outcomes(tmp_path, "grpo", seed=3) == outcomes
    assert [outcome for outcome, _ in evaluation.load_calls(tmp_path, "grpo", seed=3)] == outcomes
    assert evaluation.load_stage(tmp_path, "grpo") == saved
    assert evaluation.has_stage(tmp_path, "grpo", {"tasks": 1}) and not evaluation.has_stage(tmp_path, "grpo", {})
    assert sum(evaluation.failures(episodes).values()) == pytest.approx(1)
    with pytest.raises(FileNotFoundError, match="stage 'sft' was not evaluated"):
        evaluation.load_stage(tmp_path, "sft")
    with pytest.raises(ValueError, match="still running"):
        evaluation.outcomes([Episode(tried.golden.tasks[0], ())])
    with pytest.raises(ValueError, match="nothing to evaluate"):
        evaluation.evaluate([])
    with pytest.raises(ValueError, match="small letters"):
        evaluation.save_stage(tmp_path, "../sft", episodes)
    file = tmp_path / "results.json"
    name = tried.paper.notebooks[-1]
    write_results(file, notebook=name, profile="smoke", seed=0, minutes=1, stages={"grpo": saved})
    kept = read_results(file)
    assert kept is not None and "grpo" in evaluation.table(kept) == evaluation.table({"grpo": saved})
    assert not evaluation.headlines or evaluation.summary(saved)


def made_of(kind: Any, outcomes: Sequence[Outcome]) -> Any:
    """What a claim's parameter takes where it takes outcomes; None where it takes anything else."""
    told = str(kind)
    if "Row" in told or "Mapping[str, Any]" in told:
        return None
    if told.startswith("Mapping[int"):
        return {4: outcomes, 8: outcomes}
    if told.startswith("Mapping"):
        return None
    return outcomes if "Outcome" in told or told == "Some" else None


def test_claims_on_made_outcomes_name_a_verdict(tried: Tried) -> None:
    """Nothing differs between the stages, so whatever a claim says of a gain isn't found."""
    paper, evaluation = tried.paper, tried.paper.load_evaluation()
    wrong = tried.by_script(lambda episode: MALFORMED["an empty answer"])
    found = evaluation.outcomes([*tried.right, *wrong])
    again = [(s, k, o) for s in range(3) for k in range(4) for o in found]
    made = [replace(o, task=f"{o.task}-{k}", image=f"{o.image}-{k}", seed=s) for s, k, o in again]
    tested = {}
    for name, statement in paper.load_claims().items():
        test: Callable[..., Claim] | None = getattr(import_module(paper.claims.partition(":")[0]), name.lower(), None)
        if test is None:
            continue
        kinds = {p.name: p.annotation for p in signature(test).parameters.values() if p.default is p.empty}
        given = {parameter: made_of(kind, made) for parameter, kind in kinds.items()}
        if all(value is not None for value in given.values()):
            tested[name] = claim = test(**given)
            assert claim.name == name and claim.statement == statement and claim.verdict in VERDICTS
            assert claim.evidence
    assert tested or not paper.claims


def test_profiles_are_values_that_its_limits_take(tried: Tried) -> None:
    for source in find(tried.paper.name):
        defaults = {name: parameter.default for name, parameter in parameters(source).items()}
        for profile in ("smoke", "laptop", "gpu", "node"):
            tried.paper.limits_of({**defaults, **profile_values(source, profile)})


def test_a_limit_that_no_episode_can_have_is_refused_by_name(tried: Tried) -> None:
    """Whatever is a number: by the limits, or by the environment that is made by them before anything is played."""
    counts = [field.name for field in fields(tried.paper.load_limits()) if type(field.default) in (int, float)]
    assert len(counts) >= 5
    for name, value in (*((name, -1) for name in counts), ("max_turns", 0), ("env_workers", 0), ("temperature", -0.5)):
        with pytest.raises(ValueError, match=rf"{name}={value}"):
            refused: Any = tried.paper.limits_of({name: value})
            refused.environment(refused.idle())
