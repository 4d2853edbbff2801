/** Which tag an operation has, by its path. The first that fits. */
const tagOfPath: [path: RegExp, tag: string][] = [
  [/\/trigger\b/, 'Events'],
  [/^\/api\/events\b/, 'Events'],
  [/\/execute$|^\/api\/executions\b/, 'Executions'],
  [/^\/api\/tasks\b/, 'Tasks'],
  [/\/(draft|difference|guard|rollouts)\b/, 'Drafts and guards'],
  [/\/backtests\b/, 'Backtests'],
  [/\/(health|attention|overview|summaries)$/, 'Health'],
  [/^\/api\/automation-rules\b/, 'Rules'],
  [/^\/api\/(event-types|vocabulary)\b/, 'Event types'],
  [/^\/api\/email-templates\b/, 'Email templates'],
  [/^\/api\/incoming-webhooks\b|\/webhook-receipts\b/, 'Incoming webhooks'],
  [/\/subscriptions\b/, 'Subscriptions'],
  [/\/signing-secrets\b/, 'Signing secrets'],
  [/\/api-keys\b/, 'API keys'],
  [/\/(members|workspaces|me)\b/, 'Workspaces and members'],
  [/\/(audit-log|ledger)$/, 'Audit and reconciliation'],
  [/^\/(healthz|readyz)$/, 'Probes'],
]

const groups = {
  'Events and what they do': {
    Events: 'Post events; read, search, explain and replay them',
    Executions:
      'One execution is one rule that runs for one event. Read and retry them, or execute a rule manually',
    Tasks: 'Tasks that CREATE_TASK actions created',
  },
  Rules: {
    Rules:
      'Rules, their definitions and their versions. [The rule language](/docs/rules) lists every operator, filter and action.',
    'Drafts and guards': 'Drafts, shadow mode, and promotion under a guard that rolls back',
    Backtests: 'What a rule would have done for past events',
    'Event types': 'The types of events, and what a rule can be made of',
    'Email templates': 'Templates for the emails of SEND_EMAIL actions',
    Health: 'Success rates, rules that need attention, and overviews',
  },
  Webhooks: {
    'Incoming webhooks': 'Deliver signed webhooks, and read their receipts',
    Subscriptions: 'URLs that receive events about your workspace, such as a rule that was switched off',
    'Signing secrets': 'Secrets for incoming and outgoing webhooks',
  },
  Workspace: {
    'Workspaces and members': 'Workspaces, their settings, and who may do what',
    'API keys': 'Keys with which programs call the API',
    'Audit and reconciliation': 'Who changed what, and whether everything that was accepted was done',
  },
  Service: { Probes: 'Liveness and readiness of the process' },
}

const introduction = `Rules for many workspaces: an event triggers rules, workers evaluate their conditions and execute their actions.
Two pages are for authors of rules: [the rule language](/docs/rules) and [recipes](/docs/recipes).

## Authentication
A user sends \`Authorization: Bearer <JWT>\` and \`x-workspace-id\`. A program sends an API key in the same header, and no workspace: a key belongs
to one. Each operation names the role and the scope that it needs; a role includes the rights of those before it: viewer, operator, editor, admin.

## Errors
A refusal has \`{ "error": … }\`, or \`{ "errors": [{ "field", "message" }] }\` with all errors of a body (422). \`X-Error-Code\` has the reason in one
word: compare that, because texts change. \`WWW-Authenticate\` (401, 403) and \`Link\` (an unknown event type) have details.

## Pages
A list has \`nextCursor\`, null on the last page. Send it as \`cursor\`. A page can be short, and still have a next one.

## Idempotency
Send \`Idempotency-Key\` with an operation that has this header. For 24 hours, a repeat with the same key and body has no effect and gets the first
response again, with \`Idempotent-Replayed: true\`.

## Rate limits
A request costs one token of a bucket. \`X-RateLimit-Limit\`, \`-Remaining\` and \`-Reset\` describe it. Beyond it the response is 429, and \`Retry-After\` says
when to repeat it.

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
