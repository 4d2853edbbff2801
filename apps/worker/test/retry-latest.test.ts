import { taskIdOf } from '@automation/database'
import { narrowToExecution } from '@automation/history'
import { reopenExecutions } from '@automation/ledger'
import t from 'tap'
import { createHarness } from './fixtures/harness.js'
import { openTarget } from './fixtures/target.js'

t.test('an action that starts again creates its task, also if one of an earlier version did', async (t) => {
  const harness = await createHarness(t)
  const { own, workspaceId } = harness
  const target = await openTarget(t, (request, response) => {
    response.statusCode = request.url === '/good' ? 200 : 400
    response.end()
  })
  const call = (path: string) => ({ type: 'SEND_WEBHOOK', config: { url: target.url + path } })
  const task = (title: string) => ({ type: 'CREATE_TASK', config: { title } })
  const versions = [
    [task('first'), task('second'), call('/bad')],
    [call('/good'), call('/bad')],
    [task('third'), call('/good'), task('fourth'), call('/bad')],
    [task('unused'), call('/good'), call('/good')],
  ]
  const ruleId = await harness.createRule(versions[0] ?? [])
  harness.startWorker()
  harness.startSweeper()
  const id = await harness.trigger(ruleId)
  const titles = async () =>
    (await own.task.findMany({ orderBy: { actionIndex: 'asc' } })).map(
      (row) => `${row.actionIndex} ${row.title}`,
    )
  await harness.untilStatus(id, 'failed')
  t.strictSame(await titles(), ['0 first', '1 second'])
  const ends = [
    { status: 'failed', tasks: ['-2 second', '-1 first'] },
    { status: 'failed', tasks: ['-2 second', '-1 first', '0 third', '2 fourth'] },
    { status: 'succeeded', tasks: ['-3 fourth', '-2 second', '-1 first', '0 third'] },
  ] as const
  for (const [index, { status, tasks }] of ends.entries()) {
    const version = index + 2
    const actions = versions[version - 1] ?? []
    const definition = { name: 'Rule', description: '', trigger: 'LEAD_CREATED', conditions: [], actions }
    await own.ruleVersion.create({
      data: { ...definition, workspaceId, ruleId, version, createdBy: 'test' },
    })
    await own.rule.update({ where: { id: ruleId }, data: { version, actions } })
    const [reopened] = await own.$transaction((transaction) =>
      reopenExecutions(transaction, narrowToExecution(workspaceId, id), 'latest', 1),
    )
    t.equal(reopened?.id, id)
    t.match(await harness.untilStatus(id, 'failed', 'succeeded'), { status, ruleVersion: version })
    t.strictSame(await titles(), tasks, `version ${version}`)
  }
  const made = { first: [0, 0], second: [1, 0], third: [0, 2], fourth: [2, 2] }
  const rows = await own.task.findMany()
  t.strictSame(
    Object.fromEntries(rows.map((row) => [row.title, row.id])),
    Object.fromEntries(
      rows.map(({ title, createdAt }) => {
        const [index = 0, reopened = 0] = made[title as keyof typeof made] ?? []
        return [title, taskIdOf({ id, reopened }, index, createdAt)]
      }),
    ),
    'each is the task of its action, and of so many reopenings',
  )
})

t.test('an execution can be reopened however often it was', async (t) => {
  const harness = await createHarness(t)
  const { own, workspaceId } = harness
  const target = await openTarget(t, (_request, response) => {
    response.statusCode = 400
    response.end()
  })
  const ruleId = await harness.createRule([{ type: 'SEND_WEBHOOK', config: { url: target.url } }])
  harness.startWorker()
  const id = await harness.trigger(ruleId)
  await harness.untilStatus(id, 'failed')
  const most = 32_767
  await own.execution.update({ where: { id }, data: { reopened: most } })
  const [reopened] = await own.$transaction((transaction) =>
    reopenExecutions(transaction, narrowToExecution(workspaceId, id), 'same', 1),
  )
  t.match(reopened, { id })
  t.match(await own.execution.findUnique({ where: { id } }), { reopened: most })
})
