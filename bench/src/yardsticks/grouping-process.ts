import { createBatcher, openDatabase } from '@automation/database'
import { Redis } from 'ioredis'
import { receiveWebhooks, type Webhook } from './receive-webhooks.js'

// The plain service with the tuning of the product: webhooks of the same moment share a statement and a commit, the statement
// is prepared, the payload is json instead of jsonb, and commands to Redis of the same moment share a write.
const { DATABASE_URL = '', REDIS_URL = '', SIGNING_KEY = '' } = process.env

const database = openDatabase(DATABASE_URL, 10)
await database.run(
  'grouping_table',
  `CREATE TABLE yardstick_grouping (
     id text PRIMARY KEY, provider text, workspace_id uuid, payload json, received_at timestamptz DEFAULT now())`,
  [],
)
const insert = createBatcher(async (webhooks: Webhook[]) => {
  const rows = webhooks.map(({ payload, ...webhook }) => ({ ...webhook, payload: JSON.parse(payload) }))
  await database.run('grouping_insert', statement, [JSON.stringify(rows)])
  return webhooks.map(() => true)
})
const statement = `
  INSERT INTO yardstick_grouping (id, provider, workspace_id, payload)
  SELECT * FROM json_to_recordset($1::json) AS new (id text, provider text, workspace_id uuid, payload json)`

await receiveWebhooks(SIGNING_KEY, new Redis(REDIS_URL, { enableAutoPipelining: true }), insert)
