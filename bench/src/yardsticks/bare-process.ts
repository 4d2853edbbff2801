import { createBatcher, newId, openDatabase } from '@automation/database'
import Fastify from 'fastify'
import { cacheTokens } from './cache-tokens.js'
import { serve } from './serve.js'

// A yardstick for the acceptance of events: a bare route that verifies the token, caches it as the product does, and inserts a row, together with other
// requests of the same moment, before it responds. It has no workspaces, roles, limits or event types, and runs nothing.
const { DATABASE_URL = '' } = process.env

const database = openDatabase(DATABASE_URL, 10)
await database.run(
  'bare_table',
  `CREATE TABLE yardstick_events (
     id uuid PRIMARY KEY, workspace_id text, type text, data json, accepted_at timestamptz DEFAULT now())`,
  [],
)
const insert = createBatcher(async (rows: object[]) => {
  await database.run('bare_insert', statement, [JSON.stringify(rows)])
  return rows.map(() => true)
})
const statement = `
  INSERT INTO yardstick_events (id, workspace_id, type, data)
  SELECT * FROM json_to_recordset($1::json) AS new (id uuid, workspace_id text, type text, data json)`

const app = Fastify({ logger: false })
const verifyToken = await cacheTokens(app, process.env)

app.post<{ Params: { eventType: string }; Body: { data: object } }>(
  '/api/automation-rules/trigger/:eventType',
  { onRequest: async ({ headers }) => void verifyToken(headers.authorization) },
  async ({ params, headers, body }, reply) => {
    const id = newId()
    await insert({ id, workspace_id: headers['x-workspace-id'], type: params.eventType, data: body.data })
    return reply.code(202).send({ id, status: 'accepted' })
  },
)

await serve(app)
