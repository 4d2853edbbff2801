import { type Administrator, createSealer, createSubscription } from '@automation/access'
import { newId } from '@automation/database'
import t from 'tap'
import { changeRules } from '../src/change-rules.js'
import { checkRuleFile } from '../src/check-rule-file.js'
import { createRules } from '../src/create-rules.js'
import { deleteRules } from '../src/delete-rules.js'
import { updateEmailTemplate } from '../src/email-templates.js'
import type { ImportPlan } from '../src/plan-import.js'
import { digestPlan } from '../src/present-plan.js'
import { refuseExcessDeletions } from '../src/refuse-excess-deletions.js'
import { exportRules } from '../src/rule-file.js'
import { saveRules } from '../src/save-rules.js'
import { matchRows } from './fixtures/match-rows.js'
import {
  actor,
  apply,
  countRulesVersion,
  database,
  fileOf,
  listLog,
  listRules,
  makeAdministrator,
  own,
  plan,
  rule,
  task,
  tell,
} from './fixtures/rule-files.js'

t.teardown(() => database.close())

/** An execution that waits for a WAIT to end. */
async function makeWaitingRun({ workspaceId }: Administrator, ruleId: string): Promise<string> {
  const id = newId()
  await database.system.execution.create({
    data: {
      id,
      workspaceId,
      eventId: id,
      eventType: 'LEAD_CREATED',
      handlerId: ruleId,
      ruleVersion: 1,
      status: 'waiting',
      results: [],
      startedAt: new Date(),
      dueAt: new Date(Date.now() + 60_000),
    },
  })
  return id
}

t.test(
  'an import creates rules as the API does, in the order of the file, and increments the version once',
  async (t) => {
    const administrator = await makeAdministrator()
    const conditions = [{ field: 'score', operator: 'gt', value: 80 }]
    const file = fileOf(
      [rule('B', { conditions, isActive: false }), rule('A', { description: 'x' })],
      [{ name: 'welcome', text: 'Hi' }],
    )
    await apply(administrator, file)
    const rules = await listRules(administrator)
    matchRows(t, rules, [
      {
        name: 'B',
        description: '',
        isActive: false,
        version: 1,
        counters: { successCount: 0 },
        conditions: [{ field: 'score', operator: 'greater_than', value: 80 }],
      },
      { name: 'A', description: 'x', conditions: [], isActive: true, version: 1 },
    ])
    t.strictSame(
      rules.map(({ conditions }) => (conditions as unknown[]).length),
      [1, 0],
    )
    matchRows(t, await own(administrator).ruleVersion.findMany({ orderBy: { name: 'desc' } }), [
      { ruleId: rules[0]?.id, version: 1, name: 'B', createdBy: actor },
      { ruleId: rules[1]?.id, version: 1, name: 'A', createdBy: actor },
    ])
    matchRows(t, await listLog(administrator), [
      { actor, action: 'email_template.created', details: { name: 'welcome' } },
      { actor, action: 'rule.created', subject: rules[0]?.id, details: { name: 'B' } },
      { actor, action: 'rule.created', subject: rules[1]?.id, details: { name: 'A' } },
    ])
    t.equal(await countRulesVersion(administrator), 1)
  },
)

t.test(
  'a repeated import changes nothing, whatever the order of keys and the spelling of operators',
  async (t) => {
    const administrator = await makeAdministrator()
    const when = { field: 'a', operator: 'eq', value: 1 }
    await apply(
      administrator,
      fileOf([rule('A', { actions: [{ ...task(), when }] })], [{ name: 'm', html: 'x' }]),
    )
    const before = await listRules(administrator)
    const again = fileOf(
      [rule('A', { actions: [{ when: { value: 1, operator: 'equals', field: 'a' }, ...task() }] })],
      [{ html: 'x', text: null, name: 'm' }],
    )
    t.strictSame(tell((await plan(administrator, again)).rules), [[], [], [], ['A'], []])
    t.strictSame(tell((await plan(administrator, again)).emailTemplates), [[], [], [], ['m'], []])
    await apply(administrator, again)
    t.strictSame(await listRules(administrator), before)
    t.equal((await listLog(administrator)).length, 2)
    t.equal(await countRulesVersion(administrator), 1)
  },
)

t.test(
  'a change is a new version; deactivation cancels waiting executions, and activation resets the failures in a row',
  async (t) => {
    const administrator = await makeAdministrator()
    await apply(administrator, fileOf([rule('A'), rule('B'), rule('C', { isActive: false }), rule('D')]))
    const [a, b, c, d] = await listRules(administrator)
    const run = await makeWaitingRun(administrator, b?.id ?? '')
    const untouched = await makeWaitingRun(administrator, d?.id ?? '')
    await own(administrator).ruleCounters.updateMany({
      data: { consecutiveFailures: 4, attentionReason: 'auto_paused', attentionAt: new Date() },
    })
    const wishes = [
      rule('A', { actions: [task('Other')] }),
      rule('B', { isActive: false }),
      rule('C', { isActive: true, trigger: 'DEAL_WON' }),
      rule('D'),
    ]
    await apply(administrator, fileOf(wishes))
    const paused = { consecutiveFailures: 4, attentionReason: 'auto_paused' }
    matchRows(t, await listRules(administrator), [
      {
        id: a?.id,
        version: 2,
        actions: [task('Other')],
        createdAt: a?.createdAt,
        counters: { consecutiveFailures: 4, attentionReason: null },
      },
      { id: b?.id, version: 1, isActive: false, counters: paused },
      {
        id: c?.id,
        version: 2,
        isActive: true,
        trigger: 'DEAL_WON',
        counters: { consecutiveFailures: 0, attentionReason: null, attentionAt: null },
      },
      { id: d?.id, version: 1, updatedAt: d?.updatedAt, counters: paused },
    ])
    t.strictSame(
      (await listRules(administrator)).map(({ actions }) => (actions as unknown[]).length),
      [1, 1, 1, 1],
    )
    matchRows(
      t,
      await own(administrator).ruleVersion.findMany({ where: { version: 2 }, orderBy: { name: 'asc' } }),
      [
        { ruleId: a?.id, actions: [task('Other')], createdBy: actor },
        { ruleId: c?.id, trigger: 'DEAL_WON' },
      ],
    )
    t.match(await own(administrator).execution.findFirst({ where: { id: run } }), {
      status: 'cancelled',
      error: 'The rule was switched off',
      dueAt: null,
    })
    t.match(await own(administrator).execution.findFirst({ where: { id: untouched } }), { status: 'waiting' })
    t.strictSame(
      (await listLog(administrator))
        .slice(4)
        .map(({ action, subject, details }) => [action, subject, details]),
      [
        ['rule.updated', a?.id, { changed: ['actions'], version: 2 }],
        ['rule.updated', b?.id, { changed: ['isActive'], version: 1, cancelled: 1 }],
        ['rule.updated', c?.id, { changed: ['trigger', 'isActive'], version: 2 }],
      ],
    )
    t.equal(await countRulesVersion(administrator), 2)
  },
)

t.test('a rule without isActive is created active, and keeps its state afterwards', async (t) => {
  const administrator = await makeAdministrator()
  const file = fileOf([rule('A')])
  await apply(administrator, file)
  const [found] = await listRules(administrator)
  if (found === undefined) throw new Error('There is no rule')
  t.equal(found.isActive, true)
  await save(administrator, { isActive: false })
  t.strictSame(tell((await plan(administrator, file)).rules), [[], [], [], ['A'], []])
  await apply(administrator, fileOf([rule('A', { description: 'x' })]))
  matchRows(t, await listRules(administrator), [{ description: 'x', isActive: false }])
})

t.test(
  'items that are not in the file are kept and listed, or deleted with --prune, where the file has their kind',
  async (t) => {
    const administrator = await makeAdministrator()
    await apply(administrator, fileOf([rule('A'), rule('B'), rule('C')], [{ name: 'm', text: 'x' }]))
    const [, b] = await listRules(administrator)
    const run = await makeWaitingRun(administrator, b?.id ?? '')
    const smaller = fileOf([rule('C')])
    t.strictSame(tell((await plan(administrator, smaller)).rules), [[], [], [], ['C'], ['A', 'B']])
    await apply(administrator, smaller)
    t.equal((await listRules(administrator)).length, 3)
    t.strictSame(tell((await plan(administrator, smaller, true)).rules), [[], [], ['A', 'B'], ['C'], []])
    await apply(administrator, smaller, true)
    matchRows(t, await listRules(administrator), [{ name: 'C' }])
    t.equal(await own(administrator).emailTemplate.count(), 1, 'a file without templates deletes none')
    t.match(await own(administrator).execution.findFirst({ where: { id: run } }), {
      status: 'cancelled',
      error: 'The rule was deleted',
    })
    matchRows(t, (await listLog(administrator)).slice(-2), [
      { action: 'rule.deleted', details: { name: 'A', cancelled: 0 } },
      { action: 'rule.deleted', subject: b?.id, details: { name: 'B', cancelled: 1 } },
    ])
    await apply(administrator, fileOf([rule('C')], []), true)
    t.equal(await own(administrator).emailTemplate.count(), 0)
  },
)

t.test('a plan has another digest once what it is about has changed', async (t) => {
  const changes: [what: string, change: (one: Administrator) => Promise<unknown>][] = [
    ['a definition', (one) => save(one, { description: 'Mine' })],
    ['a switch', (one) => save(one, { isActive: false })],
    ['a rule that is new', (one) => make(one, 'New')],
    ['one of a name that is there', (one) => make(one, 'A')],
    ['one that would be deleted', (one) => make(one, 'Old2')],
    ['one that is gone', (one) => remove(one, 'Old')],
    ['a mail', (one) => changeTemplate(one)],
  ]
  for (const [what, change] of changes) {
    const administrator = await makeAdministrator()
    await apply(administrator, fileOf([rule('A'), rule('B'), rule('Old')], [{ name: 'm', text: 'x' }]))
    const wishes = [rule('A', { description: 'Theirs' }), rule('B'), rule('New')]
    const file = fileOf(wishes, [{ name: 'm', text: 'Theirs' }])
    const shown = digestPlan(await plan(administrator, file, true))
    t.equal(digestPlan(await plan(administrator, file, true)), shown, what)
    await change(administrator)
    t.not(digestPlan(await plan(administrator, file, true)), shown, what)
  }
})

t.test('a change of other rules leaves the digest of a plan as it was', async (t) => {
  const administrator = await makeAdministrator()
  await apply(administrator, fileOf([rule('A'), rule('B')]))
  const file = fileOf([rule('B', { description: 'x' })])
  const shown = digestPlan(await plan(administrator, file))
  await save(administrator, { description: 'Mine' })
  t.equal(digestPlan(await plan(administrator, file)), shown)
})

t.test('a tick of a rule leaves the digest of a plan as it was', async (t) => {
  const administrator = await makeAdministrator()
  const scheduled = { trigger: 'SCHEDULE', schedule: { every: '1m' } }
  await apply(administrator, fileOf([rule('A', scheduled)]))
  const file = fileOf([rule('A', { ...scheduled, description: 'x' })])
  const shown = digestPlan(await plan(administrator, file))
  await own(administrator).rule.updateMany({ data: { nextRunAt: new Date(), missedTicks: 2 } })
  t.equal(digestPlan(await plan(administrator, file)), shown)
})

t.test('an import that fails at its end has changed nothing', async (t) => {
  const administrator = await makeAdministrator()
  await apply(administrator, fileOf([rule('A'), rule('B')], [{ name: 'm', text: 'x' }]))
  const file = fileOf([rule('A', { description: 'x' }), rule('C')], [{ name: 'n', text: 'x' }])
  const before = await everything(administrator)
  const unwritable = { ...administrator, actor: 'no\0text' }
  await t.rejects(apply(unwritable, file, true))
  t.strictSame(await everything(administrator), before)
})

t.test('each change of an import is published to its subscribers', async (t) => {
  const administrator = await makeAdministrator()
  await apply(administrator, fileOf([rule('A'), rule('B')]))
  const sealer = createSealer(Buffer.alloc(32).toString('base64'))
  const subscribe = (...eventTypes: ('rule.created' | 'rule.updated' | 'rule.deleted')[]) =>
    createSubscription(administrator, sealer, { url: 'https://example.com/', eventTypes })
  const one = await subscribe('rule.created', 'rule.deleted')
  const other = await subscribe('rule.updated', 'rule.created')
  await apply(administrator, fileOf([rule('A', { description: 'x' }), rule('C')]), true)
  const published = await own(administrator).event.findMany({ orderBy: { id: 'asc' } })
  matchRows(
    t,
    published.map(({ addresseeId, type, data }) => [addresseeId, type, (data as { name: string }).name]),
    [
      [one.id, 'rule.deleted', 'B'],
      [other.id, 'rule.updated', 'A'],
      [one.id, 'rule.created', 'C'],
      [other.id, 'rule.created', 'C'],
    ],
  )
  t.equal(published.length, 4)
})

t.test('all faults of all rules are reported at once, each with its path', async (t) => {
  const file = {
    version: 1,
    rules: [
      { name: '', trigger: 'LEAD_CREATED', actions: [task()], id: newId() },
      rule('A', { conditions: [{ field: 'a', operator: 'same', value: 1 }], actions: [] }),
      rule('B', { trigger: 'LEAD_LOST' }),
      rule('B', { actions: [{ type: 'CREATE_TASK', config: { title: '{{a | shout}}' } }] }),
      'no rule',
      rule('C', { description: 'a\0' }),
      rule('D', { actions: [{ type: 'SEND_WEBHOOK', config: { url: 'https://a', body: deep(40) } }] }),
      rule('E', {
        actions: [{ type: 'SEND_WEBHOOK', config: { url: 'https://a', body: 'x'.repeat(262_144) } }],
      }),
    ],
    emailTemplates: [{ name: 'm' }, { name: 'n', html: '{{a' }, { name: 'n', text: 'x', subject: 'x' }],
  }
  const checked = checkRuleFile(file)
  const lines = 'faults' in checked ? checked.faults.map(({ field, message }) => `${field}: ${message}`) : []
  const expected = [
    /^rules\[0\]\.id: Unknown field\. Only the server sets it$/,
    /^rules\[0\]\.name: Must have at least 1 character$/,
    /^rules\[1\]\.conditions\[0\]\.operator: Unknown operator\. All: \/docs\/rules#clauses$/,
    /^rules\[1\]\.actions: Must have at least 1 item$/,
    /^rules\[2\]\.trigger: Invalid trigger type\. Nearest: DEAL_LOST$/,
    /^rules\[3\]\.actions\[0\]\.config\.title: .*shout/,
    /^rules\[4\]: Must be an object$/,
    /^rules\[5\]\.description: Contains a NUL character$/,
    /^rules\[6\]\.actions\[0\]\.config\.body(\.a)+: Nested deeper than 32 levels$/,
    /^rules\[7\]: Has more than 262144 bytes$/,
    /^emailTemplates\[0\]\.text: Required if there is no html$/,
    /^emailTemplates\[1\]\.html: /,
    /^emailTemplates\[2\]\.subject: Unknown field\. All: name, text, html$/,
    /^emailTemplates\[2\]\.name: emailTemplates\[1\] has the same name$/,
  ]
  for (const fault of expected) t.equal(lines.filter((line) => fault.test(line)).length, 1, String(fault))
  t.equal(lines.length, expected.length, lines.join('\n'))
})

t.test('a file that is no file of rules is refused with its fault', async (t) => {
  const files: [file: unknown, fault: object][] = [
    [null, { field: '', message: 'Must be an object' }],
    [[], { field: '', message: 'Must be an object' }],
    [{ rules: [] }, { field: 'version', message: 'Required' }],
    [
      { version: 2, rules: [] },
      { field: 'version', message: 'Must be one of 1' },
    ],
    [
      { version: 1, rules: {} },
      { field: 'rules', message: 'Must be a list' },
    ],
    [
      { version: 1, rules: [], templates: [] },
      { field: 'templates', message: 'Unknown field. Nearest: emailTemplates' },
    ],
    [
      { version: 1, rules: Array(1_001) },
      { field: 'rules', message: 'Must have at most 1000 items' },
    ],
  ]
  for (const [file, fault] of files) t.strictSame(checkRuleFile(file), { faults: [fault] })
})

t.test('a file has the place of a rule in its group, and the order of the file says nothing', async (t) => {
  const [one, other] = [await makeAdministrator(), await makeAdministrator()]
  const grouped = (name: string, order: number) => rule(name, { group: 'routing', order })
  await apply(one, fileOf([grouped('B', 10), grouped('A', 20), rule('C')]))
  const file = await exportRules(own(one))
  t.match(file.rules, [
    { name: 'A', group: 'routing', order: 20 },
    { name: 'B', group: 'routing', order: 10 },
    { name: 'C' },
  ])
  t.notOk('group' in (file.rules[2] ?? {}), 'a rule without a group has no such fields')
  await apply(other, { ...file, rules: file.rules.toReversed() })
  t.strictSame(await exportRules(own(other)), file)
  await apply(one, fileOf([grouped('B', 10), grouped('A', 30), rule('C')]))
  const versions = await own(one).rule.findMany({
    orderBy: { name: 'asc' },
    select: { version: true, order: true },
  })
  t.strictSame(versions, [
    { version: 2, order: 30 },
    { version: 1, order: 10 },
    { version: 1, order: null },
  ])
  await apply(one, fileOf([rule('B'), rule('A'), rule('C')]))
  t.equal(
    await own(one).rule.count({ where: { group: { not: null } } }),
    0,
    'a file without a group takes it away',
  )
  t.strictSame(checkRuleFile({ version: 1, rules: [rule('A', { group: 'a' })] }), {
    faults: [{ field: 'rules[0].order', message: 'Required with a group' }],
  })
})

t.test('a file names the mode of a shadow, and an import sets it', async (t) => {
  const [one, other] = [await makeAdministrator(), await makeAdministrator()]
  const shadow = rule('A', { mode: 'shadow' })
  await apply(one, fileOf([shadow, rule('B')]))
  const modes = async (administrator: Administrator) =>
    (await own(administrator).rule.findMany({ orderBy: { name: 'asc' } })).map(
      ({ mode, isActive }) => `${mode} ${isActive}`,
    )
  t.strictSame(await modes(one), ['shadow false', 'live true'])
  const file = await exportRules(own(one))
  t.match(file.rules, [
    { name: 'A', isActive: false, mode: 'shadow' },
    { name: 'B', isActive: true },
  ])
  await apply(other, file)
  t.strictSame(await modes(other), ['shadow false', 'live true'])
  await apply(one, fileOf([rule('A'), rule('B', { mode: 'shadow' })]))
  t.strictSame(await modes(one), ['shadow false', 'shadow false'], 'a file may leave the state as it is')
  await apply(one, fileOf([rule('A', { isActive: false }), rule('B', { isActive: true })]))
  t.strictSame(await modes(one), ['shadow false', 'shadow false'], 'isActive alone does not end a shadow')
  await apply(
    one,
    fileOf([rule('A', { mode: 'live', isActive: false }), rule('B', { mode: 'live', isActive: true })]),
  )
  t.strictSame(await modes(one), ['live false', 'live true'])
  t.strictSame(checkRuleFile({ version: 1, rules: [{ ...shadow, isActive: true }] }), {
    faults: [{ field: 'rules[0].isActive', message: 'A rule in shadow mode is not active' }],
  })
})

t.test('a file that was exported while a rule was live does not end its shadow', async (t) => {
  const one = await makeAdministrator()
  await apply(one, fileOf([rule('A')]))
  const file = await exportRules(own(one))
  await apply(one, fileOf([rule('A', { mode: 'shadow' })]))
  await apply(one, file)
  t.match(await own(one).rule.findMany(), [{ mode: 'shadow', isActive: false }])
})

t.test('an export with rules of one name creates the same rules elsewhere, and the same file', async (t) => {
  const [one, other] = [await makeAdministrator(), await makeAdministrator()]
  const alike = [
    rule('A', { description: 'z' }),
    rule('A', { description: 'a', isActive: false }),
    rule('A', { description: 'a', isActive: true }),
    rule('A', { description: 'a', isActive: true }),
  ]
  await apply(one, fileOf([...alike, rule('B')]))
  const file = await exportRules(own(one))
  t.strictSame(
    file.rules.map(({ name, description, isActive }) => [name, description, isActive]),
    [
      ['A', 'a', false],
      ['A', 'a', true],
      ['A', 'a', true],
      ['A', 'z', true],
      ['B', '', true],
    ],
  )
  t.strictSame(tell((await plan(one, fileOf(file.rules), true)).rules), [
    [],
    [],
    [],
    ['A', 'A', 'A', 'A', 'B'],
    [],
  ])
  await apply(other, fileOf(file.rules))
  t.strictSame(await exportRules(own(other)), file)
})

t.test('of rules of one name, the one that is removed from the file is deleted', async (t) => {
  const administrator = await makeAdministrator()
  const [x, y, z] = ['x', 'y', 'z'].map((description) => rule('A', { description }))
  await apply(administrator, fileOf([x ?? {}, y ?? {}, z ?? {}]))
  const [first, second, third] = await listRules(administrator)
  const changed = fileOf([z ?? {}, rule('A', { description: 'y2' })])
  const { rules } = await plan(administrator, changed, true)
  t.strictSame(rules.unchanged, ['A'])
  matchRows(t, rules.toChange, [{ found: { id: first?.id }, fields: { description: 'y2' } }])
  matchRows(t, rules.toDelete, [{ id: second?.id }])
  await apply(administrator, changed, true)
  matchRows(t, await listRules(administrator), [
    { id: first?.id, description: 'y2', version: 2 },
    { id: third?.id, description: 'z', version: 1 },
  ])
})

t.test('deletions of more than a third of the rules or of the templates need their number', async (t) => {
  const administrator = await makeAdministrator()
  const templates = ['m', 'n', 'o'].map((name) => ({ name, text: 'x' }))
  await apply(
    administrator,
    fileOf(
      ['A', 'B', 'C', 'D', 'E', 'F'].map((name) => rule(name)),
      templates,
    ),
  )
  const planOf = (names: string[], kept = templates) =>
    plan(
      administrator,
      fileOf(
        names.map((name) => rule(name)),
        kept,
      ),
      true,
    )
  const refuses = (some: ImportPlan, max: number | undefined, message: RegExp | undefined) =>
    message === undefined
      ? t.doesNotThrow(() => refuseExcessDeletions(some, max))
      : t.throws(() => refuseExcessDeletions(some, max), { code: 'limit_reached', message })
  const [two, three, all] = [
    await planOf(['A', 'B', 'C', 'D']),
    await planOf(['A', 'B', 'C', 'New', 'Newer', 'Newest']),
    await planOf([], []),
  ]
  refuses(two, undefined, undefined)
  refuses(three, undefined, /^The import would delete 3, more than a third of .* use maxDeletions 3$/)
  refuses(three, 3, undefined)
  refuses(three, 2, /^The import would delete 3, more than 2, /)
  refuses(all, undefined, /would delete 9, more than a third/)
  refuses(all, 9, undefined)
  refuses(await planOf(['A', 'B', 'C', 'D', 'E', 'F'], templates.slice(0, 1)), undefined, /would delete 2, /)
})

/** Changes the rule A as a request would. */
async function save(administrator: Administrator, fields: object): Promise<void> {
  await changeRules(administrator, async (transaction) => {
    const found = await transaction.rule.findFirstOrThrow({ where: { name: 'A' } })
    await saveRules(transaction, administrator, [{ found, fields }])
    return { result: undefined, entry: { action: 'rule.updated', subject: found.id } }
  })
}

function make(administrator: Administrator, name: string) {
  const place = { labels: [], group: null, order: null, schedule: null, perKey: null }
  const fields = { ...rule(name), ...place, description: '', conditions: [], isActive: true, mode: 'live' }
  return changeRules(administrator, async (transaction) => {
    return { result: await createRules(transaction, administrator, [fields]), entry: undefined }
  })
}

async function remove(administrator: Administrator, name: string): Promise<void> {
  await changeRules(administrator, async (transaction) => {
    const { id } = await transaction.rule.findFirstOrThrow({ where: { name } })
    await deleteRules(transaction, administrator.workspaceId, [id])
    return { result: undefined, entry: undefined }
  })
}

async function changeTemplate(administrator: Administrator): Promise<void> {
  const { id } = await own(administrator).emailTemplate.findFirstOrThrow()
  await updateEmailTemplate(administrator, id, { text: 'Mine' })
}

/** Everything that an import could have changed. */
async function everything(administrator: Administrator) {
  const tables = own(administrator)
  return [
    await listRules(administrator),
    await tables.ruleVersion.count(),
    await tables.emailTemplate.findMany({ orderBy: { id: 'asc' } }),
    await listLog(administrator),
    await countRulesVersion(administrator),
  ]
}

function deep(levels: number): unknown {
  return levels === 0 ? 1 : { a: deep(levels - 1) }
}
