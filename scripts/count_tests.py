#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Prints "N passed, N failed, N skipped" of a ctest JUnit report; exits 1 when a test failed or none ran."""
import sys
import xml.etree.ElementTree as tree


def main() -> int:
    try:
        suite = tree.parse(sys.argv[1]).getroot()
    except (OSError, tree.ParseError) as error:
        print(f"count_tests: {error}", file=sys.stderr)
        print("0 passed, 1 failed, 0 skipped")
        return 1
    passed, failed, skipped = 0, [], []
    for case in suite.iter("testcase"):
        if case.get("status") in ("notrun", "disabled") or case.find("skipped") is not None:
            skipped.append(case.get("name"))
        elif case.get("status") == "run" and case.find("failure") is None:
            passed += 1
        else:
            failed.append(case.get("name"))
    for name in skipped:
        print(f"skipped: {name}")
    for name in failed:
        print(f"FAILED: {name}")
    print(f"{passed} passed, {len(failed)} failed, {len(skipped)} skipped")
    return 1 if failed or passed == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
