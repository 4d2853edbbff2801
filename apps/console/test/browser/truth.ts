import type { Page } from 'playwright-core'
import type { Test } from 'tap'
import { type Context, go, holdRequests, settle } from './context.js'

type Client = Awaited<ReturnType<Context['makeWorkspace']>>['client']

/** A rule that does something of each kind, and one that waits. */
async function fill(client: Client) {
  await client.emailTemplates.create({ name: 'welcome', text: 'Dear {{name}}' })
  const welcome = await client.rules.create({
    name: 'Welcome customers',
    trigger: 'LEAD_CREATED',
    conditions: [{ field: 'seats', operator: 'greater_than', value: 5 }],
    actions: [
      { type: 'CREATE_TASK', config: { title: 'Review {{name}}, {{seats}} seats', dueIn: '24h' } },
      { type: 'SEND_EMAIL', config: { to: '{{email}}', subject: 'Hello {{name}}', template: 'welcome' } },
    ],
  })
  const later = await client.rules.create({
    name: 'Remind later',
    trigger: 'DEAL_CREATED',
    actions: [
      { type: 'WAIT', config: { duration: '7d' } },
      { type: 'CREATE_TASK', config: { title: 'Remind {{name}}' } },
    ],
  })
  const data = { name: 'Acme', seats: 20, email: 'ada@example.com' }
  const event = await client.trigger('LEAD_CREATED', data)
  const waiting = await client.trigger('DEAL_CREATED', { name: 'Acme' })
  return { welcome, later, event, waiting }
}

const detailsOf = (page: Page) => page.getByRole('complementary', { name: 'Details' })

/** What the console says is so, and what cannot be taken back is asked first. */
export function testTruth(t: Test, { browser, makeWorkspace }: Context): void {
  t.test('an execution shows its task, email and what is to come; the task leads back', async (t) => {
    const { client, visit } = await makeWorkspace()
    const { event, waiting } = await fill(client)
    const { page, complaints, at } = await visit(browser)
    const details = detailsOf(page)
    await go(page, at(`events?id=${event.id}`))
    await details.getByRole('link', { name: 'its execution' }).click()
    await details.getByText('Email to ada@example.com').waitFor()
    await details.getByText('Hello Acme', { exact: true }).waitFor()
    await page.locator('.rows tr[aria-current]').waitFor()
    await details.getByRole('link', { name: /^Task: Review Acme, 20 seats, due tomorrow/ }).click()
    await page
      .getByRole('table', { name: 'tasks' })
      .getByRole('link', { name: 'Review Acme, 20 seats' })
      .click()
    await details.getByRole('heading', { name: 'Review Acme, 20 seats' }).waitFor()
    await details.getByText(/^tomorrow \d\d:\d\d$/).waitFor()
    await details.getByRole('link', { name: 'an execution' }).click()
    await details.getByRole('link', { name: 'its event' }).click()
    await details.getByRole('heading', { name: 'LEAD_CREATED' }).waitFor()
    await page.locator('.rows tr[aria-current]').waitFor()

    await go(page, at('events'))
    await page
      .getByRole('table', { name: 'events' })
      .getByText(/waits until Dec|waits until \w{3} \d+/)
      .waitFor()
    await go(page, at(`events?id=${waiting.id}`))
    await details.getByRole('link', { name: 'its execution' }).click()
    await page.locator('.timeline').getByText('not started').waitFor()
    t.strictSame(complaints, [])
  })

  t.test('tasks are found by person, priority and due date, and each has its own address', async (t) => {
    const { client, visit } = await makeWorkspace()
    await client.rules.create({
      name: 'Share out',
      trigger: 'LEAD_CREATED',
      actions: [
        {
          type: 'CREATE_TASK',
          config: { title: 'Ask ada', assigneeId: 'ada', priority: 'high', dueIn: '2h' },
        },
        { type: 'CREATE_TASK', config: { title: 'Ask bo', assigneeId: 'bo', dueIn: '3d' } },
        { type: 'CREATE_TASK', config: { title: 'Ask anybody' } },
      ],
    })
    await client.trigger('LEAD_CREATED', {})
    const { page, complaints, at } = await visit(browser)
    await go(page, at('tasks'))
    const table = page.getByRole('table', { name: 'tasks' })
    const shows = async (...titles: string[]) => {
      await page.locator(`table[aria-rowcount="${titles.length}"]`).waitFor()
      t.strictSame((await table.getByRole('rowheader').allInnerTexts()).sort(), titles)
    }
    await shows('Ask ada', 'Ask anybody', 'Ask bo')
    await page.getByLabel('For', { exact: true }).fill('ada')
    await page.keyboard.press('Enter')
    await shows('Ask ada')
    await page.getByLabel('For', { exact: true }).fill('')
    await page.getByLabel(/^Priority/).selectOption('normal')
    await shows('Ask anybody', 'Ask bo')
    await page.getByLabel(/^Priority/).selectOption('')
    await page.getByLabel(/^Due/).selectOption('within 24 hours')
    await shows('Ask ada')
    await page.getByLabel(/^Due/).selectOption('within 7 days')
    await shows('Ask ada', 'Ask bo')
    await page.getByLabel(/^Due/).selectOption('before now')
    await page.getByText('No tasks match the filter').waitFor()

    const { tasks } = await client.tasks.list()
    const id = tasks.find(({ title }) => title === 'Ask bo')?.id
    await page.goto(at(`tasks?due=now&id=${id}`))
    const details = detailsOf(page)
    await details.getByRole('heading', { name: 'Ask bo' }).waitFor()
    t.strictSame(complaints, [])
    await go(page, at(`tasks?id=${id?.replace(/^.{8}/, '00000000')}`))
    await details.getByRole('heading', { name: 'Not found' }).waitFor()
  })

  t.test('a replay is for the rules that did not run; one that failed can be retried instead', async (t) => {
    const { client, visit } = await makeWorkspace()
    const create = (name: string, title: string) =>
      client.rules.create({
        name,
        trigger: 'LEAD_CREATED',
        actions: [{ type: 'CREATE_TASK', config: { title } }],
      })
    await create('Ran', 'Ran')
    await create('Fails', '{{title}}')
    const event = await client.trigger('LEAD_CREATED', { name: 'Acme' })
    await create('New', 'New')
    const { page, complaints, at } = await visit(browser)
    await go(page, at(`events?id=${event.id}`))
    await page.getByRole('button', { name: 'Replay with the current rules…' }).click()
    const dialog = page.getByRole('dialog', { name: 'Replay the event?' })
    await dialog.getByText('Rules that ran for this event before are not chosen.').waitFor()
    const isChosen = (name: string) =>
      dialog.getByRole('checkbox', { name: `Replay for ${name}` }).isChecked()
    t.strictSame(await Promise.all(['Ran', 'Fails', 'New'].map(isChosen)), [false, false, true])
    await dialog.getByRole('button', { name: 'Retry from here' }).click()
    await dialog.getByText('It continues from the action that failed.').waitFor()
    await dialog.getByRole('button', { name: 'Replay', exact: true }).click()
    await dialog.waitFor({ state: 'detached' })
    const details = detailsOf(page)
    await details.getByText('a replay for 1 rule').waitFor()
    await details.getByText('1 of 3 ran, 2 left out.').waitFor()
    t.equal(await details.getByText('left out of this replay').count(), 2)
    t.same((await client.tasks.list().all()).map(({ title }) => title).toSorted(), ['New', 'Ran'])
    t.strictSame(complaints, [])
  })

  t.test('a rule is run on one event that somebody chooses, by the plan of its replay', async (t) => {
    const { client, visit } = await makeWorkspace()
    const trigger = 'LEAD_CREATED' as const
    const create = (name: string) =>
      client.rules.create({
        name,
        trigger,
        conditions: [{ field: 'seats', operator: 'greater_than', value: 5 }],
        actions: [{ type: 'CREATE_TASK', config: { title: `${name}: {{name}}` } }],
      })
    const { id } = await create('Welcome')
    await create('Other')
    await client.trigger(trigger, { name: 'Acme', seats: 20 })
    await client.trigger(trigger, { name: 'Small', seats: 1 })
    const { page, complaints, at } = await visit(browser, 'operator')
    await go(page, at(`rules/${id}`))
    const openList = async () => {
      await page.getByRole('button', { name: 'More for Welcome' }).click()
      await page.getByRole('menuitem', { name: 'Run on an event…' }).click()
      const list = page.getByRole('dialog', { name: 'Run Welcome on an event' })
      await list.getByText('stopped').waitFor()
      return list
    }
    const plan = page.getByRole('dialog', { name: 'Run Welcome on this event' })
    await (await openList()).getByRole('button', { name: 'stopped' }).click()
    await plan.getByRole('heading', { name: 'Run Welcome on this event?', exact: true }).waitFor()
    await plan.getByText('Welcome would not run').waitFor()
    await plan.getByRole('button', { name: 'Cancel' }).click()
    await (await openList()).getByRole('button', { name: 'Acme' }).click()
    await plan.getByRole('heading', { name: 'Run Welcome on this event again?' }).waitFor()
    await plan.getByText('LEAD_CREATED Acme, accepted').waitFor()
    await plan.getByText('It runs 1 rule, which means 1 task.').waitFor()
    t.ok(await plan.getByRole('checkbox', { name: 'Run Welcome' }).isChecked())
    t.notOk(await plan.getByRole('checkbox', { name: 'Run Other' }).isChecked())
    await plan.getByRole('button', { name: 'Run', exact: true }).click()
    await detailsOf(page).getByText('1 of 2 ran, 1 left out.').waitFor()
    const titles = (await client.tasks.list().all()).map(({ title }) => title)
    t.same(titles.toSorted(), ['Other: Acme', 'Welcome: Acme', 'Welcome: Acme'])
    await client.rules.deactivate(id)
    await page.goto(at(`rules/${id}`))
    await settle(page)
    t.equal(
      await page.getByRole('button', { name: 'More for Welcome' }).count(),
      0,
      'a rule that is off has no replay',
    )
    t.strictSame(complaints, [])
  })

  t.test('a promotion is rolled back from the head of its rule, while its guard watches', async (t) => {
    const { client, visit } = await makeWorkspace()
    const trigger = 'LEAD_CREATED' as const
    const conditions = [{ field: 'score', operator: 'greater_than' as const, value: 80 }]
    const actions = [{ type: 'CREATE_TASK' as const, config: { title: 'Call {{name}}' } }]
    const rule = { name: 'Hot', trigger, conditions, actions }
    const { id } = await client.rules.create(rule)
    await client.rules.drafts.save(id, { ...rule, conditions: [] })
    await client.rules.drafts.promote(id, { guard: { for: '24h', maxRunsPerHour: 1_000 } })
    const { page, complaints, at } = await visit(browser, 'editor')
    await page.setViewportSize({ width: 390, height: 844 })
    await page.goto(at(`rules/${id}`))
    const rollBack = page.getByRole('button', { name: 'Roll back now', exact: true })
    const dialog = page.getByRole('dialog', { name: 'Roll back Hot to v1?' })
    const unsaved = dialog.getByText('Your unsaved changes stay in the editor.')
    await page.getByRole('button', { name: 'More for Hot' }).click()
    await page.getByRole('menuitem', { name: 'Roll back now' }).click()
    await dialog.getByText('v1 is the rule again, as v3.').waitFor()
    t.equal(await unsaved.count(), 0)
    await page.keyboard.press('Escape')
    await dialog.waitFor({ state: 'detached' })
    await page.setViewportSize({ width: 1280, height: 800 })
    await page.getByLabel('Name', { exact: true }).fill('Hotter')
    await rollBack.click()
    await unsaved.waitFor()
    await dialog.getByRole('button', { name: 'Roll back now' }).click()
    await dialog.waitFor({ state: 'detached' })
    await page.getByText('v1 is the rule again, as v3. Your unsaved changes stay in the editor.').waitFor()
    await page.getByText('Changes to v2, kept in this browser').waitFor()
    await rollBack.waitFor({ state: 'detached' })
    t.equal(await page.getByLabel('Name', { exact: true }).inputValue(), 'Hotter')
    t.match(await client.rules.get(id), { version: 3, conditions, isActive: true })
    t.strictSame(complaints, [])
  })

  t.test('a replay is for the shown rules that are chosen, also if others match by then', async (t) => {
    const { client, visit } = await makeWorkspace()
    const create = (title: string) =>
      client.rules.create({
        name: title,
        trigger: 'LEAD_CREATED',
        actions: [{ type: 'CREATE_TASK', config: { title } }],
      })
    const event = await client.trigger('LEAD_CREATED', { name: 'Acme' })
    const gone = await create('Gone')
    await create('Stays')
    const { page, at } = await visit(browser)
    await go(page, at(`events?id=${event.id}`))
    await page.getByRole('button', { name: 'Replay with the current rules…' }).click()
    const dialog = page.getByRole('dialog', { name: 'Replay the event?' })
    const stays = dialog.getByRole('checkbox', { name: 'Replay for Stays' })
    await stays.uncheck()
    await stays.check()
    await client.rules.delete(gone.id)
    await create('Comes')
    await page.context().setOffline(true)
    await page.context().setOffline(false)
    await dialog.getByRole('checkbox', { name: 'Replay for Comes' }).waitFor()
    await dialog.getByText('It is replayed for 1 rule').waitFor()
    await dialog.getByRole('button', { name: 'Replay', exact: true }).click()
    await dialog.waitFor({ state: 'detached' })
    t.strictSame(
      (await client.tasks.list().all()).map(({ title }) => title),
      ['Stays'],
    )
  })

  t.test('a replay says first what it would do, and a switch can be switched back', async (t) => {
    const { client, visit } = await makeWorkspace()
    const { event } = await fill(client)
    const { page, complaints, at } = await visit(browser)
    await go(page, at(`events?id=${event.id}`))
    await page.getByRole('button', { name: 'Replay with the current rules…' }).click()
    const dialog = page.getByRole('dialog', { name: 'Replay the event?' })
    await dialog.getByText('1 of 1 rule would run').waitFor()
    await dialog.getByText('ran before', { exact: true }).waitFor()
    await dialog.getByText('It is replayed for 0 rules').waitFor()
    await dialog.getByRole('button', { name: 'Replay', exact: true }).click()
    await dialog.getByText('Choose a rule').waitFor()
    await dialog.getByRole('checkbox', { name: 'Replay for Welcome customers' }).check()
    await dialog.getByText('It is replayed for 1 rule, which means 1 email, 1 task').waitFor()
    await dialog.getByText('Email to ada@example.com').waitFor()
    await dialog.getByRole('button', { name: 'Cancel' }).click()
    await dialog.waitFor({ state: 'detached' })
    t.equal((await client.events.list()).events.length, 2, 'nothing is replayed before the answer')

    await go(page, at('rules'))
    await page.getByRole('switch', { name: 'Welcome customers is on' }).click()
    await page.getByRole('switch', { name: 'Welcome customers is off' }).waitFor()
    await page.getByText('Welcome customers is off').first().waitFor()
    await page.getByRole('button', { name: 'Undo' }).click()
    await page.getByRole('switch', { name: 'Welcome customers is on' }).waitFor()
    await page.getByRole('switch', { name: 'Remind later is on' }).click()
    const question = page.getByRole('dialog', { name: 'Switch Remind later off?' })
    await question.getByText('1 execution of this rule waits').waitFor()
    await question.getByRole('button', { name: 'Cancel' }).click()
    t.ok(
      (await client.rules.list()).rules.every(({ isActive }) => isActive),
      'nothing is cancelled before the answer',
    )
    t.strictSame(complaints, [])
  })

  t.test('a chart counts what its list has, in the time that the reader chooses', async (t) => {
    const { client, visit, storeEvents } = await makeWorkspace()
    await fill(client)
    const day = (hours: number) => Date.parse('2026-01-10T00:00:00Z') + hours * 3_600_000
    await storeEvents(
      'LEAD_CREATED',
      [10, 11, 15].map((hours) => ({ at: day(hours), data: {} })),
    )
    const { page, complaints, at } = await visit(browser)
    await go(page, at('events?type=DEAL_CREATED'))
    const chart = page.locator('figure.bars')
    await chart.getByText('1 event;').waitFor()
    await page.getByRole('button', { name: 'Last 24 hours' }).click()
    const time = page.getByRole('dialog', { name: 'Time' })
    await time.getByLabel(/^From/).fill('2026-01-10 99:00')
    await time.getByRole('button', { name: 'Show' }).click()
    await time.getByRole('alert').getByText('Must be a time such as').waitFor()
    await time.getByLabel(/^From/).fill('2026-01-10 00:00')
    await time.getByLabel(/^Until/).fill('2026-01-11 00:00')
    await time.getByRole('button', { name: 'Show' }).click()
    await page.getByText('No events match the filter').waitFor()
    await page.getByLabel(/^Type/).selectOption('LEAD_CREATED')
    await chart.getByText('3 events;').waitFor()
    t.equal(await page.getByRole('table', { name: 'events' }).getAttribute('aria-rowcount'), '3')
    await chart.getByText('As a table').click()
    await chart.getByRole('link').first().click()
    await chart.getByText('1 event;').waitFor()
    t.equal(await page.getByRole('table', { name: 'events' }).getAttribute('aria-rowcount'), '1')
    t.strictSame(complaints, [])
  })

  t.test(
    'the audit log speaks in sentences, and what does not exist has a heading and a way back',
    async (t) => {
      const { client, visit } = await makeWorkspace()
      const { welcome } = await fill(client)
      await client.developer.members.put('dee', { role: 'viewer' })
      await client.rules.toggle(welcome.id)
      const { id } = await client.developer.subscriptions.create({
        url: 'https://hooks.example.com/a',
        eventTypes: ['execution.failed'],
      })
      const { page, at } = await visit(browser)
      await go(page, at('access?tab=audit'))
      await page.getByText(/^admin-.* added dee as viewer$/).waitFor()
      await page.getByText(/switched the rule Welcome customers off$/).waitFor()
      await page.getByLabel('Kind').selectOption('member.added')
      await page.locator('table[aria-rowcount="1"]').waitFor()
      await go(page, at('access?tab=secrets'))
      await page.getByRole('rowheader', { name: /^https:\/\/hooks.example.com\/a/ }).waitFor()
      for (const [path, heading, way] of [
        [`rules/${id}`, 'There is no such rule', 'All rules'],
        ['nowhere', 'There is no such page', 'Go to the overview'],
      ] as const) {
        await go(page, at(path))
        await page.getByRole('heading', { level: 1, name: heading }).waitFor()
        await page.locator('main').getByRole('link', { name: way }).waitFor()
        t.equal(await page.getByRole('button', { name: 'Try again' }).count(), 0, 'what is missing stays so')
      }
      await settle(page)
      await go(page, at('events?type=NO_SUCH'))
      await page.getByRole('heading', { name: 'There is no event type NO_SUCH' }).waitFor()
      t.equal(await page.getByRole('alert').count(), 0, 'nothing is broken')
      await page.getByRole('button', { name: 'Show events of all types' }).click()
      await page.getByRole('table', { name: 'events' }).waitFor()
    },
  )

  t.test('a secret that a provider has made is stored, with its scheme and settings', async (t) => {
    const { client, visit } = await makeWorkspace()
    const { page, complaints, at } = await visit(browser)
    await go(page, at('access?tab=secrets'))
    await page.getByRole('button', { name: 'New signing secret' }).first().click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('From').selectOption('stripe')
    t.equal(await dialog.getByRole('textbox', { name: 'Provider' }).inputValue(), 'stripe')
    await dialog.getByLabel('Secret, as Stripe shows it').fill('whsec_of_stripe')
    const theirs = dialog.getByLabel('Their type 1')
    const ours = dialog.getByLabel('Event type 1')
    await theirs.fill('lead')
    await ours.fill('NOBODY_KNOWS')
    await dialog.getByRole('button', { name: 'Create' }).click()
    await dialog.getByText(/NOBODY_KNOWS is none/).waitFor()
    await ours.fill('LEAD_CREATED')
    await dialog.getByLabel('Headers that rules can read').fill('X-Acme-Region, ')
    await dialog.getByRole('button', { name: 'Create' }).click()
    await dialog.getByRole('button', { name: 'Done' }).click()
    await page.getByRole('rowheader', { name: /^stripe/ }).waitFor()
    await page.getByRole('button', { name: 'Change the secret of stripe' }).click()
    t.equal(await ours.inputValue(), 'LEAD_CREATED')
    await page.getByRole('button', { name: 'Remove type 1' }).click()
    await page.getByLabel('Path of the data of that event').fill('data.object')
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    const { data } = await client.developer.signingSecrets.list()
    t.match(data[0], { scheme: 'stripe', provider: 'stripe' })
    t.strictSame(data[0]?.settings, { headers: ['X-Acme-Region'], dataFrom: 'data.object' })
    // One refusal is expected.
    t.ok(complaints.length <= 1)
  })

  t.test('what does not add up is said in a sentence, and leads to its rows', async (t) => {
    const { client, visit, storeRuns } = await makeWorkspace()
    const task = { type: 'CREATE_TASK' as const, config: { title: 'x' } }
    const { id } = await client.rules.create({ name: 'Lost', trigger: 'LEAD_CREATED', actions: [task] })
    const hourAgo = Date.now() - 3_600_000
    await storeRuns(id, [
      { at: hourAgo, isFailed: false },
      { at: hourAgo + 1, isFailed: true },
    ])
    const { page, complaints, at } = await visit(browser)
    await page.getByText('1 of 2 executions failed').waitFor()
    await page.getByRole('region', { name: 'Failures' }).getByText('connect ECONNREFUSED').waitFor()
    await go(page, at('reconciliation'))
    const faults = page.getByRole('region', { name: 'Inconsistencies' })
    await faults.getByText('The event of an execution is missing: 2 times').waitFor()
    await faults.getByText('Keep the ids and report a bug.').waitFor()
    await faults.getByRole('link').first().click()
    await page.locator('.rows tr[aria-current]').waitFor()
    await detailsOf(page).getByRole('heading', { name: 'Lost' }).waitFor()
    t.strictSame(complaints, [])
  })

  t.test('somebody who sees an empty workspace reads the first steps', async (t) => {
    const { visit, workspaceId } = await makeWorkspace()
    const { page, complaints } = await visit(browser)
    await page.getByRole('heading', { name: 'First steps' }).waitFor()
    const command = await page.locator('.first-steps pre').innerText()
    t.match(command, /^curl 'http:\/\/127\.0\.0\.1:\d+\/api\//m)
    t.match(command, workspaceId)
    t.strictSame(complaints, [])
  })

  t.test('a secret that is shown once stays until somebody says that it is copied', async (t) => {
    const { visit } = await makeWorkspace()
    const { page, at } = await visit(browser)
    await go(page, at('webhooks?way=out'))
    await page.getByRole('button', { name: 'New subscription' }).click()
    await page.getByLabel('URL').fill('https://hooks.example.com/b')
    await page.getByRole('button', { name: 'Create' }).click()
    const secret = page.getByText(/^whsec_/)
    await secret.waitFor()
    for (const _ of 'twice') await page.keyboard.press('Escape')
    t.equal(await secret.isVisible(), true)
    t.equal(await page.getByRole('button', { name: 'Close', exact: true }).count(), 0)
    await page.getByRole('button', { name: 'I have copied it' }).click()
    await secret.waitFor({ state: 'detached' })
  })

  t.test(
    'a secret that comes after its form was closed is shown, and what comes late closes no other form',
    async (t) => {
      const { visit } = await makeWorkspace()
      const { page, at } = await visit(browser)
      const held = await holdRequests(page, /api-keys$|credentials\/CRM$/)
      await go(page, at('access?tab=keys'))
      await page.getByRole('button', { name: 'New API key' }).first().click()
      await page.getByRole('textbox', { name: 'Name' }).fill('Late')
      await page.getByRole('button', { name: 'Create' }).click()
      await page.getByRole('button', { name: 'Cancel' }).click()
      await page.getByRole('button', { name: 'Discard' }).click()
      await held.release()
      await page.getByText(/^ark_/).waitFor()
      await page.getByRole('button', { name: 'I have copied it' }).click()

      await go(page, at('access?tab=credentials'))
      const add = page.getByRole('button', { name: 'New credential' }).first()
      await add.click()
      await page.getByRole('textbox', { name: 'Name' }).fill('CRM')
      await page.getByLabel('Value').fill('a-long-token')
      await page.getByLabel('Hosts').fill('crm.example.com')
      await page.getByRole('button', { name: 'Save' }).click()
      await page.getByRole('button', { name: 'Cancel' }).click()
      await page.getByRole('button', { name: 'Discard' }).click()
      await add.click()
      await page.getByRole('textbox', { name: 'Name' }).fill('OTHER')
      await held.release()
      await page.getByRole('rowheader', { name: /^CRM/ }).waitFor()
      t.equal(await page.getByRole('textbox', { name: 'Name' }).inputValue(), 'OTHER')
    },
  )

  t.test('a part of a template that is emptied is taken away', async (t) => {
    const { client, visit } = await makeWorkspace()
    const { id } = await client.emailTemplates.create({ name: 'Hello', text: 'plain', html: '<p>x</p>' })
    const { page, at } = await visit(browser)
    await go(page, at(`rules?tab=templates&id=${id}`))
    await page.getByRole('button', { name: 'Edit' }).first().click()
    await page.getByRole('textbox', { name: 'Text' }).fill('')
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    t.match(await client.emailTemplates.get(id), { text: null, html: '<p>x</p>' })
  })

  t.test('on a tablet the workspace is seen, and can be chosen', async (t) => {
    const { visit } = await makeWorkspace()
    const { page } = await visit(browser)
    await page.setViewportSize({ width: 900, height: 700 })
    const box = await page.getByLabel('Workspace').first().boundingBox()
    t.ok(box && box.width >= 24 && box.height >= 24, 'a target that a finger meets')
  })
}
