"""A judge's reply is read whole, or it has no verdict: numbers as models write them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from papers.mags_rl.verdict import verdict

REPLIES: dict[float | None, list[str]] = {
    0: [
        "0",
        "1. The answers differ. Score: 0",
        "1 seems fair.</think>\n\n0",
        "0%",
        "Score: 0 because the right answer is 1.",
        "a score of 0 because the right answer is 1.",
        "0. Something else.",
        "0/1",
        "Step 1: compare. Step 2: they differ. So 0.",
        "SCORE: 0.0",
        "0 points",
        "It is 100% wrong: 0",
        "I'm 90% sure: 0",
        "No match. 0",
        "0, something else",
        "Given 12 apples rather than 1, I say 0",
        "<reasoning>1</reasoning><verdict>0</verdict>",
    ],
    0.25: [
        "Score: 0.25.",
        "1/4",
        "<think>At first 1 seems fair, but no.</think> 0.25",
        "$0.25$",
        '{"score": "0.25", "reason": "1 of 4"}',
        "I'd give it a score of **0.25** because 1 detail differs.",
        "At first 1 seems fair, but 0.25 is right.",
        "The given answer is 2 kittens, the right one 1 cat: 0.25",
        "Verdict - 0.25",
        "Verdict – 0.25",
        "0.25<think>or 1",
        "0.25.",
    ],
    0.333: [
        "0.333",
    ],
    0.5: [
        " .5\n",
        "**0.5**",
        "`0.5`",
        "[[0.5]]",
        '```json\n{"verdict": 0.5}\n```',
        "<answer>0.5</answer>",
        "Final score: 0.5/1",
        "The score is 0.5.",
        "A score of 1 would be too high: 0.5",
        "On a scale from 0 to 1, I'd give 0.5.",
        "½",
        "０．５",
        "gpt-4o says 0.5",
        "1) The colour is the same.\n2) The animal differs.\n\n0.5",
        "1. Same animal.\n2. Other place.\nVerdict: 0.5",
        "0.5. It names the colour, not the 1 cat.",
        "0.5: the right answer is 1.",
        "Score for colour: 1\nScore for place: 0\nOverall score: 0.5",
        "Score (out of 1): 0.5",
        "Scoring: 1 = same, 0 = nothing.\nScore: 0.5",
        "[THINK]1?[/THINK]0.5",
        "◁think▷1◁/think▷0.5",
        "<|channel|>analysis<|message|>1<|end|><|start|>assistant<|channel|>final<|message|>0.5<|return|>",
        "\u200b0.5",
        "Score: 0.5\nConfidence: 0.9",
        "I rate this 0.5 out of 1.",
        "score=.5",
        "score: 1/2",
        "0.5 points",
        "Score: 50 %",
        "Score:\n0.5",
        "**Score:** 0.5",
        "**Score**: 0.5",
        "Score: **0.5** / 1",
        "Score: 0.5 / 1.0",
        "½ of it",
        "Question 1: 0.5",
        "0.5 0.5",
        "#### 0.5",
        "The final verdict is 0.5",
        "> 0.5",
        "• 0.5",
        "- 0.5",
        "~0.5",
        'score: "0.5"',
        "{'score': 0.5, 'max': 1}",
        "Score = 0.5 (not 1)",
        "The score: 0.5 (because 1 of 2 is right)",
        "0.5 (half)",
        "Similarity score: .5",
        "Score - 0.5",
        "(0.5)",
        "Reply: 0.5",
        "Score: 0.5.",
        "<THINK>1</THINK>0.5",
        "< think >1</ think >0.5",
        "1 / 2",
        "1⁄2",
        "+0.5",
    ],
    0.7: [
        "score 7 out of 10",
    ],
    0.75: [
        "0.75",
        "3 out of 4",
        "0.75/1",
        "75%",
        "75 %",
        "75 percent",
        "Score: 3/4",
        "\\boxed{0.75}",
        '{"score": 0.75}',
        "<score>0.75</score>",
        "I would first say 1, but a detail differs: 0.75",
        "¾",
        "0,75",
        "0.75 - the same but for a detail",
        "Score → 0.75",
        "Score (0 to 1): 0.75",
        "0.75\n\nThe answer says 2 cats, not 1.",
        "The same but for a detail.\n\n0.75",
        "Answer: 0.75",
        "<think>1</think><think>0</think>0.75",
        "The score can't be 1, so 0.75",
        "≈0.75",
        "0.75*",
        "score of 3/4",
        "Score: 3 / 4",
        "75/100",
        "0.75 out of 1.0",
        "Score: ¾",
    ],
    0.8: [
        "Score: 8/10",
        "Rating: 4/5",
    ],
    1: [
        "1",
        "1.0",
        "100%",
        "1.",
        "1!",
        "Rating: 1",
        "5/5",
        "1/1",
        "Score : 1",
        "The verdict is: 1",
        "1 point",
        "# 1",
        "Match: 1",
        "yes, 1",
        "Verdict: 1. The answers are the same.",
        "Score: 1.\nReason: 2 cats",
        "The answers match, so 1.",
        "Rating [[1]]",
        "[1]",
        "1 (the same)",
        "Score: +1",
    ],
    None: [
        "75",
        "10",
        "Much alike.",
        "",
        "<think>1 it is, or",
        "1%",
        "Score: 8",
        "Between 0 and 100, I'd give 85.",
        "0.5-0.75",
        "0.5–0.75",
        "between 0.5 and 0.75",
        "-1",
        "-0.5",
        "−0.5",
        "1.5",
        "2",
        "1,000",
        "1/2/2024",
        "v1.0",
        "1. The same.",
        "1: the same. 0.75: the same but for a detail. 0.5: half of it. 0.25: little. 0: something else",
        "Score: null",
        '{"score": null, "confidence": 0.9}',
        "Score: N/A",
        "1/0",
        "2/1",
        "I can't judge this.",
        "I'm sorry, I can't assist with that.",
        "0.5 or 0.75",
        "Score: 0.5 or 0.75",
        "nan",
        "inf",
        "1e-1",
        "Score: -1",
        "Score: 50",
        "0 (90% sure)",
        "Zero",
        "Right answer: 1\nGiven answer: 0.5",
        "Verdict is -0.5",
        "0.5\n0.75",
        "one",
        "Score: three out of four",
        "1 out of two",
        "3 of 4",
        "0.5 out of one",
        "$1",
        "1:00",
        "1st",
        "H2O",
        "1°",
        "1½",
    ],
}
"""Verdict → replies that say so. None: there is none, or not one alone."""


@pytest.mark.parametrize(
    ("reply", "said"), [(reply, said) for said, replies in REPLIES.items() for reply in replies], ids=repr
)
def test_a_verdict_is_read_as_it_is_meant_or_not_at_all(reply: str, said: float | None) -> None:
    assert verdict(reply) == said


@pytest.mark.parametrize(
    ("reply", "said"),
    [
        *(("It is less than 1", None), ("It cannot be 1", None), ("At most 0.5.", None), ("Score: <0.5", None)),
        *(("This isn't a 1.", None), ("Not 1, I think", None), ("Score: not 1", None), ("It is above 0.25", None)),
        *(("Score: at most 0.25", None), ("0.5~0.75", None), ("Score: 0.25 → 0.5", None), ("Score: >= 0.5", None)),
        *(("It is less than 1, so 0.75", 0.75), ("It can't be 1. Score: 0.25", 0.25), ("not 1 but 0.5", 0.5)),
        *(("The answers do not match: 0", 0.0), ("Not alike. 0", 0.0), ("It says no more. 0.5", 0.5)),
    ],
)
def test_a_bound_is_no_verdict(reply: str, said: float | None) -> None:
    assert verdict(reply) == said


@given(st.text(st.characters(exclude_categories=())))
def test_any_reply_can_be_read(reply: str) -> None:
    said = verdict(reply)
    assert said is None or 0.0 <= said <= 1.0


@given(st.sampled_from([0.0, 0.25, 0.5, 0.75, 1.0]), st.text(st.characters(categories=["L", "Zs"])))
def test_a_verdict_alone_is_read_whatever_was_thought(value: float, thought: str) -> None:
    for reply in (f"{value}", f"{value:g}", f"<think>{thought} 0.3</think>\n{value}", f"Score: {value}\n{thought}"):
        assert verdict(reply) == value


@pytest.mark.parametrize(
    "piece", ["1", "1/", "<think>", "score ", "0.5 ", "(", "$", "1. ", "answer is ", "- ", "out of "]
)
def test_a_model_that_repeats_itself_is_read_too(piece: str) -> None:
    assert verdict(piece * 10_000) == verdict(piece * 10)
