#!/usr/bin/env python3
"""Markdown tables from the JSON files of compare_peers.py: times and ratios per batch size and thread count, then compile time and memory.

    tools/bench/tables.py results.json [more.json ...]

Of a model that is in several files, the last one counts.
"""
import argparse
import json
import math
import pathlib


def geomean(values):
    return math.exp(sum(map(math.log, values)) / len(values))


def milliseconds(record):
    if "median_ms" not in record:
        return ""
    value = record["median_ms"]
    return f"{value:.{3 if value < 1 else 2 if value < 10 else 1 if value < 100 else 0}f}"


def times(rows, labels):
    print("| model | " + " | ".join(labels) + " | ratio |\n|---|" + "---:|" * (len(labels) + 1))
    ratios = []
    for row in rows:
        known = [row["runtimes"].get(label, {}) for label in labels]
        best = min((record["median_ms"] for record in known if "median_ms" in record), default=None)
        cells = [f"**{milliseconds(r)}**" if r.get("median_ms") == best else milliseconds(r) for r in known]
        ratios += [row["ratio"]] if "ratio" in row else []
        print(f"| {row['model']} | {' | '.join(cells)} | {row.get('ratio', float('nan')):.2f} |")
    if ratios:
        print(f"| geomean | {' | ' * (len(labels) - 1)} | {geomean(ratios):.2f} |")


def number(value, form):
    return format(value, form) if isinstance(value, (int, float)) else ""


def footprint(rows, labels):
    ours = labels[-1]
    print("| model | compile s | load ms | " + " | ".join(f"{label} ready ms" for label in labels[:-1]) +
          " | weights MB | arena MB | live at once MB | `run` MB | error |\n|---|" + "---:|" * (len(labels) + 6))
    for row in rows:
        record = row["runtimes"].get(ours, {})
        peers = " | ".join(number(row["runtimes"].get(label, {}).get("load_ms"), ".0f") for label in labels[:-1])
        print(f"| {row['model']} | {number(record.get('compile_s'), '.1f')} | {number(record.get('load_ms'), '.2f')} | {peers} | "
              f"{number(record.get('weights_mb'), '.1f')} | {number(record.get('arena_mb'), '.1f')} | {number(record.get('live_peak_mb'), '.1f')} | "
              f"{number(record.get('run_mb'), '.0f')} | {number(record.get('error'), '.1e')} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0], epilog="\n".join(__doc__.splitlines()[2:]),
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="+", type=pathlib.Path, metavar="FILE.json")
    options = parser.parse_args()
    rows, machine, versions = {}, {}, {}
    for file in options.files:
        if not file.is_file():
            parser.error(f"`{file}` is not there")
        content = json.loads(file.read_text())
        machine, versions = content["machine"], versions | {k: v for k, v in content["versions"].items() if v}
        rows |= {(row["model"], row["threads"]): row for row in content["rows"]}
    rows = list(rows.values())
    labels = [label for label in versions if not label.startswith("stator")]
    labels += [label for label in versions if label.startswith("stator")][:1]
    print(f"{machine['cpu']}, {machine['cores']} CPUs, {machine['system']}; " + ", ".join(f"{k} {versions[k]}" for k in labels))
    groups = sorted({(int(row["model"].rpartition("_b")[2] or 1) if row["model"].rpartition("_b")[2].isdigit() else 1, row["threads"]) for row in rows})
    for batch, threads in groups:
        chosen = [r for r in rows if r["threads"] == threads and (r["model"].endswith(f"_b{batch}") or (batch == 1 and "_b" not in r["model"]))]
        print(f"\n### Batch {batch}, {threads} thread{'s' if threads > 1 else ''}, ms\n")
        times(chosen, labels)
    print("\n### Compile time, start and memory\n")
    least = min(row["threads"] for row in rows)
    footprint([row for row in rows if row["threads"] == least], labels)


if __name__ == "__main__":
    main()
