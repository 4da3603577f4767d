"""Prints what failed and what was skipped, with reasons, and closes with `N passed, N failed, N skipped`.

    summarize_tests.py <ctest JUnit file> <folder with lit-*.xml>

CTest sees each Catch2 test case as one test, but a whole lit suite as one: those entries are replaced by what lit wrote itself.
"""
import pathlib
import re
import sys
import xml.etree.ElementTree as ElementTree


def read_ctest(path):
    """Yields (name, outcome, reason, output) for each test of CTest."""
    for case in ElementTree.parse(path).getroot().iter("testcase"):
        output = case.findtext("system-out") or ""
        status = case.get("status")
        reason = ""
        if status == "run":
            outcome = "passed"
        elif status in ("notrun", "disabled"):
            outcome = "skipped"
            said = re.search(r"SKIPPED: (.*)", output)
            skipped = case.find("skipped")
            reason = said.group(1) if said else (skipped.get("message", "") if skipped is not None else "")
            # A program that could not be started is a failure, however CTest calls it.
            if not said and "SKIP" not in reason:
                outcome = "failed"
        else:
            outcome = "failed"
            failure = case.find("failure")
            reason = failure.get("message", "") if failure is not None else ""
        yield case.get("name"), outcome, reason, output


def read_lit(path):
    """Yields the same for each test of a lit suite."""
    for case in ElementTree.parse(path).getroot().iter("testcase"):
        name = f"lit/{case.get('classname', '').removeprefix('stator.')}/{case.get('name')}"
        skipped, failure = case.find("skipped"), case.find("failure")
        if failure is not None:
            yield name, "failed", "", failure.text or ""
        elif skipped is not None:
            yield name, "skipped", skipped.get("message", ""), ""
        else:
            yield name, "passed", "", ""


def main(ctest_file, lit_folder):
    results = []
    for name, outcome, reason, output in read_ctest(ctest_file):
        suite = re.fullmatch(r"lit/(\w+)", name)
        file = pathlib.Path(lit_folder) / f"lit-{suite.group(1)}.xml" if suite else None
        if file is None:
            results.append((name, outcome, reason, output))
            continue
        inner = list(read_lit(file)) if file.exists() else []
        # lit may fail as a whole (a broken configuration), then its own file tells nothing.
        if not inner or (outcome == "failed" and all(result[1] != "failed" for result in inner)):
            inner.append((name, "failed", "lit itself failed", output))
        results += inner

    failed = [result for result in results if result[1] == "failed"]
    skipped = [result for result in results if result[1] == "skipped"]
    for name, _, reason, output in failed:
        print(f"\nFAILED: {name}  {reason}")
        print("\n".join(output.splitlines()[-40:]))
    if skipped:
        print("\nskipped:")
        for name, _, reason, _ in skipped:
            print(f"  {name}: {reason or 'no reason given'}")
    passed = len(results) - len(failed) - len(skipped)
    print(f"\n{passed} passed, {len(failed)} failed, {len(skipped)} skipped", flush=True)
    return 1 if failed or passed == 0 else 0


sys.exit(main(*sys.argv[1:3]))
