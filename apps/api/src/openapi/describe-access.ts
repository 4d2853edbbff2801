import type { FastifyContextConfig, FastifyRequest } from 'fastify'
import type { Callers } from '../access/find-caller-refusal.js'
import { scopeOf } from '../access/permissions.js'

/** Who may call a route, from its config: fields for programs, and the last line of its description. */
export function describeAccess({
  role,
  scope,
  callers,
  isAboutCaller,
  isOpen,
}: Partial<FastifyContextConfig>) {
  if (role === undefined)
    return isAboutCaller
      ? { note: 'Needs a token or an API key, and no role.' }
      : { note: 'Needs no token.', ...(isOpen && { security: [] }) }
  const needed = typeof role === 'function' ? role(askingFor({})) : role
  const least = typeof role === 'function' ? role(askingFor({ dryRun: true })) : role
  const key = scope ?? scopeOf(needed)
  const dryRun = least === needed ? '' : ` A dry run needs \`${least}\` or \`${scopeOf(least)}\`.`
  return {
    ...securityFor(callers),
    'x-required-role': needed,
    'x-required-scope': key,
    note: `Needs the role \`${needed}\`, or a key with the scope \`${key}\`.${dryRun}`,
  }
}

/** What differs from that of most operations (frame.ts). */
function securityFor({ keys, operators }: Callers = {}) {
  const user = { token: [], workspace: [] }
  if (keys === false) return { security: [user] }
  return operators ? { security: [user, { apiKey: [] }, { operatorKey: [] }] } : {}
}

function askingFor(body: object): FastifyRequest {
  return { body } as FastifyRequest
}
