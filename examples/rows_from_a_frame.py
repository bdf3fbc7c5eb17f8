"""Many rows at once from a data frame: holes, soft evidence, a row that cannot be, and answers beside the rows."""

import warnings

import numpy as np
import pandas as pd

import juncture as jt

model = jt.example("asia")
patients = pd.DataFrame(
    {
        "smoke": ["yes", "no", None, "no"],
        "dysp": ["yes", "yes", "no", None],
        "tub": [None, None, None, "yes"],
        "either": [None, None, None, "no"],  # contradicts tub=yes
    }
)

# an X-ray read with doubt: p(reading | state) for each state, ones where there was none
readings = np.array([[0.9, 0.2], [1.0, 1.0], [0.1, 0.8], [1.0, 1.0]])
evidence = jt.Evidence(patients, likelihoods={"xray": readings})

with warnings.catch_warnings():
    warnings.simplefilter("ignore", jt.errors.ImpossibleEvidenceWarning)  # looked at below
    beliefs = jt.infer(model, evidence, targets=["lung", "bronc"])

answers = patients.assign(
    p_lung=beliefs["lung"]["yes"], p_bronc=beliefs["bronc"]["yes"], log_evidence=beliefs.log_evidence
)
print(answers.round(4).to_string())
print(f"rows that cannot be: {beliefs.impossible}")

best = jt.most_probable(model, patients.head(3), targets=["lung", "bronc"])
print(best.assignments.to_pandas().assign(probability=np.exp(best.log_prob)).to_string())
