import { clockSkewMs, executionIdOf, idNear, newId, openPatiently } from '@automation/database'
import t from 'tap'
import { listTasks, narrowTasks } from '../src/list-tasks.js'

const database = openPatiently(process.env.DATABASE_URL ?? '', 2)
t.teardown(() => database.close())

t.test(
  'all tasks of an execution are listed, however late they were made, and whatever the clocks of their workers',
  async (t) => {
    const [workspaceId, ruleId] = [newId(), newId()]
    await database.system.workspace.create({ data: { id: workspaceId, name: 'Test' } })
    const own = database.forWorkspace(workspaceId)
    const acceptedAt = new Date('2026-01-31T12:00:00Z')
    const executionId = executionIdOf({ id: idNear(acceptedAt, 0), addressee: null }, ruleId)
    const dayMs = 24 * clockSkewMs
    const store = async (executionId: string, offsets: number[]) => {
      const ids = offsets.map((ms) => `${idNear(acceptedAt, ms).slice(0, 24)}${newId().slice(24)}`)
      for (const [actionIndex, id] of ids.entries())
        await own.task.create({
          data: {
            id,
            workspaceId,
            executionId,
            actionIndex,
            ruleId,
            title: 'Call',
            priority: 'normal',
            createdAt: new Date(),
          },
        })
      return ids
    }
    // By clocks that were a week and an hour behind, in the same millisecond, and after a WAIT of a year.
    const ids = await store(executionId, [-7 * dayMs, -clockSkewMs, 0, 366 * dayMs])
    await store(newId(), [0])
    const { rows } = await listTasks(own, narrowTasks(workspaceId, { executionId }), {
      before: undefined,
      limit: 10,
    })
    t.strictSame(
      rows.map(({ id }) => id),
      ids.toReversed(),
    )
  },
)
