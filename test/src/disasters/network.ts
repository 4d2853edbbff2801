import { execFile } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { setTimeout as delay } from 'node:timers/promises'
import { promisify } from 'node:util'
import type { Site, Slot } from '../storm/site.js'
import type { Direction } from '../storm/tcp-proxy.js'
import type { Disaster, Outcome, Stage } from './disaster.js'
import { ownNetworkPrograms } from './own-network.js'
import { isReady, runUnderLoad, seconds } from './run-under-load.js'
import { NameServer } from './servers/name-server.js'
import { PacketFilter } from './servers/packet-filter.js'

const run = promisify(execFile)

type ServerName = 'Postgres' | 'Redis'

/** A process that does not reach a server for a time. */
interface Cut {
  process: 'API 1' | 'worker 1'
  server: ServerName
  /** Which packets are lost. */
  direction: Direction
  /** Meanwhile the server ends the connections: the process does not hear of it, and goes on with what is no connection any more. */
  isClosed?: true
}

/** As the probes of docs/operate/kubernetes.md. */
const probeMs = 5_000

const worker = 'worker 1'
const api = 'API 1'

export const networkDisasters: readonly Disaster[] = [
  describe(
    'network-postgres',
    'One worker reaches Redis and not Postgres: packets are lost, and nothing is closed.',
    [{ process: worker, server: 'Postgres', direction: 'both' }],
  ),
  describe('network-redis', 'One worker reaches Postgres and not Redis.', [
    { process: worker, server: 'Redis', direction: 'both' },
  ]),
  describe('network-api', 'One API does not reach Postgres, and then not Redis.', [
    { process: api, server: 'Postgres', direction: 'both' },
    { process: api, server: 'Redis', direction: 'both' },
  ]),
  describe(
    'network-half-open',
    'Packets of a worker are lost in one direction alone, while the servers end its connections.',
    [
      { process: worker, server: 'Postgres', direction: 'there', isClosed: true },
      { process: worker, server: 'Postgres', direction: 'back', isClosed: true },
      { process: worker, server: 'Redis', direction: 'there', isClosed: true },
      { process: worker, server: 'Redis', direction: 'back', isClosed: true },
    ],
  ),
  {
    name: 'network-dns',
    about: 'DNS stops answering, and one worker and one API lose their connections meanwhile.',
    needs: ownNetworkPrograms,
    hasOwnNetwork: true,
    run: loseNames,
  },
]

/** The cuts follow one another; together they last as long as one of them, but for the time to be well again. */
function describe(name: string, about: string, cuts: Cut[]): Disaster {
  return {
    name,
    about,
    needs: ownNetworkPrograms,
    hasOwnNetwork: true,
    async run(stage) {
      const filter = await PacketFilter.open(stage.programs.nft)
      const lastsMs = stage.seconds * 1_000
      return runUnderLoad(stage, {
        lastsMs,
        async happen(site) {
          let figures: Outcome['figures'] = {}
          for (const cut of cuts) {
            const own = await cutLine(site, filter, cut, lastsMs / cuts.length, stage.tell)
            figures = { ...figures, ...own }
          }
          return figures
        },
      })
    },
  }
}

async function cutLine(site: Site, filter: PacketFilter, cut: Cut, lastsMs: number, tell: Stage['tell']) {
  const slot = findSlot(site, cut.process)
  const line = slot.lines[cut.server]
  const which = { there: 'packets to', back: 'packets from', both: 'all to and from' }[cut.direction]
  const what = `${cut.process}, ${which} ${cut.server}`
  tell(`${what}: dropped`)
  return observe(site, [slot], what, lastsMs, {
    async begin() {
      await filter.drop(line.port, cut.direction)
      if (cut.isClosed) line.reset()
    },
    end: () => filter.passAll(),
  })
}

async function loseNames(stage: Stage): Promise<Outcome> {
  const names = await NameServer.open()
  const settings = `${stage.directory}/resolv.conf`
  await writeFile(settings, 'nameserver 127.0.0.1\n')
  await run(stage.programs.mount, ['--bind', settings, '/etc/resolv.conf'])
  const lastsMs = stage.seconds * 1_000
  try {
    return await runUnderLoad(stage, {
      lastsMs,
      servers: { hosts: { Postgres: 'postgres.drill', Redis: 'redis.drill', target: 'target.drill' } },
      happen: (site) => {
        const slots = [findSlot(site, worker), findSlot(site, api)]
        return observe(site, slots, 'DNS is silent', lastsMs, {
          async begin() {
            names.isSilent = true
            for (const { lines } of slots) for (const line of Object.values(lines)) line.reset()
          },
          async end() {
            names.isSilent = false
          },
        })
      },
    })
  } finally {
    names.close()
  }
}

/** Breaks something for a time, and measures what becomes of the work meanwhile. */
async function observe(
  site: Site,
  broken: Slot[],
  what: string,
  lastsMs: number,
  { begin, end }: { begin(): Promise<void>; end(): Promise<void> },
): Promise<Outcome['figures']> {
  const [{ since } = { since: '' }] = await site.query<{ since: string }>('SELECT now()::text AS since')
  await begin()
  const [unreadyMs, takenOverMs] = await Promise.all([
    firstTime(lastsMs, async () => !(await areReady(broken))),
    firstTime(lastsMs, async () => (await countUndone(site, since)) === 0),
    delay(lastsMs),
  ])
  const [{ slowest } = { slowest: 0 }] = await site.query<{ slowest: number }>(`
    SELECT coalesce(max(extract(epoch FROM coalesce(done_at, now()) - accepted_at)), 0)::float8 AS slowest
    FROM events WHERE accepted_at >= '${since}' AND ${ofLoad(site)}`)
  await end()
  const endedAt = performance.now()
  while (!(await areReady(broken))) await delay(100)
  return {
    [`${what}: not ready after`]: unreadyMs ?? 'never',
    [`${what}: all work from before done after`]: takenOverMs ?? 'never',
    [`${what}: slowest event meanwhile`]: seconds(slowest * 1_000),
    [`${what}: ready again after`]: seconds(performance.now() - endedAt),
  }
}

async function areReady(slots: Slot[]): Promise<boolean> {
  return (await Promise.all(slots.map((slot) => isReady(slot, probeMs)))).every(Boolean)
}

/** @returns after what time it held first; undefined if it never did within the time */
async function firstTime(withinMs: number, holds: () => Promise<boolean>): Promise<string | undefined> {
  const from = performance.now()
  while (!(await holds())) {
    if (performance.now() - from > withinMs) return undefined
    await delay(200)
  }
  return seconds(performance.now() - from)
}

/** Events that were accepted before, and executions of them, that are not finished. */
async function countUndone(site: Site, since: string): Promise<number> {
  const [{ count } = { count: 0 }] = await site.query<{ count: number }>(`
    WITH earlier AS (SELECT id, done_at FROM events WHERE accepted_at < '${since}' AND ${ofLoad(site)})
    SELECT ((SELECT count(*) FROM earlier WHERE done_at IS NULL)
          + (SELECT count(*) FROM executions JOIN earlier ON earlier.id = event_id WHERE finished_at IS NULL))::int AS count`)
  return count
}

/** Other workspaces have executions that wait for days. */
function ofLoad({ workspaces }: Site): string {
  return `workspace_id IN (${workspaces.map(({ id }) => `'${id}'`).join(', ')})`
}

function findSlot({ apis, workers }: Site, name: string): Slot {
  const slot = [...apis, ...workers].find((one) => one.name === name)
  if (slot === undefined) throw new Error(`There is no process ${name}`)
  return slot
}
