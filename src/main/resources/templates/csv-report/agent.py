import io

import pandas


def main(request):
    options = request.payload
    source = options["url"] if options.get("url") else io.StringIO(options["csv"])
    rows = pandas.read_csv(source)
    missing = {options["group_by"], options["value"]} - set(rows.columns)
    if missing:
        raise ValueError(f"no column {', '.join(sorted(missing))}; there are {', '.join(rows.columns)}")
    rows[options["value"]] = pandas.to_numeric(rows[options["value"]], errors="coerce")
    invalid = int(rows[options["value"]].isna().sum())
    if invalid:
        print(f"{invalid} of {len(rows)} rows have no number in {options['value']}, and are left out")
    groups = rows.dropna(subset=[options["value"]]).groupby(options["group_by"])[options["value"]]
    report = groups.agg(["sum", "mean", "count"]).sort_values("sum", ascending=False)
    print(report.to_string())
    return {
        "rows": len(rows),
        "groups": [
            {"group": str(name), "sum": float(row["sum"]), "mean": float(row["mean"]), "count": int(row["count"])}
            for name, row in report.iterrows()
        ],
    }
