import { cp } from 'node:fs/promises'
import { setTimeout as delay } from 'node:timers/promises'
import { checkBacktests } from './check-backtests.js'
import { checkEdits, readEditedTables } from './check-edits.js'
import { checkEffects } from './check-effects.js'
import { checkHostile, countDescendants } from './check-hostile.js'
import { checkLedger } from './check-ledger.js'
import { checkOnce } from './check-once.js'
import { checkRecord } from './check-record.js'
import { checkSecrets, type SecretSearch } from './check-secrets.js'
import { checkSwitches } from './check-switches.js'
import { checkWhy } from './check-why.js'
import { type Edits, startEdits } from './edits.js'
import { type Hostile, startHostile } from './hostile.js'
import { type Load, type LoadOptions, type SentEvent, startLoad } from './load.js'
import { type Once, startOnce } from './once.js'
import { type GivenServers, openSite } from './open-site.js'
import type { Random } from './random.js'
import { type FaultReport, runFaults, type ScheduleOptions } from './schedule.js'
import type { Site } from './site.js'
import { noSwitches, startSwitches } from './switches.js'
import { countOpen, readTables, type Tables } from './tables.js'
import { openTarget, type Target } from './target.js'
import { noTurns, startTurns } from './turns.js'

export interface StormOptions extends ScheduleOptions, LoadOptions {
  /** Requests a minute of the workspace that attacks. */
  hostile: number
  /** How many events are explained in the end, and compared with what happened; undefined for all. */
  explained?: number | undefined
  servers?: GivenServers
  /** What happens under the load; by default the faults of the schedule. */
  happen?(site: Site, load: Load): Promise<FaultReport>
  /** What is switched off and then restored is on again, which no switcher expects. */
  hasSwitches?: boolean
  /** Takes from the evidence what is lost as it should be, before it is compared with the tables. */
  excuse?(evidence: Evidence): Promise<void>
  /** Takes the logs of all processes, for the search of a fault. */
  logs?: string | undefined
}

/** What the clients and the targets know in the end, when nothing is left to do. */
export interface Evidence {
  site: Site
  load: Load
  edits: Edits
  once: Once
  target: Target
  onceTarget: Target
}

export interface StormReport {
  seed: number
  /** How often each kind of fault has happened. */
  faults: Map<string, number>
  calls: { ok: number; failed: number; unknown: number }
  /** How many of the calls were repeats. */
  repeats: number
  acknowledged: number
  /** The longest time (ms) in which no event was acknowledged. */
  silentMs: number
  /** The number of acknowledged edits: rules, keys and replays. */
  edits: number
  /** What the workspace that attacks has done: requests, its events, and the most that one of them has caused. */
  hostile: { requests: number; events: number; quarantined: number; mostCaused: number }
  /** Events whose rule makes a call that is never repeated. */
  once: number
  /** How often a rule was switched off in the moment of its events. */
  switchOffs: number
  /** How many leaves of history were exchanged. */
  leaves: number
  /** Calls that the rules have made, and how many of them were not the first under their key. */
  target: { calls: number; repeats: number }
  /** All that are stored, those that rules have emitted included. */
  events: number
  /** From the end of the last request until nothing was left to do; undefined where something is left for good. */
  drainMs: number | undefined
  failedStarts: number
  /** Verdicts that were compared with executions: of backtests, and of `why`. */
  compared: { backtests: number; why: number }
  /** Where secrets were searched for. */
  searched: SecretSearch['searched']
  /** One sentence each. */
  violations: string[]
}

/** Lost for good, for all that anybody can tell. */
const drainLimitMs = 120_000

/**
 * A product in a storm: a client posts events and webhooks and records the responses, while processes are killed and put to
 * sleep, servers die and lines break, and one workspace attacks. When all is well again, and nothing is left to do, what the client got is held
 * against what is there.
 */
export async function runStorm(options: StormOptions): Promise<StormReport> {
  const target = await openTarget(options.seed, undefined, options.servers?.hosts?.target)
  const onceTarget = await openTarget(options.seed, 0)
  const site = await openSite(target, onceTarget, options.servers)
  try {
    const turns = options.happen ? noTurns : await startTurns(site)
    const load = startLoad(site, options)
    const edits = startEdits(site, options.seed, (random) => findReplayable(site, load.sent, random))
    const hostile = startHostile(site, options.seed, options.hostile)
    const once = startOnce(site, options.seed)
    const switches = options.hasSwitches === false ? noSwitches : startSwitches(site, options.seed)
    const happen = options.happen ?? ((site, load) => runFaults(site, load, options))
    const { counts, happened } = await happen(site, load).finally(() =>
      Promise.all([load.stop(), edits.stop(), hostile.stop(), once.stop(), switches.stop()]),
    )
    // One that slept still accepts what was posted to it meanwhile, long after its callers have given up.
    await Promise.all(site.apis.map(({ process }) => process.stop()))
    const drainMs = await drain(site)
    await options.excuse?.({ site, load, edits, once, target, onceTarget })
    await turns.stop()
    const tables = await readTables(site, 'others')
    const ofHostile = await readTables(site, 'hostile')
    const workspaceIds = site.workspaces.map(({ id }) => id)
    const backtests = await checkBacktests(site)
    const why = await checkWhy(site, options.explained)
    const secrets = await checkSecrets(site)
    const violations = [
      ...checkRecord(load.sent, tables, workspaceIds),
      ...checkEffects(tables, site.rules, target),
      ...checkEdits(edits, await readEditedTables(site, tables.events)),
      ...checkHostile(hostile.sent, ofHostile, site.hostile.rules),
      ...checkOnce(once.sent, await readTables(site, 'once'), onceTarget, happened),
      ...checkSwitches(switches, await readTables(site, 'switched')),
      ...(await checkLedger(site)),
      ...why.violations,
      ...backtests.violations,
      ...secrets.violations,
      ...turns.faults,
    ]
    return {
      seed: options.seed,
      faults: counts,
      ...countCalls(load.sent),
      acknowledged: load.acknowledged(),
      silentMs: findLongestSilence(load.sent),
      edits: edits.acknowledged.length,
      hostile: describeHostile(hostile, ofHostile),
      once: once.sent.length,
      switchOffs: switches.count(),
      leaves: turns.dropped(),
      target: countTargetCalls(target),
      events: tables.events.length,
      drainMs,
      failedStarts: site.failedStarts.length,
      compared: { backtests: backtests.compared, why: why.compared },
      searched: secrets.searched,
      violations,
    }
  } finally {
    if (options.logs !== undefined) await cp(site.logs, options.logs, { recursive: true })
    await site.stop()
    target.close()
    onceTarget.close()
  }
}

/** One of the last events that were accepted, of a type whose rules make tasks alone. */
function findReplayable(site: Site, sent: SentEvent[], random: Random) {
  const { event, outcomes } = sent[random.between(Math.max(0, sent.length - 500), sent.length - 1)] ?? {}
  const id = outcomes?.find(({ kind }) => kind === 'ok')?.id
  if (event?.type !== 'LEAD_CREATED' || id === undefined) return undefined
  return { id, workspaceId: site.workspaces[event.workspace]?.id ?? '' }
}

async function drain(site: Site): Promise<number | undefined> {
  const startedAt = performance.now()
  for (;;) {
    const passedMs = performance.now() - startedAt
    if ((await countOpen(site)) === 0) return passedMs
    if (passedMs > drainLimitMs) return undefined
    await delay(100)
  }
}

function countCalls(sent: SentEvent[]): Pick<StormReport, 'calls' | 'repeats'> {
  const calls = { ok: 0, failed: 0, unknown: 0 }
  let repeats = 0
  for (const { outcomes } of sent) {
    repeats += outcomes.length - 1
    for (const { kind } of outcomes) calls[kind] += 1
  }
  return { calls, repeats }
}

function findLongestSilence(sent: SentEvent[]): number {
  const times = sent
    .flatMap(({ outcomes }) => outcomes.flatMap(({ kind, at }) => (kind === 'ok' ? [at] : [])))
    .toSorted((a, b) => a - b)
  return times.reduce((most, at, index) => Math.max(most, at - (times[index - 1] ?? at)), 0)
}

function describeHostile({ requests }: Hostile, tables: Tables): StormReport['hostile'] {
  return {
    requests: requests(),
    events: tables.events.length,
    quarantined: tables.events.filter(({ quarantined }) => quarantined).length,
    mostCaused: [...countDescendants(tables).values()].reduce((most, count) => Math.max(most, count), 0),
  }
}

function countTargetCalls({ calls }: Target): StormReport['target'] {
  const count = [...calls.values()].reduce((sum, one) => sum + one.count, 0)
  return { calls: count, repeats: count - calls.size }
}
