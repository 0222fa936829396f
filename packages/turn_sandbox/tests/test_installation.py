"""What an agent isn't told: threads that a library left running, and where on the host Python and its packages lie."""

from __future__ import annotations

import os
import sys
import sysconfig
from collections.abc import Iterator
from pathlib import Path

import pytest

import turn_sandbox
from turn_sandbox import PLOTTING, Limits, Sandbox, SandboxEpisode
from turn_sandbox.installation import without_paths

PLACES = sorted(
    {
        os.path.realpath(path)
        for path in (
            *sysconfig.get_paths().values(),
            sys.prefix,
            sys.base_prefix,
            Path(turn_sandbox.__file__).parents[1],
        )
    }
    - {"/usr", "/usr/local"}
)
FRAME = "import pandas as pd\nframe = pd.DataFrame({'city': ['Ulm', 'Bern'], 'n': [1.5, 2]})\n"
POINTS = "import numpy as np\nx, y = np.random.default_rng(0).random((40, 3)), [0, 1] * 20\n"

OF_LIBRARIES = {
    "pandas": "import pandas",
    "parquet": FRAME + "frame.to_parquet('a.parquet')\nprint(pd.read_parquet('a.parquet'))",
    "feather": FRAME + "frame.to_feather('a.feather')\nprint(pd.read_feather('a.feather'))",
    "csv read by pyarrow": FRAME + "frame.to_csv('a.csv')\nprint(pd.read_csv('a.csv', engine='pyarrow'))",
    "json read by pyarrow": "open('a.json', 'w').write('{\"a\": 1}')\nimport pyarrow.json as j\nj.read_json('a.json')",
    "a data set": FRAME
    + "import pyarrow.dataset as d, pyarrow as p\nd.write_dataset(p.table(frame), 'd', format='parquet')",
    "pyarrow's sum": "import pyarrow as p, pyarrow.compute as c\nprint(c.sum(p.array([1, 2, 3])))",
    "grouping": FRAME + "print(frame.groupby('city').n.mean())",
    "dates": FRAME + "print(pd.to_datetime(['2024-01-02', 'no date'], errors='coerce'))",
    "k-means": POINTS + "from sklearn.cluster import KMeans\nKMeans(2, n_init=2).fit(x)",
    "a forest on two cores": POINTS
    + "from sklearn.ensemble import RandomForestClassifier as F\nF(4, n_jobs=2).fit(x, y)",
    "neighbours": POINTS + "from sklearn.neighbors import KNeighborsClassifier as K\nprint(K(3).fit(x, y).score(x, y))",
    "cross-validation": POINTS
    + "from sklearn import linear_model as l, model_selection as m\nprint(m.cross_val_score(l.Ridge(), x, y).shape)",
    "joblib": "from joblib import Parallel, delayed\nprint(Parallel(n_jobs=2)(delayed(abs)(i) for i in range(3)))",
    "joblib's threads": "from joblib import Parallel, delayed\n"
    "print(Parallel(n_jobs=2, backend='threading')(delayed(abs)(i) for i in range(3)))",
    "cores": "import joblib\nprint(joblib.cpu_count(only_physical_cores=True) > 0)",
    "a bar of tqdm's": "from tqdm import tqdm\nfor i in tqdm(range(3)): pass",
    "a decomposition": "import numpy as np\nnp.linalg.svd(np.eye(200))",
    "workers of scipy's": "import numpy as np, scipy.fft\nscipy.fft.fft(np.ones(4096), workers=2)",
    "scipy": "from scipy.optimize import minimize\nprint(minimize(lambda x: (x - 1) ** 2, 0.0).x.round(3))",
    "OpenCV": "import cv2, numpy as np\nprint(cv2.GaussianBlur(np.zeros((300, 300), np.uint8), (5, 5), 0).shape)",
    "scikit-image": "import numpy as np\nfrom skimage import measure\nprint(measure.label(np.eye(4)).max())",
    "a search index": "import tantivy\nprint(tantivy.SchemaBuilder().build() is not None)",
    "networkx": "import networkx as nx\nprint(nx.shortest_path(nx.path_graph(4), 0, 3))",
    "a pool that is closed": "import concurrent.futures as f\nwith f.ThreadPoolExecutor(2) as p: p.submit(print)",
    "a thread that is joined": "import threading\nt = threading.Thread(target=print)\nt.start()\nt.join()",
    "asyncio's pool": "import asyncio\nasync def f(): await asyncio.to_thread(print, 1)\nasyncio.run(f())",
}


@pytest.fixture(scope="module")
def box() -> Iterator[Sandbox]:
    with Sandbox(Limits(seconds=90), preload=PLOTTING) as made:  # some import for seconds on a busy machine
        yield made


@pytest.fixture(params=[False, True], ids=["script", "cell"])
def episode(box: Sandbox, request: pytest.FixtureRequest) -> Iterator[SandboxEpisode]:
    with box.episode(cell=request.param) as one:
        yield one


@pytest.mark.parametrize("code", OF_LIBRARIES.values(), ids=OF_LIBRARIES)
def test_what_a_library_keeps_running_is_no_news(episode: SandboxEpisode, code: str) -> None:
    result = episode.run(code)
    assert (result.status, result.warnings) == ("ok", ()), result
    assert "joblib" not in result.stderr, "it found no locks"
    assert episode.run("print('goes on')").stdout == "goes on\n"


@pytest.mark.parametrize(
    ("code", "count"),
    [
        ("threading.Thread(target=time.sleep, args=(60,), daemon=True).start()", 1),
        ("for _ in range(3): threading.Thread(target=time.sleep, args=(60,)).start()", 3),
        ("class T(threading.Thread):\n    def run(self): time.sleep(60)\nT().start()", 1),
        ("threading.Timer(60, print).start()", 1),
        ("import _thread\n_thread.start_new_thread(time.sleep, (60,))", 1),
        ("import concurrent.futures as f\np = f.ThreadPoolExecutor(2)\np.submit(time.sleep, 60)", 1),
        ("import queue, logging.handlers as h\nh.QueueListener(queue.Queue()).start()", 1),
        ("import pandas\nthreading.Thread(target=time.sleep, args=(60,)).start()", 1),
        ("import tqdm\nlist(tqdm.tqdm([1]))\nthreading.Thread(target=time.sleep, args=(60,)).start()", 1),
        (
            "def start(): threading.Thread(target=time.sleep, args=(60,)).start()\n[start() for _ in 'ab']",
            2,
        ),
        ("open('own.py', 'w').write('import threading\\nthreading.Timer(60, print).start()')\nimport own", 1),
    ],
)
def test_threads_of_the_agents_own_are_named(episode: SandboxEpisode, code: str, count: int) -> None:
    result = episode.run("import threading, time\n" + code)
    assert (result.status, result.warnings) == ("ok", (f"{count} threads outlived the turn and were ended",))
    assert not episode.run("print(threading.active_count())").warnings


WITH_PATHS = {
    "a library's warning": "import numpy as np\nnp.mean([])",
    "scikit-learn's": POINTS + "from sklearn.linear_model import LogisticRegression as L\nL(max_iter=1).fit(x, y)",
    "warnings of the sandbox's own drawing": "import matplotlib.pyplot as plt\nplt.title('中文')",
    "a name that isn't there": "from numpy import nothing",
    "one in the standard library": "from json import nothing",
    "a traceback through the standard library": "import json, traceback\n"
    "try: json.loads('{')\nexcept ValueError: traceback.print_exc()",
    "a traceback through a library": FRAME
    + "import traceback\ntry: frame['x']\nexcept KeyError: traceback.print_exc()",
    "a traceback on standard output": "import json, traceback, sys\n"
    "try: json.loads('{')\nexcept ValueError: traceback.print_exc(file=sys.stdout)",
    "the whole stack": "import traceback\ntraceback.print_stack()",
    "a log with the stack": "import logging\nlogging.getLogger().error('x', stack_info=True)",
    "a failing thread": "import threading as t, json\na = t.Thread(target=json.loads, args='{')\na.start()\na.join()",
    "files of modules": "import numpy, os, sys\nprint(numpy.__file__, os.__file__, numpy)",
    "Python's own": "import sys\nprint(sys.path, sys.prefix, sys.base_prefix, sys.executable)",
    "a missing file": "import sys\nopen(sys.prefix + '/nothing')",
    "an error raised by hand": "import numpy\nraise ValueError('x' * 60 + numpy.__file__)",
    "one that advice follows": "import numpy\nopen(numpy.__file__ + 'x' * 90, 'w')",
    "settings of matplotlib": "import matplotlib\nprint(matplotlib.get_data_path(), matplotlib.matplotlib_fname())",
    "a class's source": "import inspect, json\nprint(inspect.getsourcefile(json.JSONDecoder))",
    "where packages lie": "import site\nprint(site.getsitepackages())",
}


@pytest.mark.parametrize("code", WITH_PATHS.values(), ids=WITH_PATHS)
def test_no_path_of_the_host_is_told(episode: SandboxEpisode, code: str) -> None:
    result = episode.run(code)
    told = "\n".join((result.stdout, result.stderr, result.error, *result.warnings))
    assert "<python>" in told or "<sandbox>" in told, told
    assert not [path for path in PLACES if path in told]


def test_a_path_is_told_by_where_it_begins_and_others_stay() -> None:
    packages = sysconfig.get_paths()["purelib"]
    assert without_paths(f"{packages}/numpy/__init__.py:3: {packages}") == "<python>/numpy/__init__.py:3: <python>"
    place = without_paths(turn_sandbox.__file__)
    assert place in ("<sandbox>/turn_sandbox/__init__.py", "<python>/turn_sandbox/__init__.py")
    for other in ("/usr/bin/env", "/episode/out.png", "https://a.b/usr/local/c", "1/2", "/tmp/x", ""):
        assert without_paths(other) == other
