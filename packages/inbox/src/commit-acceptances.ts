import type { Database } from '@automation/database'

/** An event about to be accepted; `id` is a new UUID v7. */
export interface NewEvent {
  id: string
  workspaceId: string
  /** From the catalogue of event types. */
  type: string
  data: object
  /** Set where one rule is executed by hand. */
  ruleId: string | null
  /** The event that it replays. */
  replayOf?: string
}

/** A webhook about to be accepted. Workspace, provider and key say which one it is, however often it is delivered. */
export interface NewReceipt {
  /** A new UUID v7. */
  id: string
  workspaceId: string
  provider: string
  /** The event's id at the provider. */
  key: string
  /** SHA-256 of the raw body, as hex. */
  bodyHash: string
  secretId: string
}

/** What is accepted as one or not at all: events, and the receipt where they came by a webhook. */
export interface Acceptance {
  events: NewEvent[]
  receipt?: NewReceipt
}

/**
 * Commits events and receipts of many callers, of any workspaces, in one statement. When it returns, they are accepted:
 * whatever happens to Redis or to this process, each event will run. A webhook that was accepted before, here or by
 * another process at the same moment, adds neither receipt nor events: the table's unique key decides.
 *
 * @returns for each acceptance whether it was made now, false for a webhook that was known
 */
export async function commitAcceptances(database: Database, acceptances: Acceptance[]): Promise<boolean[]> {
  const receipts = acceptances.flatMap(({ receipt, events }) =>
    receipt ? [receiptRow(receipt, events)] : [],
  )
  // Two processes that insert the same keys in different orders would wait for each other for ever.
  receipts.sort((left, right) => (identityOf(left) < identityOf(right) ? -1 : 1))
  const events = acceptances.flatMap(({ receipt, events }) =>
    events.map((event) => eventRow(event, receipt?.id ?? null)),
  )
  const inserted = await database.run<{ id: string }>('commit_acceptances', statement, [
    JSON.stringify(receipts),
    JSON.stringify(events),
  ])
  const first = new Set(inserted.map(({ id }) => id))
  return acceptances.map(({ receipt }) => receipt === undefined || first.has(receipt.id))
}

const statement = `
  WITH receipt AS (
    INSERT INTO webhook_receipts (id, workspace_id, provider, key, body_hash, secret_id, event_types, event_ids)
    SELECT new.*
    FROM json_to_recordset($1::json) AS new (
      id uuid, workspace_id uuid, provider text, key text, body_hash bytea, secret_id uuid,
      event_types text[], event_ids uuid[])
    ON CONFLICT (workspace_id, provider, key) DO NOTHING
    RETURNING id
  ), event AS (
    INSERT INTO events (id, workspace_id, type, data, rule_id, replay_of, rule_ids)
    SELECT new.id, new.workspace_id, new.type, new.data, new.rule_id, new.replay_of, '{}'
    FROM json_to_recordset($2::json) AS new (
      id uuid, workspace_id uuid, type text, data json, rule_id uuid, replay_of uuid, receipt_id uuid)
    WHERE new.receipt_id IS NULL OR new.receipt_id IN (SELECT id FROM receipt)
  )
  SELECT id FROM receipt`

type ReceiptRow = ReturnType<typeof receiptRow>

function receiptRow({ id, workspaceId, provider, key, bodyHash, secretId }: NewReceipt, events: NewEvent[]) {
  return {
    id,
    workspace_id: workspaceId,
    provider,
    key,
    body_hash: `\\x${bodyHash}`,
    secret_id: secretId,
    event_types: events.map((event) => event.type),
    event_ids: events.map((event) => event.id),
  }
}

/** None of the three holds a slash. */
function identityOf({ workspace_id, provider, key }: ReceiptRow): string {
  return `${workspace_id}/${provider}/${key}`
}

function eventRow({ id, workspaceId, type, data, ruleId, replayOf }: NewEvent, receiptId: string | null) {
  return {
    id,
    workspace_id: workspaceId,
    type,
    data,
    rule_id: ruleId,
    replay_of: replayOf,
    receipt_id: receiptId,
  }
}
