import type { FastifyRequest } from 'fastify'
import { type Refusal, refusals } from '../errors.js'
import { limitationOf } from '../rate-limit/rate-limit.js'
import { findSessionRefusal } from './limit-session.js'
import { type Permissions, permits, scopeOf } from './permissions.js'

/** What a route says of kinds of callers, where it is not the usual. Of embed sessions, embed-operations.ts says it. */
export interface Callers {
  /** false: only users may call it, and no API key: one that leaked must not destroy what cannot be restored. */
  keys?: false
  /** true: an operator's key is accepted, too. It has no workspace. */
  operators?: true
  /** false: members whose access ends by itself may not, though their role may. */
  support?: false
  /** true: it suspends the workspace, or undoes that, so admins may change it in a workspace that is suspended. */
  whileSuspended?: true
}

/**
 * Finds why the caller of a request is refused, in the interface's order; undefined where nothing refuses it. All but a role that depends
 * on the body is in the headers, so that it can be asked before the body is read.
 */
export function findCallerRefusal(request: FastifyRequest, isBodyRead: boolean): Refusal | undefined {
  const { role, scope, isAboutCaller, callers = {} } = request.routeOptions.config ?? {}
  if (role === undefined && !isAboutCaller) return undefined
  const limitation = limitationOf(request)
  if (limitation) return limitation
  if (request.caller === undefined) return refusals.authenticationRequired(request.tokenFault)
  if (request.caller.isOperator && !callers.operators)
    return refusals.accessDenied(
      'A key of the operator creates workspaces, and reads their names and counts alone',
    )
  if (request.caller.isOperator) return undefined
  const { workspaceId, permissions, permissionsFault, session } = request.caller
  if (role === undefined) return session && findSessionRefusal(request, session)
  if (workspaceId === undefined) return refusals.workspaceRequired()
  if (permissionsFault) return refusals.unavailable(permissionsFault)
  if (permissions === undefined) return refusals.notAMember()
  if (request.bucketOwner?.tenant?.isClosed) return refusals.workspaceClosed()
  if (request.bucketOwner?.tenant?.isSuspended && !maySeeSuspended(request, permissions))
    return refusals.workspaceSuspended()
  if (typeof role === 'function' && !isBodyRead) return session && findSessionRefusal(request, session)
  if (callers.support === false && permissions.isSupport)
    return refusals.accessDenied('Support access does not read this')
  const needed = typeof role === 'function' ? role(request) : role
  if (callers.keys === false && permissions.scopes !== undefined)
    return refusals.accessDenied('An API key cannot do this: only a user can')
  if (permits(permissions, needed, scope)) return session && findSessionRefusal(request, session)
  const neededScope = scope ?? scopeOf(needed)
  const what = permissions.scopes === undefined ? `role ${needed}` : `scope ${neededScope}`
  return refusals.accessDenied(`The ${what} is needed`, neededScope)
}

/** Only its admins see a workspace that is suspended, and nobody changes it but by the routes that undo that. A key is nobody. */
function maySeeSuspended({ method, routeOptions }: FastifyRequest, permissions: Permissions): boolean {
  const isAdmin = permissions.scopes === undefined && permits(permissions, 'admin')
  return (
    isAdmin && (method === 'GET' || method === 'HEAD' || routeOptions.config.callers?.whileSuspended === true)
  )
}
