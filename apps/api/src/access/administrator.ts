import type { Administrator } from '@automation/access'
import type { FastifyRequest } from 'fastify'

/** The author of the changes that a request makes in its workspace. */
export function administratorOf({ server, workspace: { id, actor } }: FastifyRequest): Administrator {
  return {
    database: server.database,
    workspaceId: id,
    actor,
    publish: (events) => server.inbox.publish(events),
  }
}
