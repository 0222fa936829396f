"""The loop: ids are concatenated, endings are named, pictures are never cut, batches change nothing."""

import io
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from PIL import Image

from kit.chat import Chat
from kit.episode import Action, Episode, NamedImage, Observation, Task
from kit.policy import SamplingParams
from kit.policy.hf import HFPolicy
from kit.policy.scripted import ScriptedPolicy, next_turn
from kit.protocol import FormatError
from kit.rollout import RolloutConfig, content, rollout
from kit.seeding import seed_per_episode
from papers.agile.env import PROTOCOL, JigsawEnv
from papers.agile.puzzle import make_task
from pictures.scenes import scene

PARAMS = SamplingParams(stops=PROTOCOL.stops, max_new_tokens=120)
CONFIG = RolloutConfig(max_turns=5, max_new_tokens=120, max_episode_tokens=28192)
LOOK = "<think>look</think><code>observation_image_{k} = observation(state)</code>"


class Echo:
    """An environment without a sandbox: shows a picture of a size its task asks for."""

    protocol = PROTOCOL
    made: tuple[NamedImage, ...] | None = None

    def prompt(self, task: Task) -> tuple[str, list[Any]]:
        return "system", [*task.images, task.question]

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Observation, dict]:
        assert options is not None
        self.side = int(options["task"].meta["side"])
        return Observation(""), {}

    def step(self, action: str) -> tuple[Observation, float, bool, bool, dict]:
        parsed = PROTOCOL.parse(action)
        if isinstance(parsed, FormatError):
            return Observation("no", status="format"), 0.0, True, False, {"action": None}
        if parsed.name == "answer":
            return Observation(""), 1.0, True, False, {"action": parsed}
        picture = NamedImage("seen", Image.new("RGB", (self.side, self.side)))
        seen = (picture,) if self.made is None else self.made
        return Observation("here ", seen), 0.0, False, False, {"action": parsed}

    def close(self) -> None: ...


def task_of(side: int, name: str = "t") -> Task:
    return Task(name, (NamedImage("A", Image.new("RGB", (56, 56))),), "?", ("A",), {"side": side})


def script(looks: int) -> Any:
    def say(episode: Episode) -> str:
        k = len(episode.turns)
        return LOOK.format(k=k + 1) if k < looks else "<think>done</think><answer>[A]</answer>"

    return say


def play(chat: Chat, say: Any, tasks: list[Task], config: RolloutConfig = CONFIG) -> list[Episode]:
    return rollout(ScriptedPolicy(chat, say), chat, tasks, Echo, config)


def image_tokens(chat: Chat, episode: Episode) -> tuple[int, int]:
    """Tokens in the ids, features the pictures will give."""
    return episode.ids.count(chat.image_id), sum(chat.image_tokens(p) for p in episode.images)


def test_an_observation_is_told_in_reading_order() -> None:
    image = NamedImage("part", Image.new("RGB", (28, 28)))
    assert content(Observation("Here: ", (image,), closing="Which?")) == ["Here: ", "part: ", image, "Which?"]
    assert content(Observation("", (image,))) == ["part: ", image]


@pytest.mark.parametrize("looks", [0, 1, 4])
@pytest.mark.parametrize("side", [28, 57, 140, 224])
def test_image_tokens_equal_image_features(chat: Chat, looks: int, side: int) -> None:
    (episode,) = play(chat, script(looks), [task_of(side)])
    tokens, features = image_tokens(chat, episode)
    assert tokens == features > 0
    assert episode.ended == "answer" and episode.calls == looks


def test_ids_read_back_as_the_conversation(chat: Chat) -> None:
    (episode,) = play(chat, script(1), [task_of(56)])
    text = chat.decode(episode.ids)
    assert LOOK.format(k=1) in text and "here seen: " in text and text.endswith("</answer>")
    spoken = chat.decode([i for i, m in zip(episode.ids, episode.mask, strict=True) if m])
    assert spoken == "".join(turn.text for turn in episode.turns)


@pytest.mark.parametrize(
    ("say", "ended", "turns"),
    [
        (script(1), "answer", 2),
        (script(9), "turns", 5),
        (lambda episode: "hello", "format", 1),
    ],
)
def test_endings_are_named(chat: Chat, say: Any, ended: str, turns: int) -> None:
    (episode,) = play(chat, say, [task_of(56)])
    assert (episode.ended, len(episode.turns)) == (ended, turns)
    assert episode.turns[-1].observation_ids == ()


@pytest.mark.parametrize(("said", "ended", "turns"), [(1, "answer", 2), (9, "turns", 5)])
def test_a_turn_without_an_action_is_answered_where_the_environment_goes_on(
    chat: Chat, box: Any, said: int, ended: str, turns: int
) -> None:
    task = make_task(
        Image.fromarray(scene(np.random.default_rng(0), 112)), 2, 0, np.random.default_rng(0), "t", "s", 56
    )
    right = f"<think>so</think><answer>{list(task.target)}</answer>"
    policy = ScriptedPolicy(chat, lambda episode: "hello" if len(episode.turns) < said else right)
    (episode,) = rollout(policy, chat, [task], lambda: JigsawEnv(box, on_no_action="tell"), CONFIG)
    assert (episode.ended, len(episode.turns), episode.calls) == (ended, turns, 0)
    first = episode.turns[0]
    assert first.action is None and first.observation is not None and first.observation.status == "format"
    assert "holds neither" in chat.decode(list(first.observation_ids))
    assert sum(episode.mask) == sum(len(turn.ids) for turn in episode.turns)


def test_a_picture_that_would_not_fit_ends_the_episode_uncut(chat: Chat) -> None:
    (free,) = play(chat, script(2), [task_of(224)])
    limit = len(free.prompt_ids) + len(free.turns[0].ids) + PARAMS.max_new_tokens + 20
    (episode,) = play(chat, script(2), [task_of(224)], replace(CONFIG, max_episode_tokens=limit))
    assert episode.ended == "tokens" and len(episode.turns) == 1
    tokens, features = image_tokens(chat, episode)
    assert tokens == features == chat.image_tokens(episode.task.images[0])


def test_a_response_has_a_limit_of_its_own(chat: Chat) -> None:
    (free,) = play(chat, script(2), [task_of(224)])
    room = len(free.turns[0].ids) + PARAMS.max_new_tokens + 20
    (episode,) = play(chat, script(2), [task_of(224)], replace(CONFIG, max_response_tokens=room))
    assert episode.ended == "tokens" and len(episode.turns) == 1
    assert play(chat, script(2), [task_of(224)], replace(CONFIG, max_response_tokens=28192)) == [free]


def test_a_response_shorter_than_a_turn_is_refused() -> None:
    with pytest.raises(ValueError, match=r"max_response_tokens=119: a turn may have 120"):
        replace(CONFIG, max_response_tokens=119)


class Broken(Image.Image):
    """An image of a class of its own, whose pixels can't be had."""

    def load(self) -> Any:
        raise RuntimeError("no pixels \ud800 here")


def cut_off() -> Image.Image:
    """A file that ends before its pixels do; PIL notices when they are asked for."""
    file = io.BytesIO()
    Image.fromarray(scene(np.random.default_rng(0), 112)).save(file, "PNG")
    return Image.open(io.BytesIO(file.getvalue()[: len(file.getvalue()) // 2]))


def broken() -> Image.Image:
    image = Broken()
    image._size, image._mode = (56, 56), "RGB"
    return image


LONG = "it has 1000 x 4 pixels; the longer side may be at most 200 times the shorter one"
UNREADABLE = {
    "long": (lambda: Image.new("RGB", (1000, 4)), LONG),
    "empty": (lambda: Image.new("RGB", (0, 4)), "it has 0 x 4 pixels; both sides need at least 1"),
    "cut off": (cut_off, "OSError: "),
    "broken": (broken, "RuntimeError: no pixels \\ud800 here"),
    "no image": (lambda: np.zeros((9, 9)), "TypeError: "),
}


@pytest.mark.parametrize("kind", UNREADABLE)
def test_an_image_that_cant_be_read_is_told_and_the_episode_goes_on(chat: Chat, kind: str) -> None:
    make, why = UNREADABLE[kind]

    class Strips(Echo):
        def reset(self, **given: Any) -> tuple[Observation, dict]:
            task = given["options"]["task"]
            self.made = (NamedImage("strip", make()),) if task.id == "bad" else None
            return super().reset(**given)

    mixed = [task_of(56, "a"), task_of(56, "bad"), task_of(84, "c")]
    first, bad, last = rollout(ScriptedPolicy(chat, script(2)), chat, mixed, Strips, CONFIG)
    assert [first, last] == play(chat, script(2), [mixed[0], mixed[2]])
    assert (bad.ended, bad.calls) == ("answer", 2)
    seen = bad.turns[0].observation
    assert seen is not None and (seen.images, seen.status) == ((), "error")
    read = chat.decode(list(bad.turns[0].observation_ids))
    assert f"Error: image strip can't be shown: {why}" in read and "\nhere " in read
    tokens, features = image_tokens(chat, bad)
    assert tokens == features == 4


def test_beside_an_image_that_cant_be_read_the_others_are_shown(chat: Chat) -> None:
    class Two(Echo):
        made = (NamedImage("x", Image.new("RGB", (1000, 4))), NamedImage("x", Image.new("RGB", (56, 56))))

    (episode,) = rollout(ScriptedPolicy(chat, script(1)), chat, [task_of(56)], Two, CONFIG)
    seen = episode.turns[0].observation
    assert seen is not None and (seen.images, seen.status) == (Two.made[1:], "ok")
    assert seen.text == f"Error: image x can't be shown: {LONG}\nhere "


def test_the_last_turns_image_is_told_as_well(chat: Chat) -> None:
    class Strips(Echo):
        made = (NamedImage("strip", cut_off()),)

    (episode,) = rollout(ScriptedPolicy(chat, script(9)), chat, [task_of(56)], Strips, CONFIG)
    seen = episode.turns[-1].observation
    assert episode.ended == "turns" and seen is not None and seen.images == () and "can't be shown" in seen.text


@pytest.mark.parametrize("kind", ["long", "empty", "cut off"])
def test_a_task_that_cant_be_read_is_refused_before_anything_is_sampled(chat: Chat, kind: str) -> None:
    make, why = UNREADABLE[kind]

    def say(episode: Episode) -> str:
        raise AssertionError("a turn was sampled")

    bad = replace(task_of(56, "seven"), images=(NamedImage("photo", make()),))
    with pytest.raises(ValueError, match=r"task seven: Qwen2.5-VL can't read image photo: ") as error:
        play(chat, say, [task_of(56), bad])
    assert why in str(error.value) and "leave the task out" in str(error.value)


def test_a_prompt_over_budget_ends_before_a_turn(chat: Chat) -> None:
    (episode,) = play(chat, script(1), [task_of(56)], replace(CONFIG, max_episode_tokens=50))
    assert episode.ended == "tokens" and episode.turns == ()


def test_a_budget_without_turns_is_refused() -> None:
    with pytest.raises(ValueError, match=r"RolloutConfig.max_turns=0: must be at least 1"):
        RolloutConfig(max_turns=0)


def test_eight_episodes_at_once_equal_eight_alone(box: Any, chat: Chat, model: Any, tasks: list[Task]) -> None:
    """Greedy, with the real environment and sandbox: a random model, so mostly format errors, plus a scripted start."""
    config = replace(CONFIG, max_new_tokens=12, temperature=0.0)
    together = rollout(HFPolicy(model, chat), chat, tasks, lambda: JigsawEnv(box), config)
    for task, episode in zip(tasks, together, strict=True):
        (alone,) = rollout(HFPolicy(model, chat), chat, [task], lambda: JigsawEnv(box), config)
        assert (alone.ids, alone.mask, alone.ended) == (episode.ids, episode.mask, episode.ended)


def test_half_a_batch_plays_what_the_whole_would(box: Any, chat: Chat, model: Any, tasks: list[Task]) -> None:
    """Sampled: an episode's seed is its own, so it doesn't matter who else is played, or by which process."""
    config = replace(CONFIG, max_new_tokens=12)
    whole = rollout(HFPolicy(model, chat), chat, tasks, lambda: JigsawEnv(box), config, seed=3)
    second = seed_per_episode(3, len(tasks))[len(tasks) // 2 :]
    half = rollout(HFPolicy(model, chat), chat, tasks[len(tasks) // 2 :], lambda: JigsawEnv(box), config, seed=second)
    assert [e.ids for e in half] == [e.ids for e in whole[len(tasks) // 2 :]]
    other = rollout(HFPolicy(model, chat), chat, tasks, lambda: JigsawEnv(box), config, seed=4)
    assert [e.ids for e in other] != [e.ids for e in whole]


def test_batched_play_with_pictures_equals_alone(box: Any, chat: Chat, tasks: list[Task]) -> None:
    """Different numbers of looks in one batch: every episode is what it is alone, pictures included."""

    def say(episode: Episode) -> str:
        return script(int(episode.task.id[-1]) % 4)(episode)

    def env() -> JigsawEnv:
        return JigsawEnv(box)

    together = rollout(ScriptedPolicy(chat, say), chat, tasks, env, CONFIG)
    for task, episode in zip(tasks, together, strict=True):
        (alone,) = rollout(ScriptedPolicy(chat, say), chat, [task], env, CONFIG)
        assert replace(alone, task=episode.task) == episode
        assert isinstance(episode.turns[-1].action, Action)


@pytest.mark.parametrize("shown", [[], ["B"], ["A", "A"]])
def test_a_prompt_that_shows_other_images_than_the_tasks_is_refused(chat: Chat, shown: list[str]) -> None:
    class Other(Echo):
        def prompt(self, task: Task) -> tuple[str, list[Any]]:
            return "", [*(NamedImage(name, Image.new("RGB", (56, 56))) for name in shown), task.question]

    with pytest.raises(ValueError, match=r"task t: the prompt shows .*, the task has \['A'\]: show all of task.images"):
        rollout(ScriptedPolicy(chat, script(0)), chat, [task_of(56)], Other, CONFIG)


def test_a_prompt_may_show_equal_copies(chat: Chat) -> None:
    class Copies(Echo):
        def prompt(self, task: Task) -> tuple[str, list[Any]]:
            return "", [*(NamedImage(i.name, i.image.copy()) for i in task.images), task.question]

    (episode,) = rollout(ScriptedPolicy(chat, script(0)), chat, [task_of(56)], Copies, CONFIG)
    assert episode.ended == "answer"


def test_a_written_script_says_its_turns_in_order_and_nothing_after_its_answer() -> None:
    begun = Episode(task_of(56, "t-7"), ())
    assert next_turn(["a", "b"], begun) == "a"
    with pytest.raises(ValueError, match="expert on task t-7: its answer was turn 2, the last"):
        next_turn(["a", "b"], replace(begun, turns=(None, None)))  # type: ignore[arg-type]
