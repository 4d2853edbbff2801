import { readDuration } from '../../option-readers.js'
import { exampleId } from '../../program.js'
import { type Operation, row } from '../operation.js'

const expiry = {
  flag: 'expires-in <duration>',
  description: 'lifetime, such as 90d (default: the key never expires)',
  read: (text: string) => new Date(Date.now() + readDuration(text)).toISOString(),
}

export const workspaceOperations: readonly Operation[] = [
  row('keys list', 'GET /api/developer/v1/api-keys', {
    columns: ['id', 'name', 'scopes', 'state', 'expiresAt', 'lastUsedAt'],
  }),
  row('keys create', 'POST /api/developer/v1/api-keys', {
    example: '--name CI --scopes rules:write,receipts:read --expires-in 90d',
    options: { expiresAt: expiry },
    adds: 'Save the key now: it cannot be shown again, because only its SHA-256 hash is stored.',
  }),
  row('keys revoke', 'DELETE /api/developer/v1/api-keys/{id}', {
    description: 'Revoke a key permanently, after a confirmation. It is refused from the next request on.',
    asks: 'Revoke the API key {id} permanently?',
    says: 'The API key {id} is revoked.',
  }),
  row('secrets list', 'GET /api/developer/v1/signing-secrets', {
    example: '--provider billing',
    columns: ['id', 'direction', 'provider', 'scheme', 'state', 'createdAt', 'retiresAt', 'lastUsedAt'],
  }),
  row('secrets create', 'POST /api/developer/v1/signing-secrets', {
    example: '--provider billing',
    files: ['secret'],
    adds: 'Save the secret now: it cannot be shown again.',
  }),
  row('secrets set', 'PUT /api/developer/v1/signing-secrets/{id}', {
    description:
      'Store the text that the provider has made, or other settings of the scheme. The id stays, and the previous text is no longer valid.',
    example: `${exampleId} --secret-file stripe.txt`,
    files: ['secret'],
    says: 'The signing secret of {provider} is changed.',
  }),
  row('secrets retire', 'POST /api/developer/v1/signing-secrets/{id}/retire', {
    description:
      'Retire a secret: it stays valid for a while, until its sender uses the next one. Until then, another call sets a new end.',
    example: `${exampleId} --overlap 24h`,
    says: 'The signing secret of {provider} is valid until {retiresAt}.',
  }),
  row('secrets revoke', 'DELETE /api/developer/v1/signing-secrets/{id}', {
    description: 'Revoke a secret permanently, after a confirmation. It is invalid from the next webhook on.',
    asks: 'Revoke the signing secret {id} permanently?',
    says: 'The signing secret {id} is revoked.',
  }),
  row('credentials list', 'GET /api/developer/v1/credentials', {
    columns: ['name', 'kind', 'hosts', 'updatedAt', 'lastUsedAt'],
  }),
  row('credentials set', 'PUT /api/developer/v1/credentials/{name}', {
    example: 'CRM --hosts api.example.com --value-file token.txt',
    files: ['value', 'password', 'clientSecret'],
    says: 'Rules use the credential as {{credentials.{name}}}.',
  }),
  row('credentials update', 'PATCH /api/developer/v1/credentials/{name}', {
    example: 'CRM --value-file token.txt',
    files: ['value', 'password', 'clientSecret'],
  }),
  row('credentials delete', 'DELETE /api/developer/v1/credentials/{name}', {
    example: 'CRM',
    asks: 'Delete the credential {name} permanently?',
    says: 'The credential {name} is deleted.',
  }),
  row('subscriptions list', 'GET /api/developer/v1/subscriptions', {
    columns: ['id', 'url', 'eventTypes', 'isActive', 'description', 'createdAt'],
  }),
  row('subscriptions create', 'POST /api/developer/v1/subscriptions', {
    example: '--url https://example.com/hooks --events rule.paused,execution.failed',
    options: { eventTypes: 'events' },
    adds: 'Save the secret now: it cannot be shown again. The receiver verifies the signatures with it.',
  }),
  row('subscriptions update', 'PATCH /api/developer/v1/subscriptions/{id}', {
    example: `${exampleId} --no-active`,
    options: { eventTypes: 'events' },
  }),
  row('subscriptions test', 'POST /api/developer/v1/subscriptions/{id}/test', {
    says: 'The ping is queued. subscriptions deliveries {id} shows its result.',
  }),
  row('subscriptions deliveries', 'GET /api/developer/v1/subscriptions/{id}/deliveries', {
    columns: ['id', 'eventType', 'status', 'attempts', 'lastStatusCode', 'error', 'createdAt'],
  }),
  row('subscriptions delete', 'DELETE /api/developer/v1/subscriptions/{id}', {
    asks: 'Delete the subscription {id} permanently?',
    says: 'The subscription {id} is deleted.',
  }),
  row('members list', 'GET /api/developer/v1/members', {
    columns: ['userId', 'role', 'createdAt', 'lastSeenAt', 'endsAt', 'reason'],
  }),
  row('invitations list', 'GET /api/developer/v1/invitations', {
    columns: ['id', 'role', 'state', 'createdBy', 'expiresAt', 'acceptedBy'],
  }),
  row('invitations create', 'POST /api/developer/v1/invitations', {
    example: '--role editor',
    adds: 'Save the token now: it cannot be shown again. The link is <address of the console>/join#<token>.',
  }),
  row('invitations revoke', 'DELETE /api/developer/v1/invitations/{id}', {
    asks: 'Revoke the invitation {id}?',
    says: 'The invitation {id} is revoked.',
  }),
  row('invitations accept', 'POST /api/developer/v1/invitations/accept', {
    description: 'Become a member by an invitation. --dry-run says first what it is for.',
    example: '--token-file invitation.txt',
    files: ['token'],
  }),
  row('embed list', 'GET /api/developer/v1/embed-sessions', {
    columns: ['id', 'user', 'role', 'pages', 'createdBy', 'expiresAt'],
  }),
  row('embed create', 'POST /api/developer/v1/embed-sessions', {
    example: `--user '{"id":"42"}' --role editor --pages rules,executions`,
    adds: 'Use the url within five minutes: it works once.',
  }),
  row('embed end', 'DELETE /api/developer/v1/embed-sessions/{id}', {
    asks: 'End the embed session {id}?',
    says: 'The embed session {id} has ended.',
  }),
  row('embed end-user', 'DELETE /api/developer/v1/embed-sessions', {
    example: '--user-id 42',
    asks: 'End all embed sessions of the user {userId}?',
    says: '{ended} embed sessions have ended.',
  }),
  row('members set', 'PUT /api/developer/v1/members/{userId}', {
    example: 'grace --role editor',
    says: '{userId} has the role {role}.',
  }),
  row('members remove', 'DELETE /api/developer/v1/members/{userId}', {
    example: 'grace',
    asks: 'Remove the member {userId}?',
    says: '{userId} is no longer a member.',
  }),
  row('workspaces list', 'GET /api/developer/v1/workspaces', {
    columns: ['id', 'name', 'plan', 'createdAt'],
  }),
  row('workspaces create', 'POST /api/developer/v1/workspaces', { example: '--name Acme' }),
  row('workspaces update', 'PATCH /api/developer/v1/workspaces/{id}', {
    example: `${exampleId} --retention-days 90`,
    asks: 'Change the retention? Older history will be removed permanently.',
    asksAbout: 'retentionDays',
  }),
  row('workspaces suspend', 'PUT /api/developer/v1/workspaces/{id}/suspension', {
    asks: 'Suspend the workspace {id}? Nothing of it runs until it is resumed.',
    says: 'The workspace {name} is suspended.',
  }),
  row('workspaces resume', 'DELETE /api/developer/v1/workspaces/{id}/suspension', {
    says: 'The workspace {name} is not suspended.',
  }),
  row('workspaces delete', 'PUT /api/developer/v1/workspaces/{id}/deletion', {
    example: `${exampleId} --name Acme`,
    asks: 'Delete the workspace {id} with all that it has?',
    says: 'The workspace {name} is suspended, and is deleted at {deletesAt}. Until then workspaces keep undoes that.',
  }),
  row('workspaces keep', 'DELETE /api/developer/v1/workspaces/{id}/deletion', {
    says: 'The workspace {name} is not deleted.',
  }),
  row('erasures list', 'GET /api/developer/v1/erasures', {
    columns: ['id', 'path', 'status', 'erased', 'unfinished', 'createdBy', 'createdAt', 'finishedAt'],
  }),
  row('erasures get', 'GET /api/developer/v1/erasures/{id}'),
  row('erasures create', 'POST /api/developer/v1/erasures', {
    description:
      'Erase a value of a person from events and what was made of them: without --no-dry-run it only counts. The value is read from a file, so that no shell keeps it.',
    example: '--path contact.email --value-file ada.txt',
    files: ['value'],
    asks: 'Erase the value at {path} permanently?',
    asksAbout: 'dryRun',
  }),
  row('audit list', 'GET /api/developer/v1/audit-log', {
    columns: ['at', 'actor', 'action', 'subject', 'details'],
  }),
  row('audit ledger', 'GET /api/developer/v1/ledger', {
    description: 'Reconcile receipts, events, executions, effects and counters: is everything accounted for?',
  }),
  row('vocabulary', 'GET /api/vocabulary'),
  row('me', 'GET /api/me'),
]
