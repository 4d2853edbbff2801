import { createServer } from 'node:http'
import type pg from 'pg'
import { insertEvents } from '../stored/insert-events.js'
import { insertHistory, prepareHistory } from '../stored/insert-history.js'
import { insertWaiting } from '../stored/insert-waiting.js'
import type { Rule, Workspace } from '../workspace.js'
import type { Attack } from './attack.js'
import { type Attacker, prepareBy, rulesPath, task } from './attacker.js'

const mailingRule: Rule = {
  name: 'Mail',
  trigger: 'CONTACT_CREATED',
  conditions: [],
  actions: [{ type: 'SEND_EMAIL', config: { to: 'ada@example.com', subject: 'Welcome', template: 'Hello' } }],
}
const pausingRule: Rule = {
  name: 'Pause',
  trigger: 'CONTACT_CREATED',
  conditions: [],
  actions: [{ type: 'WAIT', config: { duration: '10s' } }, task],
}
const workspacesOfUser = 10
const eventsOfBatch = 50

/** Attacks that need what a workspace has gathered before, or a server outside. */
export const storedAttacks: Attack[] = [
  {
    name: 'tasks of a rule that has none, of 800,000',
    rules: ['Busy', 'Rare'].map((name) => ({
      name,
      trigger: 'LEAD_ASSIGNED',
      conditions: [],
      actions: [task],
    })),
    async prepare({ id }, { database, postgres }) {
      const busy = await database.forWorkspace(id).rule.findFirstOrThrow({ where: { name: 'Busy' } })
      await insertTasks(postgres, id, busy.id)
    },
    async begin(workspace) {
      const rare = (await listRules(workspace)).find(({ name }) => name === 'Rare')
      return (attacker) =>
        attacker.repeat(20, () => attacker.send('GET', `/api/tasks?limit=50&ruleId=${rare?.id}`))
    },
  },
  {
    name: 'replays of 200,000 stored events',
    rules: [{ name: 'Replayed', trigger: 'DEAL_WON', conditions: [], actions: [task] }],
    prepare: ({ id }, { postgres }) => insertEvents(postgres, id, { events: 200_000, every: 200_000 }),
    begin: async () => {
      const body = { filter: { eventType: 'DEAL_WON' }, dryRun: false }
      return (attacker) => attacker.repeat(50, () => attacker.post('/api/events/replay', body))
    },
  },
  {
    name: 'audits of 400,000 stored events',
    rules: [{ name: 'Audited', trigger: 'LEAD_CREATED', conditions: [], actions: [task] }],
    async prepare(workspace, { postgres }) {
      const history = await prepareHistory(postgres, [workspace], { events: 400_000, days: 30 })
      await insertHistory(postgres, history)
      // Autovacuum would do the same later.
      await postgres.query('VACUUM (ANALYZE) events, executions, tasks')
      await postgres.query('CHECKPOINT')
    },
    begin: async () => {
      const from = new Date(Date.now() - 30 * 24 * 60 * 60 * 1_000).toISOString()
      const path = `/api/developer/v1/ledger?from=${from}`
      return (attacker) => attacker.repeat(50, () => attacker.send('GET', path))
    },
  },
  {
    name: '500 mails of ten workspaces of one user to a mute server',
    rules: [mailingRule],
    outside: {
      server: createMuteMailServer,
      settingsFor: (port) => ({ SMTP_URL: `smtp://127.0.0.1:${port}`, OUTBOUND_ALLOW: '127.0.0.0/8' }),
    },
    quietRules: (port) => [
      {
        name: 'Webhook',
        trigger: 'LEAD_CREATED',
        conditions: [],
        actions: [{ type: 'SEND_WEBHOOK', config: { url: `http://127.0.0.1:${port}/` } }],
      },
    ],
    async begin(workspace) {
      const workspaces = await createOthers(workspace, mailingRule)
      return async (attacker) => {
        await postBatches(attacker, workspaces)
        await attacker.wait()
      }
    },
  },
  {
    name: '1,000 pauses of ten workspaces of one user that end together',
    rules: [pausingRule],
    async begin(workspace) {
      const workspaces = await createOthers(workspace, pausingRule)
      return async (attacker) => {
        for (let round = 0; round < 2; round++) await postBatches(attacker, workspaces)
        await attacker.wait()
      }
    },
  },
  {
    name: 'a rule with 240,000 waiting executions, switched off and on',
    rules: [
      {
        name: 'Waiting',
        trigger: 'LEAD_ASSIGNED',
        conditions: [],
        actions: [{ type: 'WAIT', config: { duration: '1d' } }],
      },
    ],
    async prepare({ id }, { database, postgres }) {
      const { id: ruleId } = await database.forWorkspace(id).rule.findFirstOrThrow()
      await insertWaiting(postgres, { workspaceId: id, ruleId, count: 240_000 })
    },
    async begin(workspace) {
      const [rule] = await listRules(workspace)
      return (attacker) =>
        attacker.repeat(500, () => attacker.send('PATCH', `${rulesPath}/${rule?.id}/toggle`))
    },
  },
]

/** It waits for the first words of a client, as an SMTP client does for those of a server. It responds to HTTP at once. */
function createMuteMailServer() {
  const server = createServer((request, response) => {
    request.resume()
    response.writeHead(204).end()
  })
  return Object.assign(server, { headersTimeout: 0, requestTimeout: 0 })
}

/** @returns the workspace, and others that the same user creates, each with the same rule */
async function createOthers(workspace: Workspace, rule: Rule): Promise<Workspace[]> {
  const workspaces = [workspace]
  while (workspaces.length < workspacesOfUser) {
    const { id } = await prepareBy<{ id: string }>(workspace, '/api/developer/v1/workspaces', {
      name: `Other ${workspaces.length}`,
    })
    const other = { ...workspace, id, headers: { ...workspace.headers, 'x-workspace-id': id } }
    await prepareBy(other, rulesPath, rule)
    workspaces.push(other)
  }
  return workspaces
}

async function postBatches(attacker: Attacker, workspaces: Workspace[]): Promise<void> {
  const events = Array.from({ length: eventsOfBatch }, () => ({ data: {} }))
  for (const one of workspaces)
    await attacker.in(one).post(`${rulesPath}/trigger/CONTACT_CREATED/batch`, { events })
}

async function listRules(workspace: Workspace): Promise<{ id: string; name: string }[]> {
  const { rules } = await prepareBy<{ rules: { id: string; name: string }[] }>(workspace, rulesPath)
  return rules
}

/** Tasks of one rule, of executions that retention has removed. */
async function insertTasks(postgres: pg.Client, workspaceId: string, ruleId: string): Promise<void> {
  await postgres.query(
    `INSERT INTO tasks (id, workspace_id, execution_id, action_index, rule_id, title, priority, created_at)
     SELECT gen_random_uuid(), $1::uuid, gen_random_uuid(), 0, $2::uuid, 'Task', 'normal', now()
     FROM generate_series(1, 800000)`,
    [workspaceId, ruleId],
  )
  await postgres.query('VACUUM ANALYZE tasks')
  await postgres.query('CHECKPOINT')
}
