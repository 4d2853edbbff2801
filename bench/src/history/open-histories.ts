import { realpath } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { CannotStart, createPrivateDatabase, type Product } from '@automation/launcher'
import type { Options } from '../benchmark.js'
import { runOnProduct, type Stage } from '../product.js'
import type { History } from '../stored/history-rows.js'
import { insertHistory, prepareHistory } from '../stored/insert-history.js'
import { formatNumber } from '../table.js'
import { oneOfTenMatches } from '../usual-case.js'
import { createWorkspaces, type Workspace } from '../workspace.js'
import { bytesNeeded, requireSpace } from './disk.js'
import { makeWeeks } from './make-weeks.js'
import { measureSizes, measureVacuums, type StorageLine, timeWork } from './storage.js'

const days = 60
const toldEvery = 1_000_000

/** A product with a history. The first workspace is the one that is asked. */
export interface Past {
  stage: Stage
  workspaces: Workspace[]
  history: History
  /** How it was stored, and its sizes. */
  stored: StorageLine[]
}

export interface PastSize {
  label: string
  events: number
  workspaces: number
}

/**
 * Each history has its own database and product on the same servers. Nested, so that all of them are stopped in every case.
 *
 * @param run gets them by their labels
 */
export async function openHistories<Result>(
  servers: Product,
  [size, ...others]: PastSize[],
  options: Options,
  run: (pasts: Map<string, Past>) => Promise<Result>,
): Promise<Result> {
  if (size === undefined) return run(new Map())
  const databaseUrl = await createPrivateDatabase(servers.databaseUrl)
  const env = { QUEUE_PREFIX: `{history-${size.workspaces}}` }
  return runOnProduct(options, { databaseUrl, redisUrl: servers.redisUrl, env }, async (stage) => {
    const past = await fill(servers, { ...stage, databaseUrl }, size)
    return openHistories(servers, others, options, (pasts) => run(new Map([[size.label, past], ...pasts])))
  })
}

async function fill(
  servers: Product,
  { databaseUrl, ...stage }: Stage & { databaseUrl: string },
  size: PastSize,
): Promise<Past> {
  const { database, product, postgres } = stage
  const { events } = size
  await makeWeeks(postgres, databaseUrl, days)
  const workspaces = await createWorkspaces(database, product, size.workspaces, oneOfTenMatches)
  const history = await prepareHistory(postgres, workspaces, { events, days })
  const directory = await findDirectory(servers)
  const copied = await timeWork(postgres, () =>
    insertHistory(postgres, history, async (inserted) => {
      await requireSpace(directory, bytesNeeded(events - inserted))
      if (inserted % toldEvery === 0)
        console.error(`${formatNumber(inserted)} of ${formatNumber(events)} events are stored`)
    }),
  )
  const { s = Number.NaN, 'log MB': log = Number.NaN } = copied
  const copy: StorageLine = [
    `COPY of ${size.label}`,
    { ...copied, 'events/s': events / s, 'log B an event': (log * 1e6) / events },
  ]
  const vacuums = await measureVacuums(postgres, 'after COPY')
  const stored = [copy, ...vacuums, ...(await measureSizes(postgres, events))]
  return { stage, workspaces, history, stored }
}

/** The temporary directory is removed even after a kill. If Postgres runs as another user, its data may be elsewhere, and would stay. */
async function findDirectory({ postgres }: Product): Promise<string> {
  const { directory = '' } = postgres ?? {}
  if (directory.startsWith(await realpath(tmpdir()))) return directory
  throw new CannotStart(
    `Postgres cannot enter ${tmpdir()}: set TMPDIR to a directory that everybody may enter`,
  )
}
