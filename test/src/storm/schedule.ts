import { setTimeout as delay } from 'node:timers/promises'
import { until } from '../fixtures/product.js'
import { type FaultKind, faultKinds } from './faults.js'
import type { Load } from './load.js'
import { createRandom, type Random, shuffle } from './random.js'
import type { Site } from './site.js'

export interface ScheduleOptions {
  seed: number
  /** How many faults. */
  faults: number
  /** Their kinds, by their names; all where it is empty. */
  only?: string[]
  /** How many events are to be acknowledged meanwhile. */
  events: number
  tell(line: string): void
}

/** A fault, with its begin and its end (epoch ms). */
export interface HappenedFault {
  kind: FaultKind
  from: number
  to: number
}

export interface FaultReport {
  /** How often each kind has happened. */
  counts: Map<string, number>
  /** All of them. */
  happened: HappenedFault[]
}

const pauseMs = [200, 900] as const
/** So far (in faults) the load may be behind before the next fault waits for it. */
const patience = 6
/** Longer than the lines of both APIs are mute, one after the other, and what ends with them has started again on a busy machine. */
const hopelessMs = 300_000

/**
 * One fault after the other, some of them at the same time, as the seed has it. Faults and load wait for each other, so that
 * each part of the load meets its part of the faults, and in between work goes on.
 *
 * @returns when all faults are over, and all events acknowledged
 * @throws where nothing is acknowledged any more
 */
export async function runFaults(
  site: Site,
  load: Load,
  { seed, faults, only = [], events, tell }: ScheduleOptions,
): Promise<FaultReport> {
  const random = createRandom(seed, -2)
  const kinds = faultKinds.filter(({ name }) => only.length === 0 || only.includes(name))
  const counts = new Map(kinds.map(({ name }) => [name, 0]))
  const happened: HappenedFault[] = []
  const busy = new Set<string>()
  const underWay: Promise<void>[] = []
  for (const [index, kind] of dealKinds(kinds, faults, random).entries()) {
    load.release(Math.ceil((events * (index + 1)) / faults))
    // Not so before the last one: what is left to do after it is to be of its making.
    const behind = index === faults - 1 ? 0 : patience
    await waitForLoad(load, (events * (index - behind)) / faults)
    const target = await takeTarget(kind, busy, random)
    tell(`${index + 1} ${kind.name}: ${target}`)
    // Drawn now: what the faults need later must not depend on which is over first.
    const own = createRandom(seed, -3 - index)
    const from = Date.now()
    const run = kind.run(site, target, own).finally(() => busy.delete(target))
    underWay.push(run.then(() => void happened.push({ kind, from, to: Date.now() })))
    counts.set(kind.name, (counts.get(kind.name) ?? 0) + 1)
    await delay(random.between(...pauseMs))
  }
  await Promise.all(underWay)
  await waitForLoad(load, events)
  return { counts, happened }
}

/** All kinds, by their weights, each once at least. */
function dealKinds(kinds: readonly FaultKind[], count: number, random: Random): FaultKind[] {
  const all = kinds.reduce((sum, { weight }) => sum + weight, 0)
  const dealt = kinds.flatMap((kind) =>
    Array.from({ length: Math.max(1, Math.ceil((count * kind.weight) / all)) }, () => kind),
  )
  const [first, others] = [kinds, shuffle(dealt, random)]
  return shuffle([...first, ...others.slice(0, Math.max(0, count - first.length))], random)
}

/** One that has no fault at the time; where all have, the first to be well again. */
async function takeTarget({ targets }: FaultKind, busy: Set<string>, random: Random): Promise<string> {
  const wanted = shuffle([...targets], random)
  await until(async () => wanted.some((target) => !busy.has(target)))
  const target = wanted.find((one) => !busy.has(one)) ?? ''
  busy.add(target)
  return target
}

/**
 * Waits until so many events are acknowledged.
 *
 * @throws where nothing is acknowledged any more
 */
export async function waitForLoad(load: Load, count: number): Promise<void> {
  let last = load.acknowledged()
  let since = performance.now()
  await until(async () => {
    const now = load.acknowledged()
    if (now > last) [last, since] = [now, performance.now()]
    if (performance.now() - since > hopelessMs)
      throw new Error(`Nothing is accepted any more, after ${now} events: ${load.describe()}`)
    return now >= count
  })
}
