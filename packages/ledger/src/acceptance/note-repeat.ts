import type { Database } from '@automation/database'

/** Of a webhook that was delivered again: by what it was recognized, and whether its body was another. */
export interface Repeat {
  receiptId: string
  foundBy: 'id' | 'body'
  bodyDiffers: boolean
}

/** $1 receipt · $2 by what · $3 whether the body differs. A repeat that says nothing new writes nothing. */
const noteRepeatSql = `
  UPDATE webhook_receipts
  SET repeated_by = $2::text, body_differs = body_differs OR $3::boolean
  WHERE id = $1::uuid AND (repeated_by IS DISTINCT FROM $2::text OR ($3::boolean AND NOT body_differs))`

export async function noteRepeat(
  database: Database,
  { receiptId, foundBy, bodyDiffers }: Repeat,
): Promise<void> {
  await database.run('note_repeat', noteRepeatSql, [receiptId, foundBy, bodyDiffers])
}
