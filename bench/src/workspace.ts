import { mintToken } from '@automation/administration'
import { type Database, newId } from '@automation/database'
import type { Product } from '@automation/launcher'
import type { Rule, Scenario } from './scenarios.js'

/** Where requests of one scenario go, and as whom. */
export interface Workspace {
  baseUrl: string
  headers: Record<string, string>
}

const tokenLifetimeSeconds = 24 * 60 * 60
const creationsAtOnce = 10

/** A workspace of its own with one member, and its rules, made through the API as a caller would. */
export async function createWorkspace(
  database: Database,
  { apis, jwtSecret }: Product,
  { name, rules }: Scenario,
): Promise<Workspace> {
  const id = newId()
  const userId = `bench-${id}`
  await database.system.workspace.create({ data: { id, name } })
  await database.system.member.create({ data: { workspaceId: id, userId, role: 'editor' } })
  const token = await mintToken({ secret: jwtSecret, userId, expiresInSeconds: tokenLifetimeSeconds })
  const workspace = {
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

async function createRule({ baseUrl, headers }: Workspace, rule: Rule): Promise<void> {
  const body = JSON.stringify(rule)
  const response = await fetch(`${baseUrl}/api/automation-rules`, { method: 'POST', headers, body })
  if (!response.ok) throw new Error(`A rule was refused: ${response.status} ${await response.text()}`)
  await response.arrayBuffer()
}
