"""The benchmark (`bench/run`) and the witness (`bench/witness`): what a request costs, and whether its times are correct.

Python's standard library only. Pure parts, with tests in `tests/`: `statistic`, `outputs`, `capture`, `exchanges`,
`targets`, `layout`, `page`. Parts that start programs: `process`, `servers`, `contest`, `idle`, `users`, `scaling`, `slip`,
`startup`, `crowd`, `long`, `profiling`, `observing`, `machine`, `witnessing`. Data: `scenarios`, `contenders`, `wall`, `targets`, `k6.js`.
"""
