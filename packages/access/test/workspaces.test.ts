import { newId, openPatiently } from '@automation/database'
import t from 'tap'

// Each copy of the module stands for a process: it has a queue of its own, and a database of its own.
const processes = await Promise.all(
  ['first', 'second', 'third'].map(async (name) => {
    const { createWorkspace } = (await import(
      new URL(`../src/workspaces.js?${name}`, import.meta.url).href
    )) as typeof import('../src/workspaces.js')
    return { createWorkspace, database: openPatiently(process.env.DATABASE_URL ?? '', 5) }
  }),
)
t.teardown(() => Promise.all(processes.map(({ database }) => database.close())))

t.test('processes that create workspaces at the same time create as many as are allowed', async (t) => {
  for (let round = 0; round < 20; round++) {
    const creator = { createdBy: `user:${newId()}`, limit: 2 }
    const attempts = await Promise.allSettled(
      [...processes, ...processes].map(({ createWorkspace, database }) =>
        createWorkspace(
          { database, actor: creator.createdBy },
          { name: 'x', adminUserId: 'ada' },
          { creator },
        ),
      ),
    )
    const refused = attempts.filter(({ status }) => status === 'rejected')
    t.equal(refused.length, 4)
    for (const attempt of refused) t.match(attempt, { reason: { code: 'limit_reached' } })
  }
})
