import type { Inputs } from '../operation.js'
import type { RequestOptions, Sender } from '../send.js'
import { ApiKeys } from './api-keys.js'
import { AuditLog } from './audit-log.js'
import { Credentials } from './credentials.js'
import { EmbedSessions } from './embed-sessions.js'
import { Erasures } from './erasures.js'
import { Invitations } from './invitations.js'
import { Members } from './members.js'
import { Receipts } from './receipts.js'
import { SigningSecrets } from './signing-secrets.js'
import { Subscriptions } from './subscriptions.js'
import { Workspaces } from './workspaces.js'

type LedgerQuery = NonNullable<Inputs<'GET /api/developer/v1/ledger'>['query']>

/** Members, keys, secrets, receipts and subscriptions, mostly for admins. */
export class Developer {
  readonly receipts: Receipts
  readonly apiKeys: ApiKeys
  readonly signingSecrets: SigningSecrets
  readonly credentials: Credentials
  readonly subscriptions: Subscriptions
  readonly members: Members
  readonly invitations: Invitations
  readonly embedSessions: EmbedSessions
  readonly workspaces: Workspaces
  readonly erasures: Erasures
  readonly auditLog: AuditLog
  readonly #sender: Sender

  constructor(sender: Sender) {
    this.receipts = new Receipts(sender)
    this.apiKeys = new ApiKeys(sender)
    this.signingSecrets = new SigningSecrets(sender)
    this.credentials = new Credentials(sender)
    this.subscriptions = new Subscriptions(sender)
    this.members = new Members(sender)
    this.invitations = new Invitations(sender)
    this.embedSessions = new EmbedSessions(sender)
    this.workspaces = new Workspaces(sender)
    this.erasures = new Erasures(sender)
    this.auditLog = new AuditLog(sender)
    this.#sender = sender
  }

  /** Reconciles receipts, events, executions, effects and counters. `imbalance` has to be 0. */
  ledger(query: LedgerQuery = {}, options?: RequestOptions) {
    return this.#sender.ask('GET /api/developer/v1/ledger', { query }, options)
  }
}
