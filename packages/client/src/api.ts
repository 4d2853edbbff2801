import type * as generated from './generated/api.js'

// The nouns of the API, all of them: `npm run openapi` generates them from docs/openapi.json.
export type * from './generated/nouns.js'

export type RuleToCreate = Sharp<generated.RuleToCreate>
export type RuleToUpdate = Sharp<generated.RuleToUpdate>
export type DraftToSave = Sharp<generated.DraftToSave>

/**
 * The schemas of the API accept any text as an event type, and the API refuses an unknown one with a message of its own. The client's
 * types name what it is: a workspace may have types of its own.
 */
type Sharp<Type> = {
  [Key in keyof Type]: Key extends 'trigger' | 'eventType' ? generated.EventType : Type[Key]
}

type Method = 'get' | 'put' | 'post' | 'patch' | 'delete'

/** A method and a path: `POST /api/events/{id}/replay`. */
export type OperationName = {
  [Path in keyof generated.paths]: {
    [Verb in Method]: generated.paths[Path][Verb] extends object ? `${Uppercase<Verb>} ${Path}` : never
  }[Method]
}[keyof generated.paths]

type OperationOf<Name extends OperationName> = Name extends `${infer Verb} ${infer Path}`
  ? Path extends keyof generated.paths
    ? Extract<generated.paths[Path][Lowercase<Verb> & Method], GeneratedOperation>
    : never
  : never

interface GeneratedOperation {
  parameters: { path?: object; query?: object; header?: object }
  requestBody?: { content: { 'application/json': unknown } }
  responses: object
}

/** Every operation of the API: its inputs, and the bodies of its responses by status. An error response is an ApiError. */
export type Operations = {
  [Name in OperationName]: PathOf<OperationOf<Name>> &
    QueryOf<OperationOf<Name>> &
    BodyOf<OperationOf<Name>> & { answers: Bodies<OperationOf<Name>['responses']> }
}

type PathOf<Operation extends GeneratedOperation> = Operation['parameters'] extends { path: infer Path }
  ? { path: Sharp<Path> }
  : unknown

type QueryOf<Operation extends GeneratedOperation> = [NonNullable<Operation['parameters']['query']>] extends [
  never,
]
  ? unknown
  : { query?: Sharp<NonNullable<Operation['parameters']['query']>> }

type BodyOf<Operation extends GeneratedOperation> = [NonNullable<Operation['requestBody']>] extends [never]
  ? unknown
  : Operation extends { requestBody: Json<infer Body> }
    ? { body: Sharp<Body> }
    : { body?: Sharp<NonNullable<Operation['requestBody']>['content']['application/json']> }

type Bodies<Responses> = {
  [Status in keyof Responses as Extract<Status, 200 | 201 | 202 | 204>]: Responses[Status] extends Json<
    infer Body
  >
    ? Body
    : undefined
}

interface Json<Body> {
  content: { 'application/json': Body }
}

type KeyedOperation = {
  [Name in OperationName]: Required<OperationOf<Name>['parameters']>['header'] extends infer Header
    ? [Header] extends [never]
      ? never
      : 'Idempotency-Key' extends keyof Header
        ? Name
        : never
    : never
}[OperationName]

/** The compiler requires the complete list. */
const keyed: Record<KeyedOperation, true> = {
  'POST /api/automation-rules': true,
  'POST /api/automation-rules/backtests': true,
  'POST /api/automation-rules/import': true,
  'POST /api/automation-rules/{id}/activate': true,
  'POST /api/automation-rules/{id}/clone': true,
  'POST /api/automation-rules/{id}/deactivate': true,
  'POST /api/automation-rules/{id}/draft/promote': true,
  'POST /api/automation-rules/{id}/execute': true,
  'POST /api/automation-rules/{id}/versions/{version}/restore': true,
  'POST /api/automation-rules/trigger/{eventType}': true,
  'POST /api/developer/v1/api-keys': true,
  'POST /api/developer/v1/invitations': true,
  'POST /api/developer/v1/embed-sessions': true,
  'POST /api/developer/v1/signing-secrets': true,
  'POST /api/developer/v1/signing-secrets/{id}/retire': true,
  'POST /api/developer/v1/subscriptions': true,
  'POST /api/developer/v1/subscriptions/{id}/test': true,
  'POST /api/developer/v1/workspaces': true,
  'POST /api/email-templates': true,
  'POST /api/event-types': true,
  'POST /api/events': true,
  'POST /api/events/{id}/replay': true,
  'POST /api/executions/{id}/retry': true,
  'POST /api/executions/retry': true,
  'POST /api/executions/{id}/cancel': true,
  'POST /api/decisions/{id}': true,
  'POST /api/executions/cancel': true,
}

/** The operations that take effect once per Idempotency-Key, however often they are sent. */
export const keyedOperations: ReadonlySet<OperationName> = new Set(Object.keys(keyed) as KeyedOperation[])
