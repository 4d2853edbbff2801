import type { UnscopedRows } from '@automation/database'
import type { ActionResult } from '@automation/engine'
import { countEmitted } from '@automation/history'

/** The output of an EMIT_EVENT with forEach. */
interface Emission {
  events: number
  firstEventId: string
  lastEventId: string
}

/** Adds to each result of an EMIT_EVENT with forEach what has become of its events. */
export async function countEmittedEvents(
  reads: UnscopedRows,
  { workspaceId, id: executionId }: { workspaceId: string; id: string },
  results: readonly ActionResult[],
): Promise<ActionResult[]> {
  return Promise.all(
    results.map(async (result) => {
      const { events, firstEventId, lastEventId } = readEmission(result)
      if (events === undefined || firstEventId === undefined || lastEventId === undefined) return result
      const counts = await countEmitted(reads, { workspaceId, executionId, firstEventId, lastEventId })
      return { ...result, emitted: { events, ...counts } }
    }),
  )
}

function readEmission({ action, output }: ActionResult): Partial<Emission> {
  return action === 'EMIT_EVENT' && typeof output === 'object' && output !== null ? output : {}
}
