import { createBatcher, newId, openDatabase } from '@automation/database'
import jwt from '@fastify/jwt'
import Fastify from 'fastify'

// A yardstick for the acceptance of events: a bare route that verifies the token and inserts a row, together with other
// requests of the same moment, before it responds. It has no workspaces, roles, limits or event types, and runs nothing.
const { DATABASE_URL = '', JWT_SECRET = '', JWT_ISSUER = '', JWT_AUDIENCE = '' } = process.env

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
await app.register(jwt, {
  secret: JWT_SECRET,
  verify: { allowedIss: JWT_ISSUER, allowedAud: JWT_AUDIENCE, algorithms: ['HS256'] },
})

app.post<{ Params: { eventType: string }; Body: { data: object } }>(
  '/api/automation-rules/trigger/:eventType',
  { onRequest: (request) => request.jwtVerify() },
  async ({ params, headers, body }, reply) => {
    const id = newId()
    await insert({ id, workspace_id: headers['x-workspace-id'], type: params.eventType, data: body.data })
    return reply.code(202).send({ id, status: 'accepted' })
  },
)

const stop = () => process.exit()
process.on('SIGTERM', stop)
process.on('disconnect', stop)
const { port } = new URL(await app.listen({ host: '127.0.0.1', port: 0 }))
process.send?.({ ready: true, port: Number(port) })
