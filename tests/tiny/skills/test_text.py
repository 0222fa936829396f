"""Text skills: the answers are worked out here by running the code and by exchanging the items."""

import ast

import numpy as np

from pictures.scenes import Pixels
from tiny.skills.text import code, copying, sorting


def asked(sample) -> tuple[str, str]:
    question, answer = sample.turns[0]
    return str(question[-1]), answer.removesuffix(".")


def test_copying_swaps_the_items_it_names() -> None:
    checked = 0
    for seed in range(60):
        question, answer = asked(copying(np.random.default_rng(seed), []))
        if "Swap" not in question:
            continue
        words, command = question.rstrip(".").split(". Swap ")
        i, j = (int(v) for v in command.split(" and "))
        items = words.split(", ")
        items[i], items[j] = items[j], items[i]
        assert answer == ", ".join(items)
        checked += 1
    assert checked > 5


def test_lines_of_python_do_what_was_asked() -> None:
    kinds = set()
    for seed in range(200):
        question, answer = asked(code(np.random.default_rng(seed), []))
        if question.endswith("as a list."):
            assert ast.literal_eval(answer) == question.split(" = ")[1].removesuffix(" as a list.").split(", ")
            kinds.add("list")
        elif question.startswith("Swap"):
            _, i, _, j, _, row, _, call, _, _, made = question.rstrip(".").replace(",", "").split()
            given = {row: list("wxyz"), call: tuple}
            exec(answer, given)
            swapped = list("wxyz")
            swapped[int(i)], swapped[int(j)] = swapped[int(j)], swapped[int(i)]
            assert given[row] == swapped and given[made] == tuple(swapped)
            kinds.add("swap")
        elif "Now" in question:
            before, command, then = question.split(". ")
            row, _, words = before.partition(" = ")
            state = {row: words.split(", ")}
            exec(command, state)
            assert then == f"Now {row}?" and answer == ", ".join(state[row])
            kinds.add("read")
        else:
            call, _, rest = question.rstrip(".").partition(" ")
            (picture, more), made = rest.split(" as ")[0].split(", ", 1), rest.split(" as ")[1]
            given = {picture: "picture", call: lambda *values: values}
            exec(answer, given)
            assert given[made] == ("picture", ast.literal_eval(more))
            kinds.add("box" if more.startswith("[") else "number")
    assert kinds == {"list", "swap", "read", "box", "number"}


def test_sorting_again_and_again_puts_a_list_in_order() -> None:
    """Following what it says, one exchange at a time, never takes a right place back and ends in order."""
    done = 0
    for seed in range(80):
        sample = sorting(np.random.default_rng(seed), [])
        question, answer = asked(sample)
        now, _, right = question.removeprefix("Now ").removesuffix(". What next?").partition("; right order ")
        items, goal = now.split(", "), right.split(", ")
        if items == goal:
            assert answer == "Every place is right" and len(sample.turns) == 1
            done += 1
            continue
        _, place, _, needed, _, i, _, j = answer.replace(",", "").split()
        assert i == place and goal[int(i)] == needed == items[int(j)] and items[: int(i)] == goal[: int(i)]
        items[int(i)], items[int(j)] = items[int(j)], items[int(i)]
        assert sample.turns[1] == (("And now?",), f"Now {', '.join(items)}; right order {right}.")
    assert 5 < done < 60


def test_text_skills_take_no_pictures() -> None:
    no_pictures: list[Pixels] = []
    for skill in (copying, code, sorting):
        assert all(isinstance(p, str) for q, _ in skill(np.random.default_rng(0), no_pictures).turns for p in q)
