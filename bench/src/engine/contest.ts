/** The same work, done by several: the first is ours. Whoever makes a contest has proven before that they agree. */
export interface Contest {
  name: string
  sides: Side[]
  /** So many times as long as ours the second side should take. */
  aim?: { atLeast: number }
}

export interface Side {
  name: string
  /** Does the work so many times. */
  run(times: number): void | Promise<void>
}

/** Nanoseconds that each side took for one time, in the order of the sides. */
export type Round = number[]

const burstMs = 10

/**
 * The sides take turns in short bursts: what else the machine does meanwhile then falls on all of them alike, and each
 * meets the caches and the garbage of the others.
 */
export async function runRound({ sides }: Contest, seconds: number): Promise<Round> {
  const racers = await Promise.all(
    sides.map(async (side) => ({ side, times: await findBurst(side), ms: 0, done: 0 })),
  )
  const until = performance.now() + seconds * 1_000
  while (performance.now() < until) {
    for (const racer of racers) {
      racer.ms += await clock(racer.side, racer.times)
      racer.done += racer.times
    }
  }
  return racers.map(({ ms, done }) => (ms * 1e6) / done)
}

/** How many times make a burst; also what warms the side up. */
async function findBurst(side: Side): Promise<number> {
  let times = 1
  while ((await clock(side, times)) < burstMs) times *= 2
  return times
}

async function clock(side: Side, times: number): Promise<number> {
  const started = performance.now()
  // Only what is asynchronous by itself pays for it.
  const work = side.run(times)
  if (work !== undefined) await work
  return performance.now() - started
}
