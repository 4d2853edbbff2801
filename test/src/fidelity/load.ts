import { setTimeout as delay } from 'node:timers/promises'
import { Random } from '@automation/check/corpus'
import { type KnownRule, postedTypes, writeEvents } from './rule-book.js'
import type { Site } from './site.js'

const lanes = 4
const batchSize = 200
/** Rules are edited while events wait, and not long after. */
const mostOpen = 4_000
const lookEveryMs = 100
/** Of the events that may be replayed. */
const remembered = 2_000

export interface Load {
  accepted(): number
  /** Accepted events of a workspace, some of the newest. */
  newestOf(workspace: number): string[]
  /** Lets so many be accepted before it waits. */
  release(count: number): void
  stop(): Promise<void>
}

/** Posts batches of events to all workspaces, as far as it is let, and as far as workers keep up. */
export function startLoad({ tenants, query }: Site, seed: number, rules: KnownRule[][]): Load {
  const newest: string[][] = tenants.map(() => [])
  let accepted = 0
  let underWay = 0
  let released = 0
  let open = 0
  let isStopped = false
  const looking = look()
  const running = Array.from({ length: lanes }, (_, lane) => post(new Random(seed + 1_000 + lane)))
  let fault: Error | undefined
  for (const lane of running)
    lane.catch((error) => {
      fault ??= error
    })

  return {
    accepted() {
      if (fault !== undefined) throw fault
      return accepted
    },
    newestOf: (workspace) => newest[workspace] ?? [],
    release(count) {
      released = count
    },
    async stop() {
      isStopped = true
      await Promise.all([...running, looking])
    },
  }

  async function look(): Promise<void> {
    for (; !isStopped; await delay(lookEveryMs)) {
      const [row] = await query<{ open: number }>(
        'SELECT count(*)::int AS open FROM events WHERE done_at IS NULL',
      )
      open = row?.open ?? 0
    }
  }

  async function post(random: Random): Promise<void> {
    while (!isStopped) {
      if (accepted + underWay >= released || open > mostOpen) {
        await delay(10)
        continue
      }
      underWay += batchSize
      const workspace = random.below(tenants.length)
      const events = writeEvents(random, rules[workspace] ?? [], batchSize).map((data) => ({ data }))
      const path = `/api/automation-rules/trigger/${random.pick(postedTypes)}/batch`
      const answer = await tenants[workspace]?.call('POST', path, { events })
      underWay -= batchSize
      if (answer?.status !== 202 || answer.body.accepted !== batchSize)
        throw new Error(`A batch got ${answer?.status} ${JSON.stringify(answer?.body).slice(0, 500)}`)
      accepted += batchSize
      open += batchSize
      const ids = answer.body.results.map(({ id }: { id: string }) => id)
      newest[workspace] = [...(newest[workspace] ?? []), ...ids].slice(-remembered)
    }
  }
}
