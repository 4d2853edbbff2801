import { randomUUID } from 'node:crypto'
import t from 'tap'
import { describeData, describeJob, linkJob } from '../src/describe-job.js'

const id = randomUUID()
const workspaceId = randomUUID()
const events = (...owners: string[]) => ({ events: owners.map((workspaceId) => ({ id, workspaceId })) })

t.test('a job is described by its content and its workspace', async (t) => {
  const none = { type: () => undefined, workspace: () => undefined }
  const nameOf = (name: string, data: unknown) => describeJob({ name, data }, none)
  t.equal(nameOf('trigger', events(workspaceId)), `trigger: 1 event of workspace ${workspaceId}`)
  t.equal(
    nameOf('execute', events(workspaceId, workspaceId)),
    `execute: 2 events of workspace ${workspaceId}`,
  )
  t.equal(
    nameOf('trigger', events(workspaceId, randomUUID(), workspaceId)),
    'trigger: 3 events in 2 workspaces',
  )
  t.equal(
    nameOf('resume', { executionId: randomUUID(), eventId: id, workspaceId }),
    `resume: an execution of workspace ${workspaceId}`,
  )
})

t.test('a job is named by the types of its events and its workspace', async (t) => {
  const named = (types: Record<string, string>, data: unknown) =>
    describeJob({ name: 'trigger', data }, { type: (id) => types[id], workspace: () => 'Demo' })
  const job = (...ids: string[]) => ({ events: ids.map((id) => ({ id, workspaceId })) })
  const ids = Array.from({ length: 5 }, () => randomUUID())
  const [one = '', two = ''] = ids
  t.equal(named({ [one]: 'LEAD_CREATED' }, job(one)), 'trigger: LEAD_CREATED in Demo')
  t.equal(named({ [one]: 'LEAD_CREATED' }, job(one, two)), 'trigger: 2 × LEAD_CREATED in Demo')
  const all = Object.fromEntries(ids.map((id, index) => [id, `T${index}`]))
  t.equal(named(all, job(...ids)), 'trigger: 5 × T0, T1, T2… in Demo')
  const resumed = { executionId: randomUUID(), eventId: one, workspaceId }
  t.equal(named({ [one]: 'LEAD_CREATED' }, resumed), 'trigger: LEAD_CREATED in Demo')
  t.equal(named({}, resumed), 'trigger: an execution in Demo')
})

t.test('a job links to the console: its event, the first of its events, or its execution', async (t) => {
  const consoleUrl = 'https://console.example'
  const linkOf = (name: string, data: unknown) => linkJob({ name, data }, consoleUrl)
  const href = `${consoleUrl}/w/${workspaceId}/events?id=${id}`
  t.strictSame(linkOf('trigger', events(workspaceId)), { href, displayText: 'Event' })
  t.strictSame(linkOf('trigger', events(workspaceId, workspaceId)), { href, displayText: 'First event' })
  const executionId = randomUUID()
  t.strictSame(linkOf('resume', { executionId, eventId: id, workspaceId }), {
    href: `${consoleUrl}/w/${workspaceId}/executions?id=${executionId}`,
    displayText: 'Execution',
  })
})

t.test('the data has one line per event', async (t) => {
  t.strictSame(describeData({ ...events(workspaceId), replyTo: 'x' }), {
    events: { [id]: workspaceId },
    replyTo: 'x',
  })
  const run = { executionId: randomUUID(), eventId: id, workspaceId }
  t.strictSame(describeData(run), run)
})

t.test('a job that is not ours keeps its name and data, and has no link', async (t) => {
  for (const data of [
    undefined,
    null,
    'text',
    {},
    { events: [] },
    { events: [{ id: '../..', workspaceId }] },
  ]) {
    const names = { type: () => 'X', workspace: () => 'Y' }
    t.equal(describeJob({ name: 'by hand', data }, names), 'by hand')
    t.equal(describeData(data), data)
    t.equal(linkJob({ name: 'by hand', data }, 'https://console.example'), undefined)
  }
})
