#!/usr/bin/env python3
"""Measures Roost on a Kubernetes cluster, beside bare pods and Jobs in the same run. See bench/README.md.

    python3 bench/cluster.py --registry HOST[:PORT] --executor-image IMAGE --builder-image IMAGE [--quick]
    python3 bench/cluster.py --url URL --key KEY [--agents-namespace NAME] [--account NAMESPACE/NAME]

Needs Python 3.9 or later, kubectl with a kubeconfig, Java 17 or later, and Maven when nothing has been built yet.
"""

import argparse
import datetime
import json
import os
import sys
from pathlib import Path
from typing import Any

from roost_bench import cluster_cold, cluster_load, environment, machine, report
from roost_bench.cluster_context import ClusterContext, Options

MEASURE = {
    "cold": cluster_cold.cold,
    "pools": cluster_cold.pools,
    "shapes": cluster_cold.shapes,
    "warm": cluster_load.warm,
    "throughput": cluster_load.throughput,
    "burst": cluster_load.burst,
}
# Rounds; --quick and not.
SIZES = {"cold": (2, 20), "shapes": (2, 10), "jobs": (2, 10), "warm": (20, 300), "seconds": (4, 20), "burst": (4, 100)}


def arguments() -> argparse.Namespace:
    """The options of the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="few rounds: does it work, not how fast is it")
    parser.add_argument("--only", action="append", choices=list(MEASURE), metavar="NAME", help=", ".join(MEASURE))
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures there as well")
    for name, what in {
        "cold": "cold starts of each kind",
        "shapes": "pods of each shape",
        "jobs": "plain Jobs, one after another",
        "warm": "warm executions",
        "seconds": "length of each load",
        "burst": "agents that are submitted at once",
    }.items():
        parser.add_argument(f"--{name}", type=int, metavar="N", help=what)
    images = parser.add_argument_group("the control plane that is started here")
    images.add_argument("--registry", default=os.environ.get("REGISTRY", ""), help="HOST[:PORT]; or $REGISTRY")
    for name, what in {
        "repository": "where builds push; REGISTRY/NAMESPACE/agents if not given",
        "base-image": "as roost.kubernetes.base-image",
        "builder-image": "as roost.kubernetes.builder-image",
        "executor-image": "as roost.kubernetes.executor-image",
        "executor-url": "how pods reach the control plane; found by the way to the first node if not given",
    }.items():
        images.add_argument(f"--{name}", help=what)
    parser.add_argument("--requirement", default="six==1.17.0", help="what the agent with a requirement needs")
    parser.add_argument("--namespace", help="the name of the namespace that is made and removed")
    parser.add_argument("--no-calls", action="store_true", help="make no FlowSchemas, count no API calls")
    running = parser.add_argument_group("a Roost that runs already")
    running.add_argument("--url", help="its address: no control plane is started")
    running.add_argument("--key", default=os.environ.get("ROOST_API_KEY"), help="an API key; or $ROOST_API_KEY")
    running.add_argument("--agents-namespace", help="where its executors are: needed to see where cold time goes")
    running.add_argument("--account", metavar="NAMESPACE/NAME", help="its service account: needed to count API calls")
    given = parser.parse_args()
    if given.url is None and not (given.repository or given.registry or "ROOST_KUBERNETES_REPOSITORY" in os.environ):
        parser.error("--registry, --repository or --url is needed")
    if given.url is not None and not given.key:
        parser.error("--url needs --key")
    return given


def options_of(given: argparse.Namespace) -> Options:
    """The same, with the numbers of rounds."""
    sizes = {name: quick if given.quick else full for name, (quick, full) in SIZES.items()}
    sizes.update({name: getattr(given, name) for name in SIZES if getattr(given, name) is not None})
    texts = ["repository", "base_image", "builder_image", "executor_image", "executor_url", "namespace"]
    texts += ["agents_namespace", "account", "url", "key", "registry", "requirement", "quick"]
    values: dict[str, Any] = {**sizes, **{name: getattr(given, name) for name in texts}}
    return Options(calls=not given.no_calls, **values)


def main() -> int:
    """Runs the measurements and prints them as they come."""
    given = arguments()
    options = options_of(given)
    if options.url is None:
        environment.build_application()
    began = datetime.datetime.now(datetime.timezone.utc)
    about = machine.describe()
    print(machine.text(about), flush=True)
    sections: dict[str, list[report.Row]] = {}
    try:
        with ClusterContext.started(options) as context:
            for name in [name for name in MEASURE if not given.only or name in given.only]:
                print(f"… {name}", file=sys.stderr, flush=True)
                for title, rows in MEASURE[name](context).items():
                    sections[title] = rows
                    print(report.table(title, rows), flush=True)
    except KeyboardInterrupt:
        print("\nInterrupted.", file=sys.stderr)
        return 130
    finally:
        if given.json and sections:
            document = {
                "date": began.isoformat(timespec="seconds"),
                "quick": given.quick,
                "machine": about,
                "sections": {name: [row.as_json() for row in rows] for name, rows in sections.items()},
            }
            given.json.write_text(json.dumps(document, indent=2) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
