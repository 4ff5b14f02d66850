#!/usr/bin/env python3
"""Models of scikit-learn as skl2onnx writes them, against ONNX Runtime: compiled once each, run for several numbers of rows.

    scikit.py BIN KIND [MODEL…]            KIND is one of the tables below; all its models, or those named

Prints a line for each model that differs; ends with 1 when there is one. Texts are the words of meta.classes."""
import os
import re
import subprocess
import sys
import tempfile
import warnings

import numpy as np
import onnxruntime
from sklearn import ensemble, linear_model, neural_network, preprocessing, svm, tree
from sklearn.calibration import CalibratedClassifierCV
from sklearn.cluster import KMeans
from sklearn.compose import ColumnTransformer
from sklearn.decomposition import PCA
from sklearn.feature_selection import SelectKBest
from sklearn.impute import SimpleImputer
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from skl2onnx import to_onnx
from skl2onnx.common.data_types import FloatTensorType

warnings.filterwarnings("ignore")
onnxruntime.set_default_logger_severity(4)
rng = np.random.RandomState(0)
np.random.seed(0)       # the models' own: of 260 forests one has ten trees of 20 on either side, and sums in another order decide
X = rng.randn(160, 5).astype(np.float32)
Y = (2 * X[:, 0] - X[:, 1] + .3 * rng.randn(160)).astype(np.float32)
THREE = np.digitize(Y, [-1, 1])
WORDS = np.array(["low", "middle", "high"])[THREE]
GAPS = np.where(rng.rand(160, 5) < .1, np.float32(np.nan), X)
KINDS = np.column_stack([rng.randint(0, 4, 160), rng.randint(0, 3, 160)]).astype(np.float32)

OPEN = "linear", "svc_two", "perceptron", "forest_two"      # the number of columns is open too

# name: (model, what it learns from, what it learns)
columns = {
    "standard": (preprocessing.StandardScaler(), X, None),
    "minmax": (preprocessing.MinMaxScaler(), X, None),
    "imputer": (make_pipeline(SimpleImputer(), preprocessing.RobustScaler()), GAPS, None),
    "normalizer": (preprocessing.Normalizer("l1"), X, None),
    "binarizer": (preprocessing.Binarizer(threshold=.1), X, None),
    "polynomial": (preprocessing.PolynomialFeatures(), X, None),
    "onehot": (preprocessing.OneHotEncoder(handle_unknown="ignore", sparse_output=False), KINDS, None),
    "ordinal": (preprocessing.OrdinalEncoder(), KINDS, None),
    "bins": (preprocessing.KBinsDiscretizer(4, encode="onehot-dense"), X, None),
    "pca": (PCA(3), X, None),
    "kmeans": (KMeans(4, n_init=2), X, None),
}
models = {
    "linear": (linear_model.LinearRegression(), X, Y),
    "logistic": (linear_model.LogisticRegression(), X, WORDS),
    "logistic_two": (linear_model.LogisticRegression(), X, THREE > 1),
    "sgd": (linear_model.SGDClassifier(loss="log_loss"), X, THREE),
    "calibrated": (CalibratedClassifierCV(svm.LinearSVC()), X, THREE),
    "svr": (svm.SVR(), X, Y),
    "svr_poly": (svm.SVR(kernel="poly"), X, Y),
    "svc": (svm.SVC(), X, THREE),
    "svc_two": (svm.SVC(kernel="sigmoid"), X, THREE > 1),
    "svc_probability": (svm.SVC(probability=True), X, WORDS),
    "oneclass": (svm.OneClassSVM(), X, None),
    "bayes": (GaussianNB(), X, THREE),
    "neighbours": (KNeighborsClassifier(), X, THREE),
    "perceptron": (neural_network.MLPClassifier((8,), max_iter=40), X, THREE),
    "pipeline": (make_pipeline(SimpleImputer(), preprocessing.StandardScaler(), PCA(3),
                               linear_model.LogisticRegression()), GAPS, WORDS),
    "selection": (make_pipeline(SelectKBest(k=2), svm.SVC()), X, THREE),
}
trees = {
    "tree": (tree.DecisionTreeClassifier(max_depth=6), X, THREE),
    "regression": (tree.DecisionTreeRegressor(max_depth=6), X, Y),
    "forest": (ensemble.RandomForestClassifier(20), X, WORDS),
    "forest_two": (ensemble.RandomForestClassifier(20), X, THREE > 1),
    "forest_targets": (ensemble.RandomForestRegressor(9, max_depth=7), X, np.column_stack([Y, -Y])),
    "extra": (ensemble.ExtraTreesClassifier(9), X, THREE),
    "boosting": (ensemble.GradientBoostingClassifier(n_estimators=12), X, THREE),
    "boosting_two": (ensemble.GradientBoostingClassifier(n_estimators=12), X, THREE > 1),
    "boosting_regression": (ensemble.GradientBoostingRegressor(n_estimators=12), X, Y),
    "bagging": (ensemble.BaggingClassifier(n_estimators=4), X, THREE),
    "adaptive": (ensemble.AdaBoostClassifier(n_estimators=6), X, THREE),
    "columns": (make_pipeline(ColumnTransformer([("a", make_pipeline(SimpleImputer(), preprocessing.StandardScaler()),
                                                  [0, 1, 2]), ("b", preprocessing.MinMaxScaler(), [3, 4])]),
                              ensemble.RandomForestClassifier(9)), np.column_stack([GAPS[:, :3], X[:, 3:]]), WORDS),
}


def tool(folder, name, *args, stdin=None):
    p = subprocess.run([os.path.join(sys.argv[1], name), *args], input=stdin, capture_output=True, cwd=folder)
    if p.returncode:
        raise RuntimeError(f"{name} ended with {p.returncode}: {p.stderr.decode().strip()}")
    return p.stdout


def words(folder):
    """The texts that an output's codes stand for, by output"""
    rows = re.findall(r'^(?:classes)? +(\w+) \[(".*")\]$', tool(folder, "info", "m.onnx").decode(), re.M)
    return {name: np.array(re.findall(r'"([^"]*)"', text)) for name, text in rows}


def wanted(session, x):
    for out, v in zip(session.get_outputs(), session.run(None, {session.get_inputs()[0].name: x})):
        columns_of_maps = isinstance(v, list)
        yield out.name, np.array([list(row.values()) for row in v], np.float32) if columns_of_maps else v


def same(y, want, classes):
    if want.dtype.kind in "OU":
        return y.shape == want.shape and (classes[y] == want).all()
    return y.shape == want.shape and y.dtype == want.dtype and np.allclose(y, want, rtol=1e-4, atol=1e-5, equal_nan=True)


def check(name, model, x, y, folder, zipmap):
    model.fit(x) if y is None else model.fit(x, y)
    classifier = hasattr(model, "classes_")
    shape = [None, None] if name in OPEN else [None, x.shape[1]]
    made = to_onnx(model, initial_types=[("X", FloatTensorType(shape))],
                   options={id(model): {"zipmap": zipmap}} if classifier else None)
    with open(f"{folder}/m.onnx", "wb") as f:
        f.write(made.SerializeToString())
    session = onnxruntime.InferenceSession(f"{folder}/m.onnx", providers=["CPUExecutionProvider"])
    program = tool(folder, "trace", "m.onnx")
    for stage in (["fuse"], ["render", "-t", "clang"], ["compile"]):
        program = tool(folder, *stage, stdin=program)
    classes = words(folder)
    for rows in 1, 3, 64:
        np.save(f"{folder}/x.npy", x[:rows])
        tool(folder, "run", "@0=x.npy", "-o", ".", stdin=program)
        for out, want in wanted(session, x[:rows]):
            if not same(np.load(f"{folder}/{out}.npy"), want, classes.get(out)):
                raise RuntimeError(f"{out} differs with {rows} rows")


def main():
    table = globals()[sys.argv[2]]
    bad = 0
    for name in sys.argv[3:] or table:
        with tempfile.TemporaryDirectory() as folder:
            try:
                check(name, *table[name], folder, zipmap=name in ("logistic", "sgd"))
            except RuntimeError as why:
                bad += 1
                print(f"{name}: {why}", file=sys.stderr)
    sys.exit(bad > 0)


main()
