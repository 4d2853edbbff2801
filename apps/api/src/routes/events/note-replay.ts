import { changeWorkspace } from '@automation/access'
import type { FastifyRequest } from 'fastify'
import { administratorOf } from '../../access/administrator.js'

/** Writes the audit entry of a replay. Call it first: a replay that happened has its entry. */
export function noteReplay(request: FastifyRequest, subject: string, details: object): Promise<void> {
  return changeWorkspace(administratorOf(request), async () => ({
    result: undefined,
    entry: { action: 'event.replayed', subject, details },
  }))
}
