import type { Administrator } from '@automation/access'
import type { FastifyRequest } from 'fastify'
import { refusals } from '../errors.js'
import { etagOf, isTagRefused, type Resource } from '../etag.js'

/** The author of the changes that a request makes in its workspace. */
export function administratorOf(request: FastifyRequest): Administrator {
  const { server, workspace } = request
  const { resource } = request.routeOptions.config
  const isCompared = resource !== undefined && request.headers['if-match'] !== undefined
  return {
    database: server.database,
    workspaceId: workspace.id,
    actor: workspace.actor,
    publish: (events) => server.inbox.publish(events),
    ...(request.caller?.session && { grant: request.caller.session.grant }),
    ...(isCompared && { once: onlyIfMatched(request, resource) }),
  }
}

/** Compares If-Match within the transaction, which no other change of the workspace overtakes. */
function onlyIfMatched(request: FastifyRequest, read: Resource): NonNullable<Administrator['once']> {
  return async (transaction, change) => {
    const found = await read(transaction, request)
    if (found === null || isTagRefused(request, etagOf(JSON.stringify(found))))
      throw refusals.resourceMismatch()
    return change()
  }
}
