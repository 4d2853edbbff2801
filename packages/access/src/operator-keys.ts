import { randomBytes } from 'node:crypto'
import { type Database, isUuid, newId, type Prisma, postgresNow } from '@automation/database'
import { Type } from 'typebox'
import { hashApiKey } from './api-keys.js'
import type { Administrator } from './change-workspace.js'
import { presentTimes } from './credential.js'
import { Refused } from './refused.js'

/** Who makes or revokes one: the command line alone. */
type Operator = Pick<Administrator, 'database' | 'actor'>

export const OperatorKeyName = Type.String({ minLength: 1, maxLength: 200 })

/** Creates a key with which a program of the operator creates workspaces. Only the result contains its text. */
export async function createOperatorKey({ database, actor }: Operator, name: string) {
  const id = newId()
  const key = `opk_${id}_${randomBytes(32).toString('base64url')}`
  const row = await database.system.operatorKey.create({
    data: { id, name, hash: hashApiKey(key), createdBy: actor },
  })
  return { ...presentOperatorKey(row), key }
}

/** Newest first. Those that were revoked stay. */
export async function listOperatorKeys(database: Database) {
  const rows = await database.system.operatorKey.findMany({ orderBy: { id: 'desc' }, take: 1_000 })
  return rows.map(presentOperatorKey)
}

/** Revokes one from the next request on. To do so again changes nothing. @throws Refused where there is none */
export async function revokeOperatorKey({ database, actor }: Operator, id: string) {
  const { operatorKey } = database.system
  const data = { revokedAt: new Date(postgresNow()), revokedBy: actor }
  if (isUuid(id)) await operatorKey.updateMany({ where: { id, revokedAt: null }, data })
  const row = isUuid(id) ? await operatorKey.findUnique({ where: { id } }) : null
  if (row === null) throw new Refused('api_key_not_found', 'There is no such operator’s key')
  return presentOperatorKey(row)
}

/** Reads the id from a text with the form of an operator's key; undefined for any other text. */
export function readOperatorKeyId(text: string): string | undefined {
  return /^opk_([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})_[A-Za-z0-9_-]{43}$/.exec(text)?.[1]
}

function presentOperatorKey({ hash: _, ...row }: Prisma.OperatorKeyGetPayload<object>) {
  return { ...row, state: row.revokedAt === null ? 'active' : 'revoked', ...presentTimes(row) }
}
