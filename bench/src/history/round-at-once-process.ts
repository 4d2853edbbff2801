// Loaded into a worker by `--import`: retention begins a second after its start. In the product a round begins ten minutes after the one before,
// and a worker has none in its first ten minutes; no setting changes that.
const betweenRoundsMs = 10 * 60 * 1_000
const soonMs = 1_000
const { setTimeout } = globalThis

globalThis.setTimeout = Object.assign(
  (work: (...values: unknown[]) => void, ms?: number, ...values: unknown[]) =>
    setTimeout(work, ms === betweenRoundsMs ? soonMs : ms, ...values),
  setTimeout,
)
