import { Redis } from 'ioredis'
import pg from 'pg'
import { receiveWebhooks } from './receive-webhooks.js'

// A yardstick for the acceptance of webhooks: a plain service that takes an afternoon to write, on the same Postgres and
// Redis. It is neither slowed down nor tuned: each webhook is a statement and a commit of its own.
const { DATABASE_URL, REDIS_URL = '', SIGNING_KEY = '' } = process.env

const pool = new pg.Pool({ connectionString: DATABASE_URL, max: 10 })
await pool.query(`CREATE TABLE yardstick_plain (
  id text PRIMARY KEY, provider text, workspace_id uuid, payload jsonb, received_at timestamptz DEFAULT now())`)

await receiveWebhooks(SIGNING_KEY, new Redis(REDIS_URL), ({ id, provider, workspace_id, payload }) =>
  pool.query('INSERT INTO yardstick_plain (id, provider, workspace_id, payload) VALUES ($1, $2, $3, $4)', [
    id,
    provider,
    workspace_id,
    payload,
  ]),
)
