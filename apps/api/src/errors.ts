import type { NotAdmitted } from '@automation/admission'
import { isDatabaseAway, isStatementCancelled, isTableMissing } from '@automation/database'
import { describeNearest, eventTypes, type Fault } from '@automation/engine'
import { findJsonFault } from './find-json-fault.js'

/** A request that is refused on purpose. Its status and body are part of the API. */
export class Refusal extends Error {
  readonly statusCode: number
  readonly body: { error: string } | { errors: Fault[] }
  readonly headers: Record<string, string>

  /** @param cause for the log alone */
  constructor(
    statusCode: number,
    reason: string | Fault[],
    headers: Record<string, string> = {},
    cause?: Error,
  ) {
    super(typeof reason === 'string' ? reason : 'Invalid data format', { cause })
    this.statusCode = statusCode
    this.body = typeof reason === 'string' ? { error: reason } : { errors: reason }
    this.headers = headers
  }
}

/** Whether the same request may succeed in a moment. Tables are missing only until the first migration has run. */
export function isPassing(error: unknown): boolean {
  return isDatabaseAway(error) || isStatementCancelled(error) || isTableMissing(error)
}

/** All refusals of the API, each named once. */
export const refusals = {
  badRequest: (message: string) => new Refusal(400, message),
  badUrl: () => new Refusal(400, 'URL cannot be decoded'),
  bodyNotJson: (text: string) => new Refusal(400, `Body is not valid JSON${describeJsonFault(text)}`),
  bodyNotUtf8: (body: Buffer) =>
    new Refusal(400, `Body is not UTF-8 (near byte ${findNotUtf8(body)}): encode the JSON as UTF-8`),
  bodyNotAnObject: () => new Refusal(400, 'Body must be a JSON object'),
  /** The body is fixed, so the header names the event types that were perhaps meant. */
  invalidTriggerType: (trigger: string) =>
    new Refusal(400, 'Invalid trigger type', {
      link: `</docs/rules#events>; rel="help"; title="${describeNearest(trigger, eventTypes)}"`,
    }),
  badIdempotencyKey: () =>
    new Refusal(400, 'Header Idempotency-Key must be 1 to 255 printable ASCII characters'),
  keyOfBatch: () => new Refusal(400, 'A batch accepts no Idempotency-Key: give each event an idempotencyKey'),
  readTooLong: (ms: number) =>
    new Refusal(400, `The query timed out after ${ms} ms: add a time range (from, to), or lower the limit`),
  evaluationTooLong: (ms: number, advice: string) =>
    new Refusal(400, `The evaluation timed out after ${ms} ms: try again, or ${advice}`),
  evaluationTooMuch: (units: number, advice: string) =>
    new Refusal(400, `The request exceeds the evaluation limit of ${units} cost units: ${advice}`),
  evaluationTooLarge: (mb: number, advice: string) =>
    new Refusal(400, `The evaluation needs more than ${mb} MB of memory: ${advice}`),
  resultTooLarge: (mib: number, advice: string) =>
    new Refusal(400, `The result is larger than ${mib} MiB: ${advice}`),
  workspaceRequired: () => new Refusal(400, 'Header x-workspace-id must be a workspace UUID'),
  staleTimestamp: () => new Refusal(401, 'Timestamp is outside the accepted window'),
  /** The body is the same for every token. @param fault of the token; undefined where there is none, as RFC 6750 has it */
  authenticationRequired: (fault?: string) =>
    new Refusal(
      401,
      'Authentication required',
      challenge(fault && { error: 'invalid_token', description: fault }),
    ),
  /** Of a delivery, which has no token. */
  notSigned: () => new Refusal(401, 'Authentication required'),
  accessDenied: (description: string, scope?: string) =>
    new Refusal(403, 'Access denied', challenge({ error: 'insufficient_scope', description, scope })),
  notFound: () => new Refusal(404, 'Not found'),
  ruleNotFound: () => new Refusal(404, 'Automation rule not found'),
  draftNotFound: () => new Refusal(404, 'The rule has no draft'),
  guardNotFound: () => new Refusal(404, 'The rule has no guard'),
  notAShadow: () => new Refusal(404, 'The rule is not in shadow mode'),
  versionNotFound: () => new Refusal(404, 'Version not found'),
  eventTypeNotFound: () => new Refusal(404, 'Event type not found'),
  eventNotFound: () => new Refusal(404, 'Event not found'),
  executionNotFound: () => new Refusal(404, 'Execution not found'),
  receiptNotFound: () => new Refusal(404, 'Receipt not found'),
  backtestNotFound: () => new Refusal(404, 'Backtest not found'),
  backtestEnded: () => new Refusal(409, 'The backtest has already ended'),
  subscriptionNotFound: () => new Refusal(404, 'Subscription not found'),
  workspaceNotFound: () => new Refusal(404, 'Workspace not found'),
  methodNotAllowed: (allow: string) => new Refusal(405, 'Method not allowed', { allow }),
  stillRunning: () =>
    new Refusal(409, 'A request with this Idempotency-Key is still running', { 'retry-after': '1' }),
  notRetryable: (status: string) =>
    new Refusal(409, `Only a failed or cancelled execution can be retried: this one is ${status}`),
  quarantined: () =>
    new Refusal(409, 'This execution never started, because its event is quarantined: replay the event'),
  ruleGone: () => new Refusal(409, 'The rule was deleted, so this execution cannot be retried'),
  ruleSwitchedOff: () => new Refusal(409, 'The rule is switched off, so this execution cannot be retried'),
  subscriptionGone: () =>
    new Refusal(409, 'The subscription was deleted or switched off, so this delivery cannot be retried'),
  ruleIsShadow: () =>
    new Refusal(
      409,
      'The rule is in shadow mode, so only dry runs are possible: set mode to live to execute it',
    ),
  shadowToggled: () =>
    new Refusal(409, 'The rule is in shadow mode: update it with mode "live" and isActive'),
  draftMismatch: () =>
    new Refusal(
      412,
      'The rule or its draft has changed since you read it: read it again, and retry with its new ETag',
    ),
  draftStale: () => new Refusal(412, 'The rule has changed since the draft was saved: save the draft again'),
  versionMismatch: () =>
    new Refusal(412, 'The rule has changed since you read it: read it again, and retry with its new ETag'),
  bodyTooLarge: (bytes: number) => new Refusal(413, `The body is larger than ${bytes} bytes`),
  notJson: () => new Refusal(415, 'Content-Type must be application/json'),
  bodyEncoded: () => new Refusal(415, 'Content-Encoding must be identity', { 'accept-encoding': 'identity' }),
  invalid: (faults: Fault[]) => new Refusal(422, faults),
  eventIdReused: () =>
    refusals.invalid([{ field: 'X-Idempotency-Key', message: 'Was already used with a different body' }]),
  idempotencyKeyReused: () =>
    refusals.invalid([{ field: 'Idempotency-Key', message: 'Was already used with a different request' }]),
  rateLimited: (retryAfterSeconds: number) =>
    new Refusal(429, 'Rate limit exceeded', { 'retry-after': String(retryAfterSeconds) }),
  tooManyBodies: (bytes: number, bytesOfOne: number) =>
    new Refusal(
      429,
      `Too many large or unfinished request bodies at a time (at most ${bytes} bytes, ${bytesOfOne} of one workspace)`,
      { 'retry-after': '1' },
    ),
  /** Queries and evaluations take turns: those of one owner among themselves, and the owners. */
  notAdmitted: ({ because, retryAfterMs }: NotAdmitted) =>
    new Refusal(
      429,
      because === 'own'
        ? 'Too many of your requests are in progress: try again later'
        : 'Too many requests of others are in progress: try again later',
      { 'retry-after': String(Math.ceil(retryAfterMs / 1_000)) },
    ),
  unavailable: (cause: Error) =>
    new Refusal(503, 'Service temporarily unavailable', { 'retry-after': '1' }, cause),
}

/** `WWW-Authenticate` of RFC 6750. */
function challenge(
  fault?: { error: string; description: string; scope?: string | undefined } | '',
): Record<string, string> {
  const parts = ['Bearer realm="automation"']
  if (fault) parts.push(`error="${fault.error}"`, `error_description="${fault.description}"`)
  if (fault && fault.scope !== undefined) parts.push(`scope="${fault.scope}"`)
  return { 'www-authenticate': parts.join(', ') }
}

/** The first byte, from 1, that a decoder would replace; the last one of a body that is cut within a character. */
function findNotUtf8(body: Buffer): number {
  const decoded = Buffer.from(body.toString())
  const at = body.findIndex((byte, index) => byte !== decoded[index])
  return at === -1 ? body.length : at + 1
}

function describeJsonFault(text: string): string {
  const fault = findJsonFault(text)
  return fault === undefined
    ? ': no name may be __proto__, or constructor with a prototype'
    : `: line ${fault.line}, column ${fault.column} should be ${fault.expected}`
}
