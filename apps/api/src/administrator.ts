import type { Administrator } from '@automation/administration'
import type { FastifyRequest } from 'fastify'

/** On whose behalf a request changes its workspace. */
export function administratorOf({ server, workspace: { id, actor } }: FastifyRequest): Administrator {
  return { database: server.database, workspaceId: id, actor, announce: server.inbox.announce }
}
