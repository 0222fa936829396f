"""AGILE's figure draws the stages it is given, in order, beside chance."""

from __future__ import annotations

import numpy as np
import pytest

from papers.agile.figures import levels
from tests.view.test_charts import shown

RECORD = {"value": 0.5, "low": 0.4, "high": 0.6, "n": 30}


def test_levels_draw_stages_in_order_beside_chance() -> None:
    metrics = {f"{s}/acc_2x2{x}": RECORD for s in ("grpo", "untrained") for x in ("", "_L0", "_L1")}
    figure = levels({"metrics": metrics})
    axis = figure.axes[0]
    assert [p.get_height() for p in axis.patches] == [0.5] * 6  # type: ignore[attr-defined]
    assert [t.get_text() for t in axis.get_xticklabels()] == ["all", "L0", "L1"]
    assert [t.get_text() for t in figure.legends[0].get_texts()] == ["random", "untrained", "grpo"]
    assert np.asarray(axis.lines[-1].get_ydata())[0] == pytest.approx(1 / 24)
    shown(figure)
    with pytest.raises(ValueError, match="untrained has no acc_3x3"):
        levels({"metrics": metrics}, grid="3x3")
