import type { Database, TakeTurn, WorkspaceDatabase, WorkspaceReads } from '@automation/database'

/** The workspace of a request that has passed all checks. Scoping the database has a cost, and posting an event never needs it. */
export interface RequestWorkspace {
  readonly id: string
  /** For the statements of a change. */
  readonly database: WorkspaceDatabase
  /** For queries whose work depends on the caller: they have connections of their own, and limits. */
  readonly reads: WorkspaceReads
  readonly actor: string
  /** Who created it; null where nobody did. */
  readonly createdBy: string | null
}

/** @param takeTurn runs a read of the workspace when it is its turn */
export function openWorkspace(
  database: Database,
  { id, actor, createdBy }: Pick<RequestWorkspace, 'id' | 'actor' | 'createdBy'>,
  takeTurn: TakeTurn,
): RequestWorkspace {
  let scoped: WorkspaceDatabase | undefined
  let reads: WorkspaceReads | undefined
  return {
    id,
    actor,
    createdBy,
    get database() {
      scoped ??= database.forWorkspace(id)
      return scoped
    },
    get reads() {
      reads ??= database.readsOf(id, takeTurn)
      return reads
    },
  }
}
