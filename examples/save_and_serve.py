# %% [markdown]
# # Save a model, and answer questions about new rows over HTTP
#
# The standard library is enough for a first service: rows come in as JSON, both intervals and the
# novelty of each row go out. Run as `python examples/save_and_serve.py`.

# %%
import json
import tempfile
import threading
import urllib.request
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pandas as pd
from sklearn.datasets import load_diabetes

import confide

# %% Where the model is made: fit, calibrate, save. The file holds arrays and JSON.
X, y = load_diabetes(return_X_y=True, as_frame=True)
path = Path(tempfile.mkdtemp()) / "diabetes.confide"
model = confide.BootstrappedDeepEnsembleRegressor(recipe="paper", max_epochs=20, random_state=0)
model.fit(X[:300], y[:300]).calibrate(X[300:400], y[300:400])
model.save(path)

# %% Where it is used: load it once, and answer.
served = confide.load(path)


class Answer(BaseHTTPRequestHandler):
    """Predictions for the rows that are posted, or what is wrong with them."""

    def do_POST(self):
        """Reads rows, writes a prediction for each."""
        try:
            body = self.rfile.read(int(self.headers["Content-Length"] or 0))
            rows = pd.DataFrame(json.loads(body))
            answer, status = served.get_prediction(rows).summary_frame(confidence_level=0.9), 200
        except (RecursionError, TypeError, ValueError) as error:
            answer, status = pd.DataFrame({"error": [str(error)]}), 400
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.end_headers()
        self.wfile.write(answer.to_json(orient="records").encode())

    def log_message(self, *_):
        """Says nothing."""


server = HTTPServer(("127.0.0.1", 0), Answer)
threading.Thread(target=server.serve_forever, daemon=True).start()

# %% Somebody asks.
question = X[400:402].to_json(orient="records").encode()
address = f"http://127.0.0.1:{server.server_port}"
with urllib.request.urlopen(urllib.request.Request(address, question)) as response:
    answers = pd.DataFrame(json.load(response))
server.shutdown()
server.server_close()
columns = ["mean", "mean_ci_lower", "mean_ci_upper", "obs_ci_lower", "obs_ci_upper", "novelty"]
print(answers[columns].round(2))  # noqa: T201
