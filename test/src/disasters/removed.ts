import { randomBytes } from 'node:crypto'
import {
  createApiKey,
  createErasure,
  createSealer,
  putMember,
  removeMember,
  revokeApiKey,
} from '@automation/access'
import { newId } from '@automation/database'
import type { Site } from '../storm/site.js'
import { runAdmin } from './run-admin.js'

/** What somebody takes away after the backup, and what must be away again after the restore. */
export interface Removed {
  remove(): Promise<void>
  /** One sentence for each that is there. */
  findBack(): Promise<string[]>
}

/** A key, a member, a person and a workspace, beside the load. */
export async function prepareRemoved({ running, query, switched }: Site): Promise<Removed> {
  const { database, product } = running
  const { workspaceId } = await running.addWorkspace()
  const { workspaceId: leaving } = await running.addWorkspace()
  const administrator = { database, workspaceId, actor: 'user:tester' }
  const userId = 'mallory'
  await putMember(administrator, { userId, role: 'editor' })
  const { id: key } = await createApiKey(administrator, { name: 'CI', scopes: ['rules:read'] })
  const value = `${randomBytes(8).toString('hex')}@example.com`
  // Where nobody counts events.
  const person = { database, workspaceId: switched.id, actor: 'user:tester' }
  await database.forWorkspace(switched.id).event.create({
    data: {
      id: newId(),
      workspaceId: switched.id,
      type: 'CONTACT_CREATED',
      data: { email: value },
      doneAt: new Date(),
    },
  })
  return {
    async remove() {
      await removeMember(administrator, userId)
      await revokeApiKey(administrator, key)
      await createErasure(person, createSealer(product.encryptionKey), { path: 'email', value })
      await runAdmin(product.env, 'workspaces', 'delete', leaving, '--confirm', 'Test')
    },
    async findBack() {
      const [found] = await query<Record<'key' | 'member' | 'person' | 'workspace', boolean>>(`
        SELECT EXISTS (SELECT FROM api_keys WHERE id = '${key}' AND revoked_at IS NULL) AS key,
               EXISTS (SELECT FROM members WHERE workspace_id = '${workspaceId}' AND user_id = '${userId}') AS member,
               EXISTS (SELECT FROM events WHERE workspace_id = '${switched.id}' AND data::text LIKE '%${value}%') AS person,
               EXISTS (SELECT FROM workspaces WHERE id = '${leaving}' AND deletes_at IS NULL) AS workspace`)
      return Object.entries(found ?? {}).flatMap(([what, isBack]) => (isBack ? [`the ${what} is back`] : []))
    },
  }
}
