"""What has to be said beside each table of the benchmark."""

from peer_loops._shared import epochs_before_and_after_snapshot

from .plan import BATCH_SIZE, HIDDEN, Plan, shape_name


def notes(plan: Plan, peak_gigaflops: dict[str, float]) -> dict[str, str]:
    """A paragraph for each heading of `tables.as_markdown`."""
    before, after = epochs_before_and_after_snapshot(plan.epochs, plan.retrain_fraction)
    repeated = epochs_before_and_after_snapshot(plan.long_epochs, plan.long_fraction)[1]
    rates = ", ".join(f"{library} {rate:,.0f}" for library, rate in peak_gigaflops.items())
    long = f"{plan.long_epochs} epochs, {repeated} of them repeated"
    return {
        "Warm fit": (
            f"{plan.n_members} members, {plan.epochs} epochs ({before} to the snapshot, {after} "
            f"after it, {after} repeated), batches of {BATCH_SIZE}, "
            f"{'-'.join(map(str, HIDDEN))}. Best of the fits after a first one in the same "
            "process. sklearn-contrib-bde and MLPRegressors do not bootstrap: they train "
            f"{plan.epochs} epochs a member, not {plan.epochs + after}, and give no confidence "
            "interval. sklearn-contrib-bde trains on full batches: as many updates as the "
            "others, or as many epochs. Where two numbers of epochs were measured, the time is "
            "that of all epochs on the straight line through them."
        ),
        "Share of the matrix-multiply peak": (
            "Only the matrix products of forward and backward passes over real rows and members "
            "are counted, and only the time of training (the learner's `train`), not that of "
            "standardising, initialising and simulating targets. Peak: float32, "
            f"{plan.matrix_size} x {plan.matrix_size}, in the same run, GFLOP/s: "
            f"{rates or 'not measured'}."
        ),
        "Many simulations at once": (
            f"{plan.n_sets} data sets with the same {shape_name(plan.simulated)} inputs, "
            f"{plan.n_members} members each, {plan.epochs} epochs: best of three calls of "
            "`fit_many`, against that many warm fits one by one, and that many of the Keras loop."
        ),
        "Cold start": (
            f"A fresh process, {shape_name(plan.shapes[0])}: start, imports, data, compilation, "
            "one whole fit. The fastest of some processes. Programs are those that JAX made "
            "ready; what was not compiled came from the cache of "
            "`confide.enable_compilation_cache`."
        ),
        "Memory of a fit": (
            "Resident memory after the imports, and how far the first fit goes beyond it, "
            "compilation and the table included."
        ),
        "Memory on a large table": (
            f"Peak resident memory. Data: X and y in float64. Fit: {plan.n_members} members, "
            f"{long}, compilation included. The other calls ask a fitted model about all rows. "
            "Each call is made once. Beyond imports counts "
            "the data themselves and the compiler; added counts from just before the call, in a "
            "process that holds the data and has fitted 1,000 rows."
        ),
        "Growth in rows": (f"{plan.growth_features} features, {plan.n_members} members, {long}."),
        "Growth in members": (
            f"{shape_name(plan.small)}, {plan.epochs} epochs, {after} repeated. One member is a "
            f"plain network trained for {plan.epochs + after} epochs: a bootstrap needs two."
        ),
        "Growth in features": (
            f"{plan.small[0]:,} rows, {plan.n_members} members, {plan.epochs} epochs, {after} "
            "repeated."
        ),
    }
