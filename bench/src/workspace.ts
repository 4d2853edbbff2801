import { setTimeout as delay } from 'node:timers/promises'
import { createWorkspace as addWorkspace, mintToken } from '@automation/access'
import { type Database, newId } from '@automation/database'
import type { Product } from '@automation/launcher'

/** The destination and the credentials of one scenario's requests. */
export interface Workspace {
  id: string
  baseUrl: string
  headers: Record<string, string>
}

/** A body of `POST /api/automation-rules`. */
export interface Rule {
  name: string
  trigger: string
  conditions: Clause[]
  actions: object[]
  perKey?: object
  /** A rule that does nothing. */
  mode?: 'shadow'
}

/** One rule, which matches every event. */
export const oneTask: Rule[] = [
  {
    name: 'Task',
    trigger: 'LEAD_CREATED',
    conditions: [],
    actions: [{ type: 'CREATE_TASK', config: { title: 'Call {{name}}' } }],
  },
]

export interface Clause {
  field: string
  operator: string
  value: unknown
}

/** The actor in the audit log. */
export const actor = 'cli:bench'

const tokenLifetimeSeconds = 24 * 60 * 60
const creationsAtOnce = 10

/** Creates a workspace with one member, and its rules through the API. */
export async function createWorkspace(
  database: Database,
  { apis, jwtSecret }: Product,
  { name, rules }: { name: string; rules: Rule[] },
): Promise<Workspace> {
  const userId = `bench-${newId()}`
  const { id } = await addWorkspace({ database, actor }, { name, adminUserId: userId })
  const token = await mintToken({ secret: jwtSecret, userId, expiresInSeconds: tokenLifetimeSeconds })
  const workspace = {
    id,
    baseUrl: apis[0]?.baseUrl ?? '',
    headers: {
      authorization: `Bearer ${token}`,
      'x-workspace-id': id,
      'content-type': 'application/json',
    },
  }
  for (let start = 0; start < rules.length; start += creationsAtOnce) {
    const some = rules.slice(start, start + creationsAtOnce)
    await Promise.all(some.map((rule) => createRule(workspace, rule)))
  }
  return workspace
}

/** Creates workspaces with the same rules. */
export async function createWorkspaces(
  database: Database,
  product: Product,
  count: number,
  rules: Rule[],
): Promise<Workspace[]> {
  const workspaces: Workspace[] = []
  for (let number = 0; number < count; number++)
    workspaces.push(await createWorkspace(database, product, { name: `Workspace ${number}`, rules }))
  return workspaces
}

function createRule({ baseUrl, headers }: Workspace, rule: Rule): Promise<void> {
  return send(`${baseUrl}/api/automation-rules`, {
    method: 'POST',
    headers: { ...headers, 'idempotency-key': newId() },
    body: JSON.stringify(rule),
  })
}

/** On a busy machine it may be refused for now: too many rules wait to be checked (429), or Postgres is too slow (503). */
async function send(url: string, request: RequestInit): Promise<void> {
  for (;;) {
    const response = await fetch(url, request)
    const text = await response.text()
    if (response.ok) return
    if (response.status !== 429 && response.status !== 503)
      throw new Error(`${request.method} ${url} got ${response.status} ${text}`)
    await delay(200)
  }
}

/** Saves a draft beside each live rule of a workspace. */
export async function saveDrafts(database: Database, { id, baseUrl, headers }: Workspace): Promise<void> {
  for (const { id: ruleId, name, trigger, actions } of await database.forWorkspace(id).rule.findMany({
    where: { mode: 'live' },
  })) {
    const path = `${baseUrl}/api/automation-rules/${ruleId}/draft`
    const body = JSON.stringify({ name, trigger, actions })
    await send(path, { method: 'PUT', headers, body })
  }
}
