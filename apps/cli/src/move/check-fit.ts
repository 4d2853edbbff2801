import { isDeepStrictEqual } from 'node:util'
import { type Administrator, createSealer, findOpenRestore, opensNewest } from '@automation/access'
import { type Database, readAppliedSql } from '@automation/database'
import { hasArrived, type Move, readState } from '@automation/ledger'
import { CommandError } from '../command-error.js'
import { readEncryptionKey } from '../config.js'

/** The installations between which a workspace moves. */
export interface Sides {
  move: Move
  administrator: Administrator
  target: Database
}

/** @throws CommandError if the two have other migrations */
export async function checkSchemas(source: Database, target: Database): Promise<void> {
  const [ours, theirs] = [
    await source.run<{ name: string }>('read_migrations', readAppliedSql, []),
    await target.run<{ name: string }>('read_migrations', readAppliedSql, []),
  ]
  if (isDeepStrictEqual(ours, theirs)) return
  const names = (rows: { name: string }[]) => rows.map(({ name }) => name)
  const differ = [...names(ours), ...names(theirs)].filter(
    (name) => !(names(ours).includes(name) && names(theirs).includes(name)),
  )
  throw new CommandError(
    `The two installations have other migrations${differ.length > 0 ? ` (${differ.join(', ')})` : ''}: bring both to the same version first. Nothing was changed.`,
  )
}

/** $1 workspace */
const isLeavingSql = `SELECT id FROM workspaces WHERE id = $1::uuid AND deletes_at IS NOT NULL`

/** @throws CommandError if the workspace leaves, or the target cannot take it */
export async function checkFit({ move, administrator, target: database }: Sides): Promise<void> {
  const { source, target, workspaceId } = move
  const [leaving] = await source.system.$queryRawUnsafe<unknown[]>(isLeavingSql, workspaceId)
  if (leaving !== undefined)
    throw new CommandError(
      'The deletion of the workspace was asked for: undo that first (workspaces keep). Nothing was changed.',
    )
  const [left] = await target.system.$queryRawUnsafe<unknown[]>(
    `${isLeavingSql} UNION ALL SELECT id FROM deleted_workspaces WHERE id = $1::uuid`,
    workspaceId,
  )
  if (left !== undefined)
    throw new CommandError(
      'The target has deleted this workspace, or it has moved away from there: it does not come back. Nothing was changed.',
    )
  for (const one of [administrator.database, database])
    if (await findOpenRestore(one))
      throw new CommandError(
        'The workers of one of the two are paused since a restore: start them first (restored start). Nothing was changed.',
      )
  await checkKeys(administrator, database)
  const there = await readState(target.system, workspaceId)
  if (there === undefined || hasArrived(move, there)) return
  if (there.closedAt !== null)
    throw new CommandError(
      'The workspace is closed in the target: it moves away from there. Nothing was changed.',
    )
  throw new CommandError(
    move.isBegun
      ? 'The workspace has moved: it is open in the target. Lead its requests there, then: npm run admin -- workspaces moved'
      : 'The workspace exists in the target already, and is open there. Nothing was changed.',
  )
}

/** @throws CommandError if the processes of the target could not open what those of the source have sealed */
async function checkKeys({ database: source, workspaceId }: Administrator, target: Database): Promise<void> {
  const sealer = createSealer(readEncryptionKey())
  const [ours, theirs] = [await opensNewest(source, sealer, workspaceId), await opensNewest(target, sealer)]
  for (const [place, opens] of Object.entries({ source: ours, target: theirs }))
    if (opens === false)
      throw new CommandError(
        `ENCRYPTION_KEY does not open what the ${place} has sealed: both installations need the same. Nothing was changed.`,
      )
  if (theirs === undefined)
    console.error('The target has sealed nothing yet: see that its processes have this ENCRYPTION_KEY, too.')
}
