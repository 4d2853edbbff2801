import type { Test } from 'tap'
import { type Context, go } from './context.js'

/** What the editor says before anything is saved: what would be refused, and what a rule would do. */
export function testPreviews(t: Test, { browser, makeWorkspace }: Context): void {
  t.test(
    'what would be refused of a limit, a schedule and an action is said while somebody types',
    async (t) => {
      const { client, visit } = await makeWorkspace()
      for (const owner of ['ada', 'bo']) await client.trigger('LEAD_CREATED', { owner })
      const { id } = await client.rules.create({
        name: 'Digest',
        trigger: 'LEAD_CREATED',
        perKey: { key: '{{owner}}', atMost: { runs: 1, per: '7d' } },
        actions: [{ type: 'CREATE_TASK', config: { title: 'Call {{owner}}', dueIn: '2d' } }],
      })
      const { page, complaints, at } = await visit(browser)
      await go(page, at(`rules/${id}`))
      const preview = page.getByRole('region', { name: 'Preview' })
      const refused = preview.getByText('It cannot be saved yet.')
      await preview.getByText('2 of 2').waitFor()
      t.equal(await refused.count(), 0)
      await page.getByRole('button', { name: 'with the events that come' }).click()
      await refused.waitFor()
      await preview.getByText('2 of 2').waitFor()
      t.equal(await page.getByRole('button', { name: 'Remove at most' }).count(), 0, 'it made room')
      await preview.getByRole('button', { name: /^the limit, with the events that come/ }).click()
      await page.getByRole('button', { name: 'within', exact: true }).click()
      await page.getByRole('textbox', { name: 'within' }).fill('a while')
      const sentence = page.getByRole('region', { name: 'The rule' })
      await sentence.getByText(/^Must be a duration such as/).waitFor()
      await page.getByRole('textbox', { name: 'within' }).fill('1h')
      await refused.waitFor({ state: 'detached' })
      const due = page.getByRole('textbox', { name: 'due in' })
      await due.fill('two days')
      t.equal(await sentence.getByText(/^Must be a duration/).count(), 0, 'not while it is being typed')
      await due.press('Tab')
      await sentence.getByText(/^Must be a duration/).waitFor()
      await preview.getByRole('button', { name: 'action 1, due in' }).waitFor()
      await due.fill('2 days')
      await due.press('Tab')
      await sentence.getByText('Must be a duration such as 2d', { exact: true }).waitFor()
      t.equal(await due.getAttribute('aria-invalid'), 'true')
      await page.getByRole('textbox', { name: 'title' }).fill('')
      await due.fill('2d')
      await sentence.getByText('Fill this in').waitFor()
      await page.getByRole('textbox', { name: 'title' }).fill('Call')
      await refused.waitFor({ state: 'detached' })
      await page.getByRole('button', { name: 'Save', exact: true }).click()
      await page.getByText(/Saved as v2/).waitFor()
      t.strictSame(complaints, [])
    },
  )

  t.test(
    'a new rule asks for what is missing beside its result, and not at fields where nobody was',
    async (t) => {
      const { visit } = await makeWorkspace()
      const { page, complaints, at } = await visit(browser)
      await go(page, at('rules/new?trigger=LEAD_CREATED'))
      const preview = page.getByRole('region', { name: 'Preview' })
      await preview.getByRole('button', { name: 'the name' }).waitFor()
      await preview.getByRole('button', { name: 'action 1, title' }).waitFor()
      const sentence = page.getByRole('region', { name: 'The rule' })
      t.equal(await sentence.getByText('Fill this in').count(), 0)
      await page.getByLabel('Name', { exact: true }).focus()
      await page.keyboard.press('Tab')
      await sentence.getByText('Fill this in').waitFor()
      await page.getByLabel('Name', { exact: true }).fill('Hot')
      await page.getByRole('textbox', { name: 'title' }).fill('Call')
      await preview.getByText('It cannot be saved yet.').waitFor({ state: 'detached' })
      t.strictSame(complaints, [])
    },
  )

  t.test('a decision has a branch for each choice before anybody has decided', async (t) => {
    const { client, visit } = await makeWorkspace()
    await client.trigger('DEAL_CREATED', { name: 'Wonka expansion' })
    const on = (value: string) => ({ when: { field: 'decision.choice', operator: 'equals', value } })
    const { id } = await client.rules.create({
      name: 'Ask',
      trigger: 'DEAL_CREATED',
      actions: [
        { type: 'WAIT', config: { decision: { options: ['approve', 'reject'], within: '24h' } } },
        { type: 'CREATE_TASK', config: { title: 'An offer for {{name}}' }, ...on('approve') },
        { type: 'CREATE_TASK', config: { title: 'No discount for {{name}}' }, ...on('reject') },
      ],
    } as never)
    const { page, complaints, at } = await visit(browser)
    await go(page, at(`rules/${id}`))
    const chosen = page.getByRole('region', { name: 'The chosen sample' })
    await chosen.getByText('Wait for a decision').waitFor()
    t.strictSame(await chosen.locator('.branch').allTextContents(), [
      'If approveTask: An offer for Wonka expansion',
      'If rejectTask: No discount for Wonka expansion',
      'If nobody decides within 24hnothing more',
    ])
    t.equal(await chosen.getByText('skipped').count(), 0)
    t.strictSame(complaints, [])
  })

  t.test('a digest is shown for the batch that its events make, and each key leads to its own', async (t) => {
    const { client, visit, storeEvents } = await makeWorkspace()
    const { id } = await client.rules.create({
      name: 'Digest',
      trigger: 'LEAD_CREATED',
      isActive: false,
      perKey: { key: '{{owner}}', collect: { for: '1d' } },
      actions: [{ type: 'CREATE_TASK', config: { title: '{{collected.count}} new leads of {{owner}}' } }],
    })
    for (const owner of ['bo', 'ada', 'ada', 'ada']) await client.trigger('LEAD_CREATED', { owner })
    const { page, complaints, at } = await visit(browser)
    await go(page, at(`rules/${id}`))
    const chosen = page.getByRole('region', { name: 'The chosen sample' })
    await chosen.getByText('Task: 3 new leads of ada').waitFor()
    await chosen.getByText(/^3 events in one batch of “ada”/).waitFor()
    await chosen.getByRole('button', { name: '1 event of “bo”' }).click()
    await chosen.getByText('Task: 1 new leads of bo').waitFor()
    t.equal(await page.getByText('is missing').count(), 0)
    const cut = page.getByText('Only the newest 100 are read here: a batch may have older ones, too.')
    t.equal(await cut.count(), 0)
    const hourAgo = Date.now() - 3_600_000
    const owners = Array.from({ length: 97 }, (_, index) => ({ at: hourAgo + index, data: { owner: 'bo' } }))
    await storeEvents('LEAD_CREATED', owners)
    await page.reload()
    await cut.waitFor()
    t.strictSame(complaints, [])
  })

  t.test('the number beside Decisions is that of the list, at once after one is taken', async (t) => {
    const { client, visit } = await makeWorkspace()
    await client.rules.create({
      name: 'Ask',
      trigger: 'DEAL_CREATED',
      actions: [{ type: 'WAIT', config: { decision: { options: ['yes', 'no'], within: '1h' } } }],
    })
    for (const name of ['Ada', 'Bo', 'Cy', 'Di']) await client.trigger('DEAL_CREATED', { name })
    const { page, complaints, at } = await visit(browser)
    await page.goto(at('decisions'))
    await page.getByRole('link', { name: /Decisions 4 open/ }).waitFor()
    await page.getByRole('link', { name: 'Ask', exact: true }).first().click()
    await page.getByRole('complementary', { name: 'Details' }).getByRole('button', { name: 'yes' }).click()
    await page.getByText('Decided: yes').waitFor()
    // It is read every two minutes by itself, which is more than a wait takes.
    await page.getByRole('link', { name: /Decisions 3 open/ }).waitFor()
    t.equal(await page.getByRole('link', { name: 'Ask', exact: true }).count(), 3)
    t.strictSame(complaints, [])
  })
}
