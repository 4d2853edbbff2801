import { until } from '../fixtures/product.js'
import type { FaultKind } from '../storm/faults.js'
import type { Load } from '../storm/load.js'
import type { GivenServers } from '../storm/open-site.js'
import { waitForLoad } from '../storm/schedule.js'
import type { Site, Slot } from '../storm/site.js'
import { type Evidence, runStorm } from '../storm/storm.js'
import type { Outcome, Stage } from './disaster.js'

export interface Plan {
  /** Servers of the disaster's own; all others are private ones. */
  servers?: GivenServers
  /** How long (ms) it lasts: a third of the events is let out evenly meanwhile. By default all that are left are let out at once. */
  lastsMs?: number
  /** Breaks and mends. A third of the events is acknowledged before it, and the rest comes meanwhile and afterwards. @returns what it measured */
  happen(site: Site, load: Load): Promise<Outcome['figures']>
  /** How much (ms) the clock of Postgres, which dates executions, may differ from that of this process. */
  clocksDifferMs?: number
  /** Takes from the evidence what is lost as documented. */
  excuse?(evidence: Evidence): Promise<void>
  /** false: what was acknowledged before is undone, so nobody switches rules. */
  hasSwitches?: boolean
}

/** Calls may be lost with a worker that is cut off: those that are never repeated. */
const losesCalls = { losesCalls: true } as FaultKind

/**
 * The storm's load and checks around one disaster: clients write down what was acknowledged and targets what they received, and when nothing is
 * left to do, that is compared with what is stored.
 */
export async function runUnderLoad(stage: Stage, plan: Plan): Promise<Outcome> {
  const { seed, events, logs, tell } = stage
  let figures: Outcome['figures'] = {}
  const faults: string[] = []
  const happen = async (site: Site, load: Load) => {
    load.release(Math.ceil(events / 3))
    await waitForLoad(load, events / 3)
    const stopPacing = letOut(load, events, plan.lastsMs)
    const from = Date.now()
    figures = await plan.happen(site, load).finally(stopPacing)
    const to = Date.now()
    const differMs = plan.clocksDifferMs ?? 0
    load.release(events)
    await untilReady(site)
    await waitForLoad(load, events)
    return { counts: new Map(), happened: [{ kind: losesCalls, from: from - differMs, to: to + differMs }] }
  }
  const report = await runStorm({
    ...{ seed, events, faults: 1, hostile: 0, longest: 7, explained: 300, logs, tell },
    ...{ servers: plan.servers ?? {}, happen },
    ...(plan.hasSwitches === false && { hasSwitches: false }),
    async excuse(evidence) {
      for (const { event, outcomes } of evidence.load.sent)
        if (outcomes.some(({ status }) => status === 500)) faults.push(`${event.name}: a response of 500`)
      await plan.excuse?.(evidence)
    },
  })
  const { drainMs, calls } = report
  if (drainMs === undefined) faults.push('something is left to do for good')
  return {
    figures: {
      'events acknowledged': report.acknowledged,
      'requests refused or without a response': calls.failed + calls.unknown,
      'nothing was acknowledged for': seconds(report.silentMs),
      ...figures,
      'calls received': report.target.calls,
      'of them repeats under the same key': report.target.repeats,
      'everything done after the load': drainMs === undefined ? 'never' : seconds(drainMs),
    },
    violations: [...faults, ...report.violations],
  }
}

/** @returns what stops it */
function letOut(load: Load, events: number, lastsMs = 0): () => void {
  if (lastsMs === 0) {
    load.release(events)
    return () => {}
  }
  const startedAt = performance.now()
  const timer = setInterval(() => {
    const share = Math.min(1, (performance.now() - startedAt) / lastsMs)
    load.release(Math.ceil((events * (1 + share)) / 3))
  }, 200)
  return () => clearInterval(timer)
}

/** Waits until every process says that it is ready. */
export async function untilReady({ apis, workers }: Pick<Site, 'apis' | 'workers'>): Promise<void> {
  await until(async () =>
    (await Promise.all([...apis, ...workers].map((slot) => isReady(slot)))).every(Boolean),
  )
}

/** @param patienceMs after which no response is one */
export async function isReady({ process }: Slot, patienceMs = 10_000): Promise<boolean> {
  const signal = AbortSignal.timeout(patienceMs)
  return fetch(`http://127.0.0.1:${process.port}/readyz`, { signal }).then(
    ({ status }) => status === 200,
    () => false,
  )
}

export function seconds(ms: number): string {
  return `${(ms / 1_000).toFixed(1)} s`
}
