import { Type } from 'typebox'

/** How the audit log names who did something. `system:` is the service itself: it switches failing rules off, and rolls back. */
export const actorForms =
  '`user:<sub>`, `api_key:<id>`, `embed:<id>` (a user of an embed session), `operator_key:<id>` (it has created the workspace), `cli:<system user>`, `link` (somebody with the link of a decision), `system:auto-pause` or `system:guard`'

/** Everything that the audit log may contain. */
export const AuditAction = Type.Enum(
  [
    'workspace.created',
    'workspace.updated',
    'workspace.suspended',
    'workspace.resumed',
    'workspace.deletion_asked',
    'workspace.deletion_undone',
    'member.added',
    'member.changed',
    'member.removed',
    'invitation.created',
    'invitation.accepted',
    'invitation.revoked',
    'embed_session.created',
    'embed_session.ended',
    'token.minted',
    'api_key.created',
    'api_key.revoked',
    'signing_secret.created',
    'signing_secret.updated',
    'signing_secret.retired',
    'signing_secret.revoked',
    'credential.created',
    'credential.updated',
    'credential.deleted',
    'erasure.created',
    'rule.created',
    'rule.updated',
    'rule.deleted',
    'rule.activated',
    'rule.deactivated',
    'rule.cloned',
    'rule.restored',
    'rule.paused',
    'rule.promoted',
    'rule.rolled_back',
    'draft.saved',
    'draft.deleted',
    'guard.ended',
    'email_template.created',
    'email_template.updated',
    'email_template.deleted',
    'event_type.created',
    'event_type.updated',
    'event_type.deleted',
    'subscription.created',
    'subscription.updated',
    'subscription.deleted',
    'execution.retried',
    'execution.cancelled',
    'execution.decided',
    'event.replayed',
    'failures.acknowledged',
    'failures.unacknowledged',
  ],
  { title: 'AuditAction' },
)
export type AuditAction = Type.Static<typeof AuditAction>

/** An entry of the audit log, without its author. */
export interface NewAuditEntry {
  action: AuditAction
  subject: string
  details?: object
  /** It only switches something off, so it is always allowed. */
  isSwitchOff?: boolean
}
