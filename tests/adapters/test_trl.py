"""TRL: the same episodes through its environments, tools as it reads them, groups, and nothing left behind."""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Mapping
from pathlib import Path
from threading import Event, Thread
from typing import Any

import psutil
import pytest
from adapted import Played, as_call, first, replies, seen
from transformers.utils.chat_template_utils import get_json_schema
from trl.chat_template_utils import is_chat_template_prefix_preserving, parse_response, supports_tool_calling

from adapters.opened import Opened, open_paper
from adapters.session import OVER, SessionError
from adapters.trl import environment_factory, reward_function, rows
from adapters.trl_tags import ChatProcessor, speak
from benchmarks.trainers import said_again, trainer_of
from kit.chat import Chat
from kit.train.grpo import GRPOSettings
from tiny import TINY

CODE = {"prompt": "brief", "allow_unsafe": True}
LOOK = "<think>I look.</think><code>observation(state)</code>"


def spoken(text: str, calls: bool) -> list[dict[str, Any]]:
    """A completion whose last message says a text; with ``calls`` it called a tool, too."""
    return [{"role": "assistant", "content": text} | ({"tool_calls": [{}]} if calls else {})]


def test_called_tools_are_the_loops(played: Played) -> None:
    """Each turn that keeps the form, as a call with a thought: replies, images, the reward with its parts."""
    with played.open() as opened:
        env = environment_factory(opened)()
        called = 0
        for episode, row in zip(played.episodes, rows(opened), strict=True):
            system, user = first(opened, episode)
            assert row["prompt"][0]["content"].startswith(system) and seen(env.reset(**row)) == user
            calls = [as_call(turn) for turn in episode.turns]
            if None in calls:
                continue
            called += 1
            for call, reply in zip(calls, replies(episode), strict=True):
                assert call is not None
                name, arguments, thought = call
                got = getattr(env, name.replace(".", "_"))(thought=thought, **arguments)
                assert seen(got) == (reply or [OVER]), (episode.task.id, call)
            same = opened.alone([episode], episode.task.target)[0]
            assert opened.score(env._session).parts == same.parts and opened.score(env._session).turns == same.turns
            assert opened.grouped or env.get_reward() == same.total
        assert called >= len(played.episodes) / 2


def test_turns_in_the_papers_tags_are_the_loops(played: Played) -> None:
    """All of them; the last is the completion's, which an environment isn't shown."""
    with played.open() as opened:
        factory, size = environment_factory(opened, tagged=True), 2
        for one in played.episodes:
            group = [one, one]  # of one task, as TRL has it
            envs = [factory() for _ in group]
            for env, episode in zip(envs, group, strict=True):
                assert seen(env.reset(task=episode.task.id)) == first(opened, episode)[1]
                for turn, reply in list(zip(episode.turns, replies(episode), strict=True))[:-1]:
                    assert seen(env.turn(text=turn.text)) == reply
            completions = [spoken(episode.turns[-1].text, False) for episode in group]
            logged: dict[str, float] = {}
            found = reward_function(opened, size)(completions, envs, log_metric=logged.__setitem__)
            scores = opened.reward(group, group[0].task.target)
            assert found == [score.total for score in scores]
            assert logged == {f"{played.name}/{part}": scores[0].parts[part] for part in scores[0].parts}
            assert [env._session.finish().ended for env in envs] == [episode.ended for episode in group]
        assert not any(session.env.toolset for session in opened.sessions), "all is given back at an episode's end"


def test_tools_are_methods_that_tell_their_types(played: Played) -> None:
    """As TRL finds them: functions of the class, read by transformers; some task offers each."""
    with played.open() as opened:
        env = environment_factory(opened)()
        found = {name for name, _ in inspect.getmembers(type(env), predicate=inspect.isfunction) if name[0] != "_"}
        assert found >= {"reset", "answer"} and ("get_reward" in found) != opened.grouped
        offered: Mapping[str, Any] = {}
        for task in opened.tasks.values():
            inner = opened.environment()
            inner.reset(options={"task": task})
            offered |= inner.toolset
            inner.close()
        assert found - {"reset", "get_reward", "answer"} == {name.replace(".", "_") for name in offered}
        for name, tool in offered.items():
            told = get_json_schema(getattr(env, name.replace(".", "_")))["function"]
            assert told["description"] == tool.description
            known, required = tool.parameters["properties"], tool.parameters.get("required", [])
            assert told["parameters"]["required"] == ["thought", *[one for one in known if one in required]]
            for one, schema in known.items():
                said = told["parameters"]["properties"][one]
                assert said["type"] == schema.get("type", said["type"]) and said.get("enum") == schema.get("enum")


WRONG: list[tuple[str, str, dict[str, Any], str]] = [
    ("agile", "code", {"code": 5}, "Error: code: code: 5 is not of type 'string'"),
    ("agile", "code", {}, "Error: code: arguments: 'code' is a required property"),
    ("agile", "code", {"code": "1", "why": 2}, "Error: code: arguments: Additional properties are not allowed ('why'"),
    ("mags_rl", "zoom", {"boxes": [[0.1, 0.1, 0.2, 0.2]]}, "Error: zoom: boxes: [[0.1, 0.1, 0.2, 0.2]] is not of"),
    ("vista_gym", "easyocr_read", {"min_confidence": "much"}, "Error: easyocr.read: min_confidence: 'much' is not"),
    ("your_own", "mark", {"place": "middle"}, "Error: mark: place: 'middle' is not one of ['top left'"),
]


@pytest.mark.parametrize(("paper", "tool", "arguments", "told"), WRONG)
def test_arguments_that_dont_fit_are_told_and_the_episode_goes_on(
    paper: str, tool: str, arguments: dict[str, Any], told: str
) -> None:
    with open_paper(paper, **({} if paper == "your_own" else CODE)) as opened:
        env = environment_factory(opened)()
        env.reset(task=next(iter(opened.tasks)))
        [reply] = getattr(env, tool)(thought="I try.", **arguments)
        assert reply["type"] == "text" and reply["text"].startswith(told)
        assert env._session.running and len(env._session.episode.turns) == 1
        assert seen(env.answer(thought="I know.", answer="5")) == [OVER] == seen(env.answer(thought="", answer="6"))
        assert env._session.episode.answer == "5" and isinstance(env.get_reward(), float)


def test_a_tool_that_a_task_hasnt_ends_it_as_in_the_loop() -> None:
    with open_paper("visual_arft", **CODE) as opened:
        env = environment_factory(opened)()
        env.reset(task=next(name for name, task in opened.tasks.items() if task.meta["tools"] == ["code"]))
        assert seen(env.search(thought="I look it up.", query="Chad")) == [OVER]
        assert env._session.episode.ended == "format"


def test_environments_are_used_again_and_an_interrupted_training_leaves_nothing() -> None:
    before = {child.pid for child in psutil.Process().children(recursive=True)}

    def train(opened: Opened) -> None:
        pool = [environment_factory(opened, tagged=True)() for _ in range(4)]
        for _ in range(3):
            for name, env in zip(opened.tasks, pool, strict=False):
                env.reset(task=name)
                env.turn(text=LOOK)
        assert len(opened.sessions) == len(pool)
        assert {child.pid for child in psutil.Process().children(recursive=True)} > before
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt), open_paper("agile", **CODE) as opened:
        train(opened)
    assert {child.pid for child in psutil.Process().children(recursive=True)} <= before


def test_two_episodes_in_one_environment_at_once_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    with open_paper("your_own") as opened:
        env = environment_factory(opened, tagged=True)()
        env.reset(task="golden-0000")
        inside, leave = Event(), Event()
        step = env._session.env.step

        def slow(text: str) -> Any:
            inside.set()
            leave.wait(60)
            return step(text)

        monkeypatch.setattr(env._session.env, "step", slow)
        one = Thread(target=env.turn, kwargs={"text": "<think>a</think><mark>top left</mark>"})
        one.start()
        inside.wait(60)
        for other in (lambda: env.reset(task="golden-0001"), lambda: env.turn(text="hm")):
            with pytest.raises(SessionError, match="at work on an episode; two at once need two environments"):
                other()
        leave.set()
        one.join()
        assert env._session.episode.task.id == "golden-0000" and len(env._session.episode.turns) == 1


def test_what_isnt_an_agents_doing_ends_the_training(monkeypatch: pytest.MonkeyPatch) -> None:
    """TRL tells a model of any exception and goes on; the reward then raises it."""
    with open_paper("your_own") as opened:
        env = environment_factory(opened)()
        with pytest.raises(SessionError, match="no episode has begun"):
            env.get_reward()
        env.reset(task="golden-0000")

        def gone(text: str) -> Any:
            raise OSError("no disk")

        monkeypatch.setattr(env._session.env, "step", gone)
        with pytest.raises(OSError, match="no disk"):
            env.mark(thought="a", place="top left")
        with pytest.raises(OSError, match="no disk"):
            env.get_reward()
        with pytest.raises(KeyError, match="no task 'gone'"):
            env.reset(task="gone")


def test_a_groups_reward_needs_all_of_the_group_and_pays_no_single_turn() -> None:
    """The limits: a process that holds half of a group is told; the credit of turns stays behind."""
    with open_paper("codedance", **CODE) as opened:
        pool = [environment_factory(opened, tagged=True)() for _ in range(4)]
        names = list(opened.tasks)[:2]

        def play(tasks: list[str]) -> list[Any]:
            for env, name in zip(pool, tasks, strict=True):
                env.reset(task=name)
                env.turn(text="<think>I try.</think><code>1 / 0</code>")
            return [spoken("<think>I know.</think><answer>?</answer>", False)] * len(pool)

        reward = reward_function(opened, 4)
        assert reward(play([names[0]] * 4), pool) == [pytest.approx(0.0)] * 4
        scores = opened.scores([env._session for env in pool])
        assert scores[0].turns == (-0.5, 0.0), "what TRL has no place for"
        with pytest.raises(ValueError, match="a group is of one task, and these are of"):
            reward(play([names[0]] * 3 + [names[1]]), pool)
        with pytest.raises(ValueError, match="4 episodes in this process, which are no whole groups of num_generat"):
            reward_function(opened, 8)(play([names[0]] * 4), pool)


@pytest.fixture(scope="module")
def chat() -> Chat:
    return Chat.from_pretrained(TINY)


@pytest.fixture(scope="module")
def opened() -> Iterator[Opened]:
    with open_paper("agile", max_turns=3, max_new_tokens=24, **CODE) as opened:
        yield opened


def test_a_processor_speaks_as_the_kit_does(chat: Chat, opened: Opened) -> None:
    """The prompt's ids, TRL's own checks of a template, and which turns are calls."""
    processor = speak(ChatProcessor(chat), opened)
    assert supports_tool_calling(processor) and is_chat_template_prefix_preserving(processor)
    env, inner = environment_factory(opened, tagged=True)(), opened.environment()
    for row, task in zip(rows(opened, tagged=True), opened.tasks.values(), strict=True):
        system, user = row["prompt"]
        messages = [{**system, "content": [{"type": "text", "text": system["content"]}]}]
        messages.append({**user, "content": env.reset(**row)})
        ids = processor.apply_chat_template([messages], add_generation_prompt=True, tokenize=True, return_dict=True)
        assert ids["input_ids"][0] == chat.prompt(*inner.prompt(task))
    for text, goes_on in ((LOOK, True), ("<think>a</think><answer>A</answer>", False), ("hm", False)):
        parsed = parse_response(processor.tokenizer, [*chat.text(text), chat.end_id], prefix=[])
        assert parsed["content"] == text and ("tool_calls" in parsed) == goes_on


def test_trls_own_trainer_takes_a_step_and_equal_texts_earn_the_same(tmp_path: Path, opened: Opened) -> None:
    """The limit: nothing but all tokens of a completion ends what a model goes on saying."""
    settings = GRPOSettings(prompts_per_batch=2, group_size=2, per_device_batch_size=4)
    trainer, clock, began = trainer_of(opened, TINY, tmp_path, 1, settings)
    trainer.train()
    assert len(clock.seconds) == 1 and len(began) == 4
    assert said_again(opened, TINY, [episode for episode, _ in began]) == [value for _, value in began]
