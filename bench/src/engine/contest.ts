import { isDeepStrictEqual } from 'node:util'
import { orderOfRound } from '../rounds.js'

/** The same work, done by several sides; the first is ours. The caller has checked that their results are equal. */
export interface Contest {
  label: string
  sides: Side[]
  /** The aims: the time of the last side, divided by that of one of ours. */
  aims?: { ours: string; atLeast: number }[]
}

export interface Side {
  name: string
  /** Does the work the given number of times. */
  run(times: number): void | Promise<void>
}

/** Nanoseconds of one piece of work, for each side. */
export type Round = number[]

const burstMs = 10

/**
 * The sides take turns in short bursts, so that other load on the machine affects all of them alike, and each runs with
 * the caches and the garbage of the others.
 */
export async function runRound({ sides }: Contest, seconds: number): Promise<Round> {
  const racers = await Promise.all(
    sides.map(async (side) => ({ side, times: await findBurst(side), ms: 0, done: 0 })),
  )
  const until = performance.now() + seconds * 1_000
  for (let burst = 1; performance.now() < until; burst++) {
    for (const racer of orderOfRound(racers, burst)) {
      racer.ms += await clock(racer.side, racer.times)
      racer.done += racer.times
    }
  }
  return racers.map(({ ms, done }) => (ms * 1e6) / done)
}

/** @throws Error with the first input for which the two results differ, since only equal work can be compared */
export async function proveEqual<Input>(
  name: string,
  inputs: readonly Input[],
  ours: (input: Input) => unknown,
  theirs: (input: Input) => unknown,
): Promise<void> {
  for (const input of inputs) {
    const [our, their] = [await ours(input), await theirs(input)]
    if (isDeepStrictEqual(our, their)) continue
    const [given, first, second] = [input, our, their].map((value) => JSON.stringify(value))
    throw new Error(`${name}: ${given} gives ${first} here and ${second} there`)
  }
}

/** The number of repetitions in a burst. Finding it also warms the side up. */
async function findBurst(side: Side): Promise<number> {
  let times = 1
  while ((await clock(side, times)) < burstMs) times *= 2
  return times
}

async function clock(side: Side, times: number): Promise<number> {
  const started = performance.now()
  // Only an asynchronous side pays for `await`.
  const work = side.run(times)
  if (work !== undefined) await work
  return performance.now() - started
}
