import { idRangeOf, type Statements, writeJson } from '@automation/database'
import type { Outcome } from '../outcomes/finish-events.js'

export interface Replacement {
  id: string
  /** The execution that takes its place. */
  by: string
}

/** The step that ends one in progress keeps the error (record-steps.ts). $1 replacements · $2 and $3 the lowest and the highest id */
const replaceExecutionsSql = `
  UPDATE executions SET
    cancel_requested = true,
    status = CASE WHEN lease IS NULL THEN 'cancelled' ELSE status END,
    error = 'A newer event of its key replaced it, with execution ' || replacements.by,
    finished_at = CASE WHEN lease IS NULL THEN now() END,
    due_at = CASE WHEN lease IS NOT NULL THEN due_at END
  FROM json_to_recordset($1::json) AS replacements (id uuid, by uuid)
  WHERE executions.id = replacements.id AND executions.id = ANY (ARRAY(SELECT id FROM json_to_recordset($1::json) AS ids (id uuid)))
    AND executions.id >= $2::uuid AND executions.id <= $3::uuid AND due_at IS NOT NULL AND cancel_requested IS NULL`

/** Ends executions that wait, and marks those that are in progress: they end after their present action. Also those of this commit. */
export async function replaceExecutions(
  statements: Statements,
  replacements: readonly Replacement[],
): Promise<void> {
  if (replacements.length === 0) return
  const first = new Map(replacements.toReversed().map((replacement) => [replacement.id, replacement]))
  await statements.run('replace_executions', replaceExecutionsSql, [
    writeJson([...first.values()]),
    ...idRangeOf([...first.keys()]),
  ])
}

/** In the order of finish-events.ts, which may lock them again: the holder of an execution may wait for its rule. $1 rules and subscriptions */
const lockHandlersSql = `
  SELECT 1 FROM (SELECT id FROM rules WHERE id = ANY ($1::uuid[]) ORDER BY id FOR NO KEY UPDATE) AS locked_rules
  UNION ALL
  SELECT 1 FROM (SELECT id FROM subscriptions WHERE id = ANY ($1::uuid[]) ORDER BY id FOR NO KEY UPDATE) AS locked_subscriptions`

/** $1 ids of keys */
const lockPlacedSql = `
  SELECT FROM executions
  WHERE id = ANY (ARRAY(SELECT execution_id FROM key_claims WHERE key_id = ANY ($1::uuid[]) AND place IN ('holds', 'queued')))
    AND due_at IS NOT NULL
  ORDER BY id FOR NO KEY UPDATE`

/** What is replaced must not be claimed meanwhile. @param outcomes all of the commit */
export async function lockReplaceable(
  statements: Statements,
  keys: readonly { keyId: string }[],
  outcomes: readonly Outcome[],
): Promise<void> {
  const handlers = outcomes.flatMap(({ executions }) => executions.map(({ record }) => record.handlerId))
  await statements.run('lock_handlers', lockHandlersSql, [handlers])
  await statements.run('lock_placed', lockPlacedSql, [keys.map(({ keyId }) => keyId)])
}
