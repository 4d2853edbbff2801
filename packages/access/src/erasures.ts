import {
  type Database,
  isUuid,
  newId,
  Prisma,
  postgresNow,
  type WorkspaceDatabase,
  writeJson,
} from '@automation/database'
import { erasedMark, parsePath } from '@automation/engine'
import { type ErasedCounts, erasedKinds } from '@automation/ledger'
import { Type } from 'typebox'
import { type Administrator, changeWorkspace } from './change-workspace.js'
import { DateTime, orNull } from './credential.js'
import { Refused } from './refused.js'
import type { Sealer } from './sealing.js'

const Path = Type.String({
  minLength: 1,
  maxLength: 500,
  description:
    'Path of a field in the data of events, such as `email` or `contacts.email`. Each item of a list on the way is looked at, unless the path names one (`contacts[0].email`).',
})

/** One schema instead of a union reports a fault once. */
const Value = Type.Unsafe<string | number>({
  type: ['string', 'number'],
  minLength: 1,
  maxLength: 500,
  pattern: '^[^\\x00]*$',
  patternError: 'have no NUL',
  description:
    'The text or number at the path, exactly. A number and the text of its digits are the same. From three characters on it is also erased as a part of other texts of these events.',
})

export const erasureFields = { path: Path, value: Value }

export const ErasureToCreate = Type.Object(erasureFields, {
  additionalProperties: false,
  title: 'ErasureFields',
})
export type ErasureToCreate = Type.Static<typeof ErasureToCreate>

const Counts = Type.Object(
  Object.fromEntries(erasedKinds.map((kind) => [kind, Type.Integer({ minimum: 0 })])) as Record<
    (typeof erasedKinds)[number],
    ReturnType<typeof Type.Integer>
  >,
  { title: 'ErasedCounts', description: 'How many rows of each kind were changed so far' },
)

export const Erasure = Type.Object(
  {
    id: Type.String({ format: 'uuid' }),
    path: Type.String({ description: 'The path. The value is never shown.' }),
    status: Type.Enum(['running', 'done', 'incomplete', 'failed'], {
      description:
        'running: a worker erases, step by step. done: all of it is erased. incomplete: the same, but for the events in `unfinished`; cancel their executions, and erase again. failed: the steps failed, or the stored value cannot be decrypted any more; erase again.',
    }),
    erased: Counts,
    unfinished: Type.Integer({
      minimum: 0,
      description:
        'Number of matching events that were left, because they, or events or executions that belong to them, were not finished',
    }),
    createdBy: Type.String({ description: 'Who asked for it, as the audit log names them' }),
    createdAt: Type.String({
      format: 'date-time',
      description: 'Events that were accepted later are not part of it.',
    }),
    finishedAt: orNull(DateTime),
  },
  { title: 'Erasure' },
)
export type Erasure = Type.Static<typeof Erasure>

/** Of one workspace. */
const maxRunning = 10

/**
 * Asks for an erasure. Workers make it.
 *
 * @throws Refused for a path that is none, or where ten are running
 */
export function createErasure(
  administrator: Administrator,
  sealer: Sealer,
  { path, value }: ErasureToCreate,
): Promise<Erasure> {
  refuseErasureFaults({ path, value })
  const { workspaceId, actor } = administrator
  const id = newId()
  const sealed = sealer.seal(Buffer.from(writeJson(value)), erasureContext({ id, workspaceId }))
  return changeWorkspace(administrator, async (transaction) => {
    if ((await transaction.erasure.count({ where: { status: 'running' } })) >= maxRunning)
      throw new Refused('limit_reached', `A workspace may have ${maxRunning} erasures in progress`)
    // The clock that dates events.
    const [now] = await transaction.$queryRaw<{ at: Date }[]>(Prisma.sql`SELECT clock_timestamp() AS at`)
    const createdAt = now?.at ?? new Date(postgresNow())
    const row = await transaction.erasure.create({
      data: { id, workspaceId, path, sealed, createdBy: actor, createdAt },
    })
    return {
      result: presentErasure(row),
      entry: { action: 'erasure.created', subject: id, details: { path } },
    }
  })
}

/** @throws Refused for a path that is none, and for what stands in the place of erased values */
export function refuseErasureFaults({ path, value }: ErasureToCreate): void {
  if (parsePath(path) === undefined)
    throw new Refused('validation_failed', 'Must be the path of a field, such as contact.email', 'path')
  if (value === erasedMark)
    throw new Refused('validation_failed', 'Is what stands in the place of erased values', 'value')
}

/** Lists the newest first, from below a cursor on. */
export async function listErasures(
  { erasure }: Pick<WorkspaceDatabase, 'erasure'>,
  page: { where: { id?: { lt: string } }; orderBy: { id: 'desc' }; take?: number },
): Promise<Erasure[]> {
  return (await erasure.findMany(page)).map(presentErasure)
}

/** @throws Refused where there is none */
export async function findErasure(
  { erasure }: Pick<WorkspaceDatabase, 'erasure'>,
  id: string,
): Promise<Erasure> {
  const row = isUuid(id) ? await erasure.findUnique({ where: { id } }) : null
  if (row === null) throw new Refused('erasure_not_found', 'Erasure not found')
  return presentErasure(row)
}

/** The context of a sealed value: it cannot be opened in another row. */
export function erasureContext({ id, workspaceId }: { id: string; workspaceId: string }): string {
  return `erasure/${workspaceId}/${id}`
}

/** An erasure as the operator's list has it, outside the database. */
export const ErasureToApply = Type.Object({
  id: Type.String({ format: 'uuid' }),
  workspaceId: Type.String({ format: 'uuid' }),
  path: Type.String(),
  sealed: Type.String({ description: 'Base64' }),
  createdBy: Type.String(),
  createdAt: DateTime,
})
export type ErasureToApply = Type.Static<typeof ErasureToApply>

/** Lists the erasures of all workspaces, the oldest first, for a restore. Their values are sealed. */
export async function listAllErasures({
  system,
}: Database): Promise<(ErasureToApply & { status: string })[]> {
  const rows = await system.erasure.findMany({ orderBy: { id: 'asc' } })
  return rows.map(({ id, workspaceId, path, sealed, createdBy, createdAt, status }) => {
    return {
      ...{ id, workspaceId, path, status, createdBy },
      sealed: Buffer.from(sealed).toString('base64'),
      createdAt: createdAt.toISOString(),
    }
  })
}

/**
 * Makes erasures again, after a restore: each begins at the first event.
 *
 * @returns how many begin: those of workspaces that are not there do not
 */
export async function repeatErasures(
  { system }: Database,
  erasures: readonly ErasureToApply[],
): Promise<number> {
  let begun = 0
  for (const { id, workspaceId, path, sealed, createdBy, createdAt } of erasures) {
    const again = {
      status: 'running',
      position: {},
      erased: {},
      unfinished: 0,
      failures: 0,
      finishedAt: null,
    }
    const found = await system.workspace.findUnique({
      where: { id: workspaceId, deletedAt: null },
      select: { id: true },
    })
    if (found === null) continue
    const data = { id, workspaceId, path, createdBy, createdAt: new Date(createdAt) }
    await system.erasure.upsert({
      where: { id },
      create: { ...data, sealed: Buffer.from(sealed, 'base64'), ...again },
      update: again,
    })
    begun++
  }
  return begun
}

type Row = Prisma.ErasureGetPayload<object>

function presentErasure(row: Row): Erasure {
  const erased = row.erased as ErasedCounts
  return {
    id: row.id,
    path: row.path,
    status: row.status as Erasure['status'],
    erased: Object.fromEntries(erasedKinds.map((kind) => [kind, erased[kind] ?? 0])) as Erasure['erased'],
    unfinished: row.unfinished,
    createdBy: row.createdBy,
    createdAt: row.createdAt.toISOString(),
    finishedAt: row.finishedAt?.toISOString() ?? null,
  }
}
