import {
  type Administrator,
  findUndone,
  Refused,
  type RemovalEntry,
  type Removals,
  removeMember,
  repeatErasures,
  revokeApiKey,
  revokeSigningSecret,
} from '@automation/access'
import { deleteWorkspace } from '@automation/rules'
import { maskControls } from '../format.js'

/** What the service takes away again by itself. All else is the workspace's to decide. */
const repeats: Record<string, (administrator: Administrator, subject: string) => Promise<unknown>> = {
  'api_key.revoked': revokeApiKey,
  'signing_secret.revoked': revokeSigningSecret,
  'member.removed': removeMember,
}

export interface Repetition {
  erasures: number
  deletions: number
  entries: number
  /** What is still there, and why it was refused; null: nobody tried. */
  left: (RemovalEntry & { reason: string | null })[]
}

/**
 * Takes away again what a restore has brought back: deletions first, which suspend a workspace, then rights, then erasures, which workers make. Each is a
 * transaction of its own, and what is done is not found again: after an end in the middle it is called once more.
 */
export async function repeatRemovals(
  { database, actor }: Pick<Administrator, 'database' | 'actor'>,
  list: Removals,
): Promise<Repetition> {
  const { erasures, deletions, entries } = await findUndone(database, list)
  const administratorOf = (workspaceId: string) => ({ database, actor, workspaceId })
  for (const { id, deletesAt } of deletions) {
    // A workspace may have another name since.
    const { name } = await database.system.workspace.findUniqueOrThrow({
      where: { id },
      select: { name: true },
    })
    await deleteWorkspace(administratorOf(id), name, new Date(deletesAt))
  }
  const left: Repetition['left'] = []
  for (const entry of entries) {
    const repeat = repeats[entry.action]
    if (repeat === undefined) {
      left.push({ ...entry, reason: null })
      continue
    }
    try {
      await repeat(administratorOf(entry.workspaceId), entry.subject)
    } catch (error) {
      if (!(error instanceof Refused)) throw error
      left.push({ ...entry, reason: maskControls(error.message) })
    }
  }
  return {
    erasures: await repeatErasures(database, erasures),
    deletions: deletions.length,
    entries: entries.length - left.length,
    left,
  }
}
