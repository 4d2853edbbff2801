import { type Database, writeJson } from '@automation/database'
import type { Addressee } from '../addressee.js'

/** An event about to be accepted. */
export interface NewEvent {
  /** A new UUID v7. */
  id: string
  workspaceId: string
  /** From the catalogue of event types. */
  type: string
  data: object
  /** About the size of its data, as JSON; undefined for a small one. */
  bytes?: number
  /** null: all active rules of its type. */
  addressee: Addressee | null
  /** The event that it replays. */
  replayOf?: string
  /** The rules that it is replayed for: the others are left out. undefined: all. */
  chosenRuleIds?: string[]
  /** Who created its workspace: all workspaces of one creator have a common share of the queue. It is not stored with the event. */
  createdBy?: string | null
  /** The span that its run continues. It travels with the job and is not stored. */
  traceparent?: string
}

/** A webhook about to be accepted. Workspace, provider and key identify it, however often it is delivered. */
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
  /** Hex. Another delivery with it is the same webhook, whatever its key. */
  uniqueHash?: string | undefined
}

/** An event and the job that carries it; `jobId` is null where the job has the event's own id. */
export interface CarriedEvent {
  event: NewEvent
  jobId: string | null
}

/** What is accepted together or not at all: events, and the receipt where they came by a webhook. */
export interface Acceptance {
  carried: CarriedEvent[]
  receipt: NewReceipt | undefined
}

/** $1 events */
const acceptEventsSql = `
  INSERT INTO events (id, workspace_id, type, data, addressee_kind, addressee_id, replay_of, chosen_rule_ids, job_id)
  SELECT i.id, i.workspace_id, i.type, i.data, i.addressee_kind, i.addressee_id, i.replay_of, i.chosen_rule_ids, i.job_id
  FROM json_to_recordset($1::json) AS i (
    id uuid, workspace_id uuid, type text, data json, addressee_kind addressee_kind, addressee_id uuid, replay_of uuid, chosen_rule_ids uuid[], job_id uuid)`

/**
 * A webhook that was accepted before, here or by another process at the same moment, inserts neither receipt nor events: the
 * table's unique keys decide.
 *
 * $1 receipts · $2 events: those of webhooks, and others that are accepted with them
 */
const acceptWebhooksSql = `
  WITH inserted_receipts AS (
    INSERT INTO webhook_receipts (id, workspace_id, provider, key, body_hash, unique_hash, secret_id, event_types, event_ids)
    SELECT input_receipts.*
    FROM json_to_recordset($1::json) AS input_receipts (
      id uuid, workspace_id uuid, provider text, key text, body_hash bytea, unique_hash bytea, secret_id uuid,
      event_types text[], event_ids uuid[])
    ON CONFLICT DO NOTHING
    RETURNING id
  ),
  inserted_events AS (
    INSERT INTO events (id, workspace_id, type, data, addressee_kind, addressee_id, replay_of, chosen_rule_ids, job_id)
    SELECT i.id, i.workspace_id, i.type, i.data, i.addressee_kind, i.addressee_id, i.replay_of, i.chosen_rule_ids, i.job_id
    FROM json_to_recordset($2::json) AS i (
      id uuid, workspace_id uuid, type text, data json, addressee_kind addressee_kind, addressee_id uuid, replay_of uuid, chosen_rule_ids uuid[], job_id uuid,
      receipt_id uuid)
    WHERE i.receipt_id IS NULL OR i.receipt_id IN (SELECT id FROM inserted_receipts)
  )
  SELECT id FROM inserted_receipts`

/**
 * Accepts events and webhooks of many callers, of any workspaces, in one statement. When it returns, they are committed:
 * each event will run, even if Redis or this process dies.
 *
 * @returns for each acceptance whether it was made now; false for a webhook that was accepted before
 */
export async function acceptEvents(database: Database, acceptances: Acceptance[]): Promise<boolean[]> {
  const receipts = acceptances.flatMap(({ receipt, carried }) =>
    receipt ? [receiptRow(receipt, carried)] : [],
  )
  if (receipts.length === 0) {
    const events = acceptances.flatMap(({ carried }) => carried.map(eventRow))
    await database.run('accept_events', acceptEventsSql, [writeJson(events)])
    return acceptances.map(() => true)
  }
  // Two processes that insert the same keys in different orders would lock each other out.
  receipts.sort((left, right) => (identityOf(left) < identityOf(right) ? -1 : 1))
  const events = acceptances.flatMap(({ receipt, carried }) =>
    carried.map((event) => ({ ...eventRow(event), receipt_id: receipt?.id ?? null })),
  )
  const inserted = await database.run<{ id: string }>('accept_webhooks', acceptWebhooksSql, [
    writeJson(receipts),
    writeJson(events),
  ])
  const first = new Set(inserted.map(({ id }) => id))
  return acceptances.map(({ receipt }) => receipt === undefined || first.has(receipt.id))
}

/** A row of `events`, under the names of its columns. */
export function eventRow({ event, jobId }: CarriedEvent) {
  const { id, workspaceId, type, data, addressee, replayOf, chosenRuleIds } = event
  return {
    id,
    workspace_id: workspaceId,
    type,
    data,
    addressee_kind: addressee?.kind,
    addressee_id: addressee?.id,
    replay_of: replayOf,
    chosen_rule_ids: chosenRuleIds,
    job_id: jobId,
  }
}

type ReceiptRow = ReturnType<typeof receiptRow>

function receiptRow(
  { id, workspaceId, provider, key, bodyHash, uniqueHash, secretId }: NewReceipt,
  carried: CarriedEvent[],
) {
  return {
    id,
    workspace_id: workspaceId,
    provider,
    key,
    body_hash: `\\x${bodyHash}`,
    unique_hash: uniqueHash === undefined ? null : `\\x${uniqueHash}`,
    secret_id: secretId,
    event_types: carried.map(({ event }) => event.type),
    event_ids: carried.map(({ event }) => event.id),
  }
}

/** Where a replay has a new key, its hash is the one that stands in the way. None of the three holds a slash. */
function identityOf({ workspace_id, provider, key, unique_hash }: ReceiptRow): string {
  return `${workspace_id}/${provider}/${unique_hash ?? key}`
}
