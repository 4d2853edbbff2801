/** Which tag an operation has, by its path. The first that fits. */
const tagOfPath: [path: RegExp, tag: string][] = [
  [/\/trigger\b/, 'Events'],
  [/^\/api\/events\b/, 'Events'],
  [/\/execute$|^\/api\/executions\b/, 'Executions'],
  [/^\/api\/tasks\b/, 'Tasks'],
  [/^\/api\/decisions\b/, 'Decisions'],
  [/\/(draft|difference|guard|rollouts)\b/, 'Drafts and guards'],
  [/\/backtests\b/, 'Backtests'],
  [/\/(health|attention|overview|summaries)$/, 'Health'],
  [/^\/api\/automation-rules\b/, 'Rules'],
  [/^\/api\/(event-types|vocabulary)\b/, 'Event types'],
  [/^\/api\/email-templates\b/, 'Email templates'],
  [/^\/api\/incoming-webhooks\b|\/webhook-receipts\b/, 'Incoming webhooks'],
  [/\/subscriptions\b/, 'Subscriptions'],
  [/\/signing-secrets\b/, 'Signing secrets'],
  [/\/credentials\b/, 'Credentials'],
  [/\/api-keys\b/, 'API keys'],
  [/\/embed-sessions\b/, 'Embed sessions'],
  [/\/(members|invitations|workspaces|me)\b/, 'Workspaces and members'],
  [/\/(audit-log|ledger)$|\/erasures\b/, 'Audit and reconciliation'],
  [/^\/(healthz|readyz)$/, 'Probes'],
]

const groups = {
  'Events and what they do': {
    Events: 'Post events; read, search, explain and replay them',
    Executions:
      'One execution is one rule that runs for one event. Read and retry them, or execute a rule manually',
    Tasks: 'Tasks that CREATE_TASK actions created',
    Decisions: 'What executions wait for a person to decide',
  },
  Rules: {
    Rules:
      'Rules, their definitions and their versions. [The rule language](/docs/rules) lists every operator, filter and action.',
    'Drafts and guards':
      'A draft is the next version of a rule, and does nothing until you promote it. A guard restores the previous version if the new one runs or fails too often. A rule in shadow mode only shows what it would do',
    Backtests: 'A backtest computes what a rule would have done for past events. Nothing is executed',
    'Event types':
      'The catalogue of event types, types of your own, and the operators, filters and actions of rules',
    'Email templates': 'Templates for the emails of SEND_EMAIL actions',
    Health: 'Success rates, rules that need attention, and overviews',
  },
  Webhooks: {
    'Incoming webhooks':
      'Other systems deliver signed webhooks. A receipt says that one was accepted or rejected',
    Subscriptions: 'URLs that receive events about your workspace, such as a rule that was switched off',
    'Signing secrets': 'Secrets for incoming and outgoing webhooks',
    Credentials: 'Tokens and passwords that calls of rules send, by their names',
  },
  Workspace: {
    'Workspaces and members': 'Workspaces, their settings, and who may do what',
    'Embed sessions': 'Users of your product work in a frame of it',
    'API keys': 'Keys with which programs call the API',
    'Audit and reconciliation':
      'Who changed what, whether everything that was accepted was done, and erasing what events say of a person',
  },
  Service: { Probes: 'Liveness and readiness of the process' },
}

const introduction = `Your application posts events, such as \`DEAL_WON\`. Every active rule with that trigger evaluates its conditions, and runs its actions if they match: it
creates a task, sends an email, calls a URL, waits. That is one execution. A workspace holds the rules, members, keys and history of one
customer or team, and sees nothing of the others.

\`POST /api/events\` is the first request to try, and \`GET /api/events/{id}/why\` says why a rule ran or did not. Two pages are for authors of
rules: [the rule language](/docs/rules) and [recipes](/docs/guides/recipes).

## Authentication
A user sends \`Authorization: Bearer <JWT>\` and \`x-workspace-id\`. A program sends \`Authorization: Bearer <API key>\` and no workspace, because a key
belongs to one. Each operation names the role and the scope that it needs. A role includes the rights of those before it: viewer, operator,
editor, admin.

## Errors
A refusal has \`{ "error": … }\`, or \`{ "errors": [{ "field", "message" }] }\` with all errors of a body (422). \`X-Error-Code\` has the reason for
programs, such as \`rule_not_found\`: compare it, because texts change. \`WWW-Authenticate\` (401, 403) and \`Link\` (an unknown event type) have details.
An unknown query parameter or field is refused, and the message names the nearest known one.

## Pages
A list has \`nextCursor\`, null on the last page. Send it as \`cursor\`. A page can have fewer items than its limit, and still have a next one.

## Idempotency
Send \`Idempotency-Key\` with an operation that has this header. For 24 hours, a repeat with the same key and body has no effect and gets the first
response again, with \`Idempotent-Replayed: true\`. Other operations refuse the header.

## Concurrent changes
Send the \`ETag\` of what you have read as \`If-Match\` with an operation that has this header. If somebody else has changed it since, the response is
412, and nothing is changed. Other changes refuse the header.

## Rate limits
A request costs one token of a bucket, which fills steadily: 60 a minute by default, and 100 at most. \`X-RateLimit-Limit\`, \`-Remaining\` and \`-Reset\`
describe it. If it is empty, the response is 429, and \`Retry-After\` says when to repeat the request.

## Versioning
Paths without a version are version 1. They only grow: new fields, parameters, operations and codes may come at any time, so ignore what you
do not know. Nothing is deprecated yet. A part that is deprecated later keeps working for at least 12 months, and responses of requests
that use it have the headers \`Deprecation\` (RFC 9745), \`Sunset\` (RFC 8594) and \`Link\`.`

/** All of the document but its operations and schemas. */
export const frame = {
  openapi: '3.1.0',
  info: {
    title: 'Automation rules',
    version: '0.1.0',
    description: introduction,
    contact: { name: 'The operator of this installation' },
    license: { name: 'No licence was granted yet', identifier: 'LicenseRef-none' },
  },
  servers: [
    { url: '/', description: 'The server that serves this document' },
    {
      url: '{baseUrl}',
      description: 'Another server',
      variables: {
        baseUrl: {
          default: 'http://127.0.0.1:3000',
          description: 'Where the API listens, without a slash at the end',
        },
      },
    },
  ],
  tags: Object.values(groups).flatMap((tags) =>
    Object.entries(tags).map(([name, description]) => ({ name, description })),
  ),
  'x-tagGroups': Object.entries(groups).map(([name, tags]) => ({ name, tags: Object.keys(tags) })),
  components: {
    securitySchemes: {
      token: {
        type: 'http',
        scheme: 'bearer',
        bearerFormat: 'JWT',
        description:
          'Token of a member: HS256, or RS256 and EdDSA of an identity provider, with `sub`, `iss`, `aud` and `exp`. Your identity provider issues it; for development, `npm run admin -- tokens mint` prints one.',
      },
      workspace: {
        type: 'apiKey',
        in: 'header',
        name: 'x-workspace-id',
        description: 'Id of the workspace, with the token of a member. `GET /api/me` lists yours.',
      },
      apiKey: {
        type: 'http',
        scheme: 'bearer',
        bearerFormat: 'ark_…',
        description:
          'API key of a program, which needs no `x-workspace-id`. It belongs to one workspace, and its scopes limit its permissions. An admin creates it by `POST /api/developer/v1/api-keys`, which shows it once.',
      },
      operatorKey: {
        type: 'http',
        scheme: 'bearer',
        bearerFormat: 'opk_…',
        description:
          'Key of the operator of this installation, which belongs to no workspace. It creates workspaces and reads their names and counts. `npm run admin -- operator-keys create` shows it once.',
      },
    },
  },
  security: [{ token: [], workspace: [] }, { apiKey: [] }],
} as const

/** @throws Error for a path of no noun: it needs a line above */
export function tagOf(path: string): string {
  const known = path.replace(/(?<=.)\/$/, '')
  const [, tag] = tagOfPath.find(([pattern]) => pattern.test(known)) ?? []
  if (tag === undefined) throw new Error(`The document has no tag for ${path}`)
  return tag
}
