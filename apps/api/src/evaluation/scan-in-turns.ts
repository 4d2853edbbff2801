import { NotAdmitted } from '@automation/admission'
import type { Scanned, Visit } from '@automation/history'
import type { FastifyRequest } from 'fastify'
import type { Evaluate } from './evaluator.js'

interface Turn {
  /** How many rows it used, at least one: the rest is for the next turn. */
  used: number
  /** Whether the scan has found enough. */
  isOver?: boolean
}

interface ToScan<Row> {
  scan: (visit: Visit<Row>) => Promise<Scanned>
  /** Where the scan begins; undefined: with the first row. */
  after: string | undefined
  /** Which it may take in all. */
  ms: number
}

/**
 * Passes over stored rows in turns, each with a slice that it reads and evaluates, a mebibyte and the row that fills it. The scan ends when its time does,
 * also within a slice, and when others keep it waiting: what the turns before have found is not lost, and it can be continued.
 *
 * @throws NotAdmitted if it came nowhere
 */
export async function scanInTurns<Row extends { id: string }>(
  request: FastifyRequest,
  { scan, after, ms }: ToScan<Row>,
  examineRows: (rows: Row[], evaluate: Evaluate) => Promise<Turn>,
): Promise<Scanned> {
  const { server } = request
  const startedAt = performance.now()
  let entry = await server.evaluator.enter(request)
  let refusal: unknown
  const visit = async (rows: Row[]): Promise<string | null | undefined> => {
    let used = 0
    const last = () => rows[used - 1]?.id ?? null
    while (used < rows.length) {
      const turn = await examineRows(rows.slice(used), (name, input) => server.evaluator.run(name, input))
      used += turn.used
      if (turn.isOver || performance.now() - startedAt > ms) return last()
      entry.leave()
      try {
        entry = await server.evaluator.enter(request, true)
      } catch (error) {
        if (!(error instanceof NotAdmitted)) throw error
        refusal = error
        return last()
      }
    }
    return undefined
  }
  try {
    const scanned = await scan(visit)
    if (refusal !== undefined && scanned.end === after) throw refusal
    return scanned
  } finally {
    entry.leave()
  }
}
