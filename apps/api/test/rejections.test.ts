import { createSealer } from '@automation/access'
import { type Database, newId } from '@automation/database'
import type { FastifyBaseLogger } from 'fastify'
import t from 'tap'
import { openRejectionLog } from '../src/routes/incoming-webhooks/rejections.js'
import { encryptionKey } from './fixtures/api.js'

const provider = 'acme'

t.test('names that lead to no secret take the newest one of a burst no place', async (t) => {
  const own = newId()
  const stored: string[] = []
  const transaction = {
    webhookRejection: { create: ({ data }: { data: { key: string } }) => stored.push(data.key) },
    subscription: { findMany: () => [] },
    $queryRaw: () => [],
  }
  const database = {
    forWorkspace: (id: string) => ({
      signingSecret: { findMany: async () => (id === own ? [{ provider, scheme: 'automation' }] : []) },
      $transaction: async (work: (parts: typeof transaction) => unknown) => work(transaction),
    }),
  } as unknown as Database
  const log = { warn: (_fields: object, message: string) => t.fail(message) } as unknown as FastifyBaseLogger
  const rejections = openRejectionLog(database, () => {}, createSealer(encryptionKey), log)
  const refuse = (workspaceId: string, id: string) => {
    const none = {
      signatureId: '',
      headers: {},
      query: '',
      isForm: false,
      body: Buffer.alloc(0),
    }
    rejections.record({ provider, workspaceId, id, ...none }, 'size', 'said')
  }
  const strangers = Array.from({ length: 40 }, () => newId())
  for (const id of strangers) refuse(id, 'stranger')
  await new Promise(setImmediate)
  for (const id of strangers) for (let at = 0; at < 40; at++) refuse(id, 'stranger')
  for (let at = 0; at < 40; at++) refuse(own, `burst_${at}`)
  await rejections.close()
  t.equal(stored.at(-1), 'burst_39')
  t.equal(stored.length, 31)
})
