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
  /** Where it is traced: the place from which its run goes on. It travels with the job, and is stored nowhere. */
  traceparent?: string
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

/** An event, and the job that is to carry it; null where that has the event's own id. */
export interface CarriedEvent {
  event: NewEvent
  jobId: string | null
}

/** What is accepted as one or not at all: events, and the receipt where they came by a webhook. */
export interface Acceptance {
  carried: CarriedEvent[]
  receipt: NewReceipt | undefined
}

/**
 * Commits events and receipts of many callers, of any workspaces, in one statement. When it returns, they are accepted:
 * whatever happens to Redis or to this process, each event will run. A webhook that was accepted before, here or by
 * another process at the same moment, adds neither receipt nor events: the table's unique key decides.
 *
 * @returns for each acceptance whether it was made now, false for a webhook that was known
 */
export async function commitAcceptances(database: Database, acceptances: Acceptance[]): Promise<boolean[]> {
  const receipts = acceptances.flatMap(({ receipt, carried }) =>
    receipt ? [receiptRow(receipt, carried)] : [],
  )
  // Two processes that insert the same keys in different orders would wait for each other for ever.
  receipts.sort((left, right) => (identityOf(left) < identityOf(right) ? -1 : 1))
  const events = acceptances.flatMap(({ receipt, carried }) =>
    carried.map((event) => eventRow(event, receipt?.id ?? null)),
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
    INSERT INTO events (id, workspace_id, type, data, rule_id, replay_of, job_id)
    SELECT new.id, new.workspace_id, new.type, new.data, new.rule_id, new.replay_of, new.job_id
    FROM json_to_recordset($2::json) AS new (
      id uuid, workspace_id uuid, type text, data json, rule_id uuid, replay_of uuid, job_id uuid, receipt_id uuid)
    WHERE new.receipt_id IS NULL OR new.receipt_id IN (SELECT id FROM receipt)
  )
  SELECT id FROM receipt`

type ReceiptRow = ReturnType<typeof receiptRow>

function receiptRow(
  { id, workspaceId, provider, key, bodyHash, secretId }: NewReceipt,
  carried: CarriedEvent[],
) {
  return {
    id,
    workspace_id: workspaceId,
    provider,
    key,
    body_hash: `\\x${bodyHash}`,
    secret_id: secretId,
    event_types: carried.map(({ event }) => event.type),
    event_ids: carried.map(({ event }) => event.id),
  }
}

/** None of the three holds a slash. */
function identityOf({ workspace_id, provider, key }: ReceiptRow): string {
  return `${workspace_id}/${provider}/${key}`
}

function eventRow({ event, jobId }: CarriedEvent, receiptId: string | null) {
  const { id, workspaceId, type, data, ruleId, replayOf } = event
  return {
    id,
    workspace_id: workspaceId,
    type,
    data,
    rule_id: ruleId,
    replay_of: replayOf,
    job_id: jobId,
    receipt_id: receiptId,
  }
}
