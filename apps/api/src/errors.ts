import type { NotAdmitted } from '@automation/admission'
import { isDatabaseAway, isStatementCancelled, isTableMissing } from '@automation/database'
import { describeUnknownType, type Fault } from '@automation/engine'
import { type ErrorCode, errorCodes } from './error-codes.js'
import { findJsonFault } from './find-json-fault.js'

/** A request that is refused on purpose. Its status, code and body are part of the API. */
export class Refusal extends Error {
  readonly code: ErrorCode
  readonly statusCode: number
  readonly body: { error: string } | { errors: Fault[] }
  readonly headers: Record<string, string>

  /** @param cause for the log alone */
  constructor(
    code: ErrorCode,
    reason: string | Fault[],
    headers: Record<string, string> = {},
    cause?: Error,
  ) {
    super(typeof reason === 'string' ? reason : 'Invalid data format', { cause })
    this.code = code
    this.statusCode = errorCodes[code][0]
    this.body = typeof reason === 'string' ? { error: reason } : { errors: reason }
    this.headers = { ...headers, 'x-error-code': code }
  }
}

/** Whether the same request may succeed in a moment. Tables are missing only until the first migration has run. */
export function isPassing(error: unknown): boolean {
  return isDatabaseAway(error) || isStatementCancelled(error) || isTableMissing(error)
}

/** All refusals of the API, each named once. */
export const refusals = {
  badRequest: (message: string, code: 'invalid_query' | 'invalid_header' = 'invalid_query') =>
    new Refusal(code, message),
  invalidCursor: (name = 'Query parameter cursor') =>
    new Refusal('invalid_cursor', `${name} must be the nextCursor of the previous page`),
  badUrl: () => new Refusal('invalid_url', 'URL cannot be decoded'),
  bodyNotJson: (text: string) =>
    new Refusal('body_not_json', `Body is not valid JSON${describeJsonFault(text)}`),
  /** That is no fault of ours, although its code is that of a server that went away. */
  hungUp: (error: Error) => new Refusal('invalid_http', 'The caller has hung up', {}, error),
  bodyNotUtf8: (body: Buffer) =>
    new Refusal(
      'body_not_json',
      `Body is not UTF-8 (near byte ${findNotUtf8(body)}): encode the JSON as UTF-8`,
    ),
  bodyNotForm: () =>
    new Refusal('body_not_form', 'Body is not a form in UTF-8 of at most 1,000 fields, or lacks its payload'),
  bodyNotAnObject: () => new Refusal('body_not_json', 'Body must be a JSON object'),
  /** The body is fixed, so the header names the field, and the event types that were perhaps meant. @param own those of the workspace's own */
  invalidTriggerType: (type: string, field: string, own?: readonly string[]) =>
    new Refusal('invalid_trigger_type', 'Invalid trigger type', {
      link: `</docs/rules#events>; rel="help"; title="${describeUnknownType(type, own)}"; field="${field}"`,
    }),
  badIdempotencyKey: () =>
    new Refusal('invalid_header', 'Header Idempotency-Key must be 1 to 255 printable ASCII characters'),
  keyNotAccepted: () => new Refusal('invalid_header', 'This operation accepts no Idempotency-Key'),
  noIfMatch: () => new Refusal('invalid_header', 'This operation accepts no If-Match'),
  keyOfBatch: () =>
    new Refusal('invalid_header', 'A batch accepts no Idempotency-Key: give each event an idempotencyKey'),
  readTooLong: (ms: number) =>
    new Refusal(
      'query_timeout',
      `The query timed out after ${ms} ms: add a time range (from, to), or lower the limit`,
    ),
  evaluationTooLong: (ms: number, advice: string) =>
    new Refusal('evaluation_timeout', `The evaluation timed out after ${ms} ms: try again, or ${advice}`),
  evaluationTooMuch: (units: number, advice: string) =>
    new Refusal(
      'evaluation_limit_exceeded',
      `The request exceeds the evaluation limit of ${units} cost units: ${advice}`,
    ),
  evaluationTooLarge: (mb: number, advice: string) =>
    new Refusal('evaluation_limit_exceeded', `The evaluation needs more than ${mb} MB of memory: ${advice}`),
  resultTooLarge: (mib: number, advice: string) =>
    new Refusal('result_too_large', `The result is larger than ${mib} MiB: ${advice}`),
  workspaceRequired: () =>
    new Refusal('workspace_required', 'Header x-workspace-id must be a workspace UUID'),
  unreadableTimestamp: () =>
    new Refusal('stale_timestamp', 'The time that is signed cannot be read: send a Unix time, or RFC 3339'),
  staleTimestamp: () => new Refusal('stale_timestamp', 'Timestamp is outside the accepted window'),
  /** The body is the same for every token. @param fault of the token; undefined where there is none, as RFC 6750 has it */
  authenticationRequired: (fault?: string) =>
    new Refusal(
      fault ? 'invalid_token' : 'authentication_required',
      'Authentication required',
      challenge(fault && { error: 'invalid_token', description: fault }),
    ),
  /** Of a delivery, which has no token. */
  notSigned: () => new Refusal('invalid_signature', 'Authentication required'),
  notAMember: () =>
    new Refusal(
      'not_a_member',
      'Access denied',
      challenge({
        error: 'insufficient_scope',
        description: 'You are not a member of this workspace',
        scope: undefined,
      }),
    ),
  accessDenied: (description: string, scope?: string) =>
    new Refusal(
      'access_denied',
      'Access denied',
      challenge({ error: 'insufficient_scope', description, scope }),
    ),
  sessionLimited: (message: string) => new Refusal('embed_session_limited', message),
  higherPlan: () => new Refusal('access_denied', 'Only an operator can raise a plan, on the command line'),
  notFound: () => new Refusal('not_found', 'Not found'),
  ruleNotFound: () => new Refusal('rule_not_found', 'Automation rule not found'),
  draftNotFound: () => new Refusal('draft_not_found', 'The rule has no draft'),
  guardNotFound: () => new Refusal('guard_not_found', 'The rule has no guard'),
  ruleHasNoSchedule: () => new Refusal('rule_has_no_schedule', 'The rule has no schedule'),
  groupNotFound: () => new Refusal('rule_group_not_found', 'No rule is in the group'),
  notAShadow: () => new Refusal('rule_not_in_shadow_mode', 'The rule is not in shadow mode'),
  versionNotFound: () => new Refusal('version_not_found', 'Version not found'),
  eventTypeNotFound: () => new Refusal('event_type_not_found', 'Event type not found'),
  eventNotFound: () => new Refusal('event_not_found', 'Event not found'),
  eventErased: () =>
    new Refusal(
      'event_erased',
      'A value of this event was erased, so it cannot be replayed, nor its executions retried',
    ),
  erasureUnfinished: (events: number, executions: number) =>
    new Refusal(
      'erasure_unfinished',
      `${executions} executions of such events have not ended, and ${events} such events are not processed yet: cancel the executions first (a dry run lists them)`,
    ),
  taskNotFound: () => new Refusal('task_not_found', 'Task not found'),
  executionNotFound: () => new Refusal('execution_not_found', 'Execution not found'),
  decisionNotFound: () => new Refusal('decision_not_found', 'Decision not found'),
  alreadyDecided: (choice: string) => new Refusal('decision_made', `It was decided before: ${choice}`),
  decisionExpired: () => new Refusal('decision_expired', 'The time to decide is over'),
  decisionNotNeeded: () =>
    new Refusal('decision_not_needed', 'The decision is no longer needed: its execution has ended'),
  receiptNotFound: () => new Refusal('receipt_not_found', 'Receipt not found'),
  backtestNotFound: () => new Refusal('backtest_not_found', 'Backtest not found'),
  backtestEnded: () => new Refusal('backtest_ended', 'The backtest has already ended'),
  subscriptionNotFound: () => new Refusal('subscription_not_found', 'Subscription not found'),
  workspaceSuspended: () =>
    new Refusal(
      'workspace_suspended',
      'The workspace is suspended: only its admins can read it, and resume it',
    ),
  /** Who repeats the request finds it in the installation that it moves to. The retries of a client last longer than that. */
  workspaceClosed: (cause = new Error('The workspace moves to another installation')) =>
    new Refusal('unavailable', 'Service temporarily unavailable', { 'retry-after': '2' }, cause),
  workspaceNotFound: () => new Refusal('workspace_not_found', 'Workspace not found'),
  methodNotAllowed: (allow: string) => new Refusal('method_not_allowed', 'Method not allowed', { allow }),
  stillRunning: () =>
    new Refusal('idempotency_key_in_progress', 'A request with this Idempotency-Key is still running', {
      'retry-after': '1',
    }),
  notRetryable: (status: string) =>
    new Refusal(
      'execution_not_retryable',
      `Only a failed or cancelled execution can be retried: this one is ${status}`,
    ),
  keyNotAsked: () =>
    new Refusal(
      'execution_not_retryable',
      'It failed before perKey of its rule was asked, so it cannot be retried: replay its event',
    ),
  keyNotClaimed: () =>
    new Refusal(
      'execution_not_retryable',
      'The latest version of its rule has perKey.whileRunning, and this execution holds no key: replay its event, or retry it with the version that it has',
    ),
  batchNotCollected: () =>
    new Refusal(
      'execution_not_retryable',
      'The latest version of its rule does not collect, so this batch cannot be retried with it: retry it with the version that it has',
    ),
  cancelledByHand: () =>
    new Refusal(
      'execution_cancelled',
      'This execution was cancelled, so it cannot be retried: replay its event',
    ),
  keyInUse: () =>
    new Refusal('key_in_use', 'Another execution of its key has not ended: retry this one after that'),
  notCancellable: (status: string) =>
    new Refusal(
      'execution_not_cancellable',
      `Only an execution that is running, waiting or retrying can be cancelled: this one is ${status}`,
    ),
  notFailed: (status: string) =>
    new Refusal('execution_not_failed', `Only a failed execution can be acknowledged: this one is ${status}`),
  quarantined: () =>
    new Refusal(
      'event_quarantined',
      'This execution never started, because its event is quarantined: replay the event',
    ),
  ruleGone: () => new Refusal('rule_deleted', 'The rule was deleted, so this execution cannot be retried'),
  ruleSwitchedOff: () =>
    new Refusal('rule_inactive', 'The rule is switched off, so this execution cannot be retried'),
  subscriptionGone: () =>
    new Refusal(
      'subscription_inactive',
      'The subscription was deleted or switched off, so this delivery cannot be retried',
    ),
  ruleIsShadow: () =>
    new Refusal(
      'rule_in_shadow_mode',
      'The rule is in shadow mode, so only dry runs are possible: set mode to live to execute it',
    ),
  shadowSwitched: () =>
    new Refusal('rule_in_shadow_mode', 'The rule is in shadow mode: update it with mode "live" and isActive'),
  draftMismatch: () =>
    new Refusal(
      'draft_conflict',
      'The rule or its draft has changed since you read it: read it again, and retry with its new ETag',
    ),
  draftStale: () =>
    new Refusal('draft_conflict', 'The rule has changed since the draft was saved: save the draft again'),
  versionMismatch: () =>
    new Refusal(
      'version_conflict',
      'The rule has changed since you read it: read it again, and retry with its new ETag',
    ),
  /** Of what has no version. */
  resourceMismatch: () =>
    new Refusal(
      'version_conflict',
      'It has changed since you read it: read it again, and retry with its new ETag',
    ),
  bodyTooLarge: (bytes: number) => new Refusal('body_too_large', `The body is larger than ${bytes} bytes`),
  notJson: () => new Refusal('content_type_unsupported', 'Content-Type must be application/json'),
  notForm: () =>
    new Refusal(
      'content_type_unsupported',
      'Content-Type must be application/x-www-form-urlencoded, as the settings of the signing secret say',
    ),
  bodyEncoded: () =>
    new Refusal('content_encoding_unsupported', 'Content-Encoding must be identity', {
      'accept-encoding': 'identity',
    }),
  invalid: (faults: Fault[]) => new Refusal('validation_failed', faults),
  eventIdReused: () =>
    reused({ field: 'X-Idempotency-Key', message: 'Was already used with a different body' }),
  idempotencyKeyReused: () =>
    reused({ field: 'Idempotency-Key', message: 'Was already used with a different request' }),
  rateLimited: (retryAfterSeconds: number) =>
    new Refusal('rate_limited', 'Rate limit exceeded', { 'retry-after': String(retryAfterSeconds) }),
  tooManyBodies: (bytes: number, bytesOfOne: number) =>
    new Refusal(
      'requests_in_progress',
      `Too many large or unfinished request bodies at a time (at most ${bytes} bytes, ${bytesOfOne} of one workspace)`,
      { 'retry-after': '1' },
    ),
  /** Queries and evaluations take turns: those of one owner among themselves, and the owners. */
  notAdmitted: ({ because, retryAfterMs }: NotAdmitted) =>
    new Refusal(
      'requests_in_progress',
      because === 'own'
        ? 'Too many of your requests are in progress: try again later'
        : 'Too many requests of others are in progress: try again later',
      { 'retry-after': String(Math.ceil(retryAfterMs / 1_000)) },
    ),
  unavailable: (cause: Error) =>
    new Refusal('unavailable', 'Service temporarily unavailable', { 'retry-after': '1' }, cause),
}

function reused(fault: Fault): Refusal {
  return new Refusal('idempotency_key_reused', [fault])
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
