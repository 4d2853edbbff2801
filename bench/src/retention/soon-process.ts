// Loaded into the worker by `--import`: retention begins its first round after three seconds instead of ten minutes, and
// another one as soon after each. The product has no such setting.
const pauseMs = 10 * 60 * 1_000
const soonMs = 3_000
const { setTimeout } = globalThis
globalThis.setTimeout = Object.assign(
  (callback: () => void, ms?: number, ...rest: []) =>
    setTimeout(callback, ms === pauseMs ? soonMs : ms, ...rest),
  setTimeout,
)
