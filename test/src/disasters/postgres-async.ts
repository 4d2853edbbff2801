import { setTimeout as delay } from 'node:timers/promises'
import type { Slot } from '../storm/site.js'
import type { Disaster, Outcome, Stage } from './disaster.js'
import { excuseLost, findLostByCommand } from './lost.js'
import { runUnderLoad, seconds, untilReady } from './run-under-load.js'
import { PostgresPair, query } from './servers/postgres-pair.js'
import { postgresPrograms } from './servers/programs.js'

/** How far the standby is behind when the primary dies (ms). */
const lagMs = 2_000
/** How long nobody notices it. */
const unnoticedMs = 5_000
/** How long one API is led to the old primary, which has started again as what it was. */
const ledAstrayMs = 8_000

export const postgresAsync: Disaster = {
  name: 'postgres-async',
  about:
    'The primary of Postgres is killed while its asynchronous standby is 2 s behind; what is lost is listed; the old primary comes back.',
  needs: postgresPrograms,
  run: failOver,
}

async function failOver(stage: Stage): Promise<Outcome> {
  const pair = await PostgresPair.open(stage, 'asynchronous')
  let found: Outcome['figures'] = {}
  try {
    const outcome = await runUnderLoad(stage, {
      servers: { databaseUrl: pair.url, directories: pair.directories },
      hasSwitches: false,
      async happen(site) {
        pair.replication.mute('both')
        await delay(lagMs)
        await pair.killPrimary()
        stage.tell('the primary is dead')
        await delay(unnoticedMs)
        const from = performance.now()
        await pair.promote()
        await untilReady(site)
        const readyMs = performance.now() - from
        stage.tell('the standby is promoted, and all processes are ready')
        const astray = await leadAstray(pair, site.apis[0] as Slot)
        await untilReady(site)
        return { 'all processes ready after the promotion': seconds(readyMs), ...astray }
      },
      async excuse(evidence) {
        // Whoever reaches it now is refused.
        await query(pair.first.url, 'ALTER SYSTEM SET default_transaction_read_only = on')
        await query(pair.first.url, 'SELECT pg_reload_conf()')
        const lost = await findLostByCommand(pair.url, pair.first.url)
        const exchanged = await findLostByCommand(pair.first.url, pair.url).catch((error: Error) => error)
        if (!/exchange the two/.test(`${exchanged}`)) throw new Error('lost compares the wrong way round')
        found = await excuseLost(lost, evidence, pair.first.url)
        const from = performance.now()
        await pair.rejoin()
        found['the old primary follows the new one after'] = seconds(performance.now() - from)
      },
    })
    return { ...outcome, figures: { ...outcome.figures, ...found } }
  } finally {
    await pair.stop()
  }
}

/** The old primary starts as a primary, and an address leads one API there: it must neither accept anything nor be ready. */
async function leadAstray(pair: PostgresPair, api: Slot): Promise<Outcome['figures']> {
  const old = await pair.startOld()
  const count = async () =>
    (await query<{ count: number }>(old.url, 'SELECT count(*)::int AS count FROM events'))[0]?.count
  const before = await count()
  api.lines.Postgres.leadTo(old.port)
  api.lines.Postgres.reset()
  const statuses = new Set<string>()
  const until = performance.now() + ledAstrayMs
  while (performance.now() < until) {
    const response = await fetch(`${api.baseUrl}/readyz`)
    const { postgres } = (await response.json()) as { postgres: string }
    statuses.add(`${response.status} ${postgres}`)
    await delay(200)
  }
  api.lines.Postgres.leadTo(undefined)
  api.lines.Postgres.reset()
  return {
    'readiness of an API that is led to the old primary': [...statuses].join(', '),
    'events that the old primary has accepted since': ((await count()) ?? 0) - (before ?? 0),
  }
}
