import { listOperations, type OpenApi, type Schema, schemaOf } from './document.js'

/**
 * What the nouns of the document are called, and where one of each is found: the operation, `body` or a status, and the
 * way inwards. Whatever has the same shape elsewhere has the same name.
 */
const places = {
  EventType: 'GET /api/automation-rules/{id} 200 trigger',
  RetryPolicy: 'GET /api/automation-rules/{id} 200 actions[].retry',
  Action: 'GET /api/automation-rules/{id} 200 actions[]',
  Rule: 'GET /api/automation-rules/{id} 200',
  RulePage: 'GET /api/automation-rules 200',
  RuleToCreate: 'POST /api/automation-rules body',
  RuleToUpdate: 'PUT /api/automation-rules/{id} body',
  RuleActivity: 'PATCH /api/automation-rules/{id}/toggle 200',
  RuleVersion: 'GET /api/automation-rules/{id}/versions/{version} 200',
  RuleVersionPage: 'GET /api/automation-rules/{id}/versions 200',
  RuleHealth: 'GET /api/automation-rules/health 200',
  AttentionItem: 'GET /api/automation-rules/attention 200 rules[]',
  AttentionList: 'GET /api/automation-rules/attention 200',

  Accepted: 'POST /api/automation-rules/{id}/execute 202',
  Attempt: 'POST /api/automation-rules/{id}/execute 200 results[].attempts[]',
  ActionResult: 'POST /api/automation-rules/{id}/execute 200 results[]',
  Trace: 'POST /api/automation-rules/{id}/execute 200 trace',
  ExecutionResult: 'POST /api/automation-rules/{id}/execute 200',
  RuleResult: 'POST /api/automation-rules/trigger/{eventType} 200 results[]',
  TriggerResult: 'POST /api/automation-rules/trigger/{eventType} 200',
  BatchEvent: 'POST /api/automation-rules/trigger/{eventType}/batch body events[]',
  BatchResult: 'POST /api/automation-rules/trigger/{eventType}/batch 202 results[]',
  BatchAnswer: 'POST /api/automation-rules/trigger/{eventType}/batch 202',

  EventSummary: 'GET /api/events 200 events[]',
  EventPage: 'GET /api/events 200',
  Event: 'GET /api/events/{id} 200',
  EventFilter: 'POST /api/events/replay body filter',
  EventsToReplay: 'POST /api/events/replay body',
  Matched: 'POST /api/events/replay 200',
  EventsReplayed: 'POST /api/events/replay 202',
  ExecutionSummary: 'GET /api/executions 200 executions[]',
  ExecutionPage: 'GET /api/executions 200',
  Execution: 'GET /api/executions/{id} 200',
  ExecutionFilter: 'POST /api/executions/retry body filter',
  ExecutionsToRetry: 'POST /api/executions/retry body',
  ExecutionsRetried: 'POST /api/executions/retry 202',
  Task: 'GET /api/tasks 200 tasks[]',
  TaskPage: 'GET /api/tasks 200',

  EmailTemplateSummary: 'GET /api/email-templates 200 emailTemplates[]',
  EmailTemplatePage: 'GET /api/email-templates 200',
  EmailTemplate: 'GET /api/email-templates/{id} 200',
  EmailTemplateToCreate: 'POST /api/email-templates body',
  EmailTemplateToUpdate: 'PUT /api/email-templates/{id} body',
  MailToPreview: 'POST /api/email-templates/{id}/preview body',
  PreviewedMail: 'POST /api/email-templates/{id}/preview 200',

  Delivered: 'POST /api/incoming-webhooks/{provider}/{workspaceId} 202',
  Finding: 'GET /api/developer/v1/webhook-receipts 200 data[].findings[]',
  Receipt: 'GET /api/developer/v1/webhook-receipts 200 data[]',
  ReceiptPage: 'GET /api/developer/v1/webhook-receipts 200',

  Scope: 'GET /api/developer/v1/api-keys 200 data[].scopes[]',
  ApiKey: 'GET /api/developer/v1/api-keys 200 data[]',
  ApiKeyList: 'GET /api/developer/v1/api-keys 200',
  ApiKeyToCreate: 'POST /api/developer/v1/api-keys body',
  NewApiKey: 'POST /api/developer/v1/api-keys 201',
  SigningSecret: 'GET /api/developer/v1/signing-secrets 200 data[]',
  SigningSecretList: 'GET /api/developer/v1/signing-secrets 200',
  SigningSecretToCreate: 'POST /api/developer/v1/signing-secrets body',
  NewSigningSecret: 'POST /api/developer/v1/signing-secrets 201',
  Subscription: 'GET /api/developer/v1/subscriptions/{id} 200',
  SubscriptionList: 'GET /api/developer/v1/subscriptions 200',
  SubscriptionToCreate: 'POST /api/developer/v1/subscriptions body',
  SubscriptionToUpdate: 'PATCH /api/developer/v1/subscriptions/{id} body',
  NewSubscription: 'POST /api/developer/v1/subscriptions 201',
  SubscriptionDelivery: 'GET /api/developer/v1/subscriptions/{id}/deliveries 200 data[]',
  SubscriptionDeliveryPage: 'GET /api/developer/v1/subscriptions/{id}/deliveries 200',
  Role: 'GET /api/developer/v1/members 200 data[].role',
  Member: 'GET /api/developer/v1/members 200 data[]',
  MemberList: 'GET /api/developer/v1/members 200',
  Workspace: 'GET /api/developer/v1/workspaces/{id} 200',
  WorkspaceList: 'GET /api/developer/v1/workspaces 200',
  WorkspaceToCreate: 'POST /api/developer/v1/workspaces body',
  WorkspaceToUpdate: 'PATCH /api/developer/v1/workspaces/{id} body',
  AuditEntry: 'GET /api/developer/v1/audit-log 200 data[]',
  AuditLogPage: 'GET /api/developer/v1/audit-log 200',
  LedgerFault: 'GET /api/developer/v1/ledger 200 faults[]',
  Ledger: 'GET /api/developer/v1/ledger 200',
  Readiness: 'GET /readyz 200',
}

/** @throws Error where the document has no such place any more */
export function findNouns(document: OpenApi): Map<string, Schema> {
  const operations = new Map(listOperations(document))
  const found = Object.entries(places).map(([name, place]): [string, Schema] => {
    const [method, path, part = '', inwards] = place.split(' ')
    const operation = operations.get(`${method} ${path}`)
    const content = part === 'body' ? operation?.requestBody : operation?.responses[part]
    const schema = follow(content && schemaOf(content), inwards)
    if (schema === undefined) throw new Error(`nouns.ts: nothing is at ${place}`)
    return [name, schema]
  })
  return new Map([...Object.entries(document.components.schemas), ...found])
}

function follow(schema: Schema | undefined, inwards: string | undefined): Schema | undefined {
  return (inwards?.match(/\w+|\[\]/g) ?? []).reduce<Schema | undefined>((outer, step) => {
    if (step === '[]') return outer?.items
    return (outer?.oneOf?.[0]?.properties?.[step] || outer?.properties?.[step]) as Schema | undefined
  }, schema)
}
