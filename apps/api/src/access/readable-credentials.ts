import { type Credential, listCredentials } from '@automation/access'
import type { WorkspaceDatabase } from '@automation/database'
import type { FastifyRequest } from 'fastify'

/**
 * Lists the credentials of which warnings tell a caller, with their hosts: an embed session those that `allow` names, and support access none.
 *
 * @returns undefined where nothing is said of any
 */
export async function listReadableCredentials(
  { caller }: FastifyRequest,
  database: Pick<WorkspaceDatabase, 'credential'>,
): Promise<Credential[] | undefined> {
  if (caller?.permissions?.isSupport) return undefined
  if (caller?.session === undefined) return listCredentials(database)
  const allowed = caller.session.grant.allow?.credentials
  return allowed && (await listCredentials(database)).filter(({ name }) => allowed.includes(name))
}
