import { newId } from '@automation/database'
import t from 'tap'
import { ruleBody, rules, startApi, task } from './fixtures/api.js'
import { limited, openSession } from './fixtures/embed.js'
import { storeEvent, storeExecution, storeNewVersion } from './fixtures/history.js'

const api = await startApi(t)
const pages = ['rules', 'executions', 'events', 'decisions', 'tasks']
const webhook = { type: 'SEND_WEBHOOK', config: { url: 'https://example.com' } }
const allow = {
  triggers: ['LEAD_CREATED', 'LEAD_UPDATED'],
  actions: ['CREATE_TASK', 'EMIT_EVENT', 'WAIT'],
  credentials: [],
}
const later = { prefer: 'respond-async' }

async function makeSite(wished: object = {}) {
  const workspace = await api.makeWorkspace()
  const create = async (fields: Record<string, unknown> = {}) => {
    const { status, body } = await workspace.call<{ id: string }>('POST', rules, { body: ruleBody(fields) })
    if (status !== 201) throw new Error(`${status} ${JSON.stringify(body)}`)
    return body.id
  }
  const session = await openSession(api, workspace, { pages, publish: true, allow, ...wished })
  return { workspace, create, session: session.call }
}

/** What each of these consists of that `allow` has not, and where. */
const forbidden: [path: RegExp, fields: Record<string, unknown>][] = [
  [/actions\[0\]\.type: SEND_WEBHOOK/, { actions: [webhook] }],
  [/actions\[1\]\.type: SEND_WEBHOOK/, { actions: [task, webhook] }],
  [/trigger: DEAL_WON/, { trigger: 'DEAL_WON' }],
  [
    /actions\[0\]\.config\.eventType: DEAL_WON/,
    { actions: [{ type: 'EMIT_EVENT', config: { eventType: 'DEAL_WON' } }] },
  ],
  [
    /actions\[0\]\.config\.for\.eventType: DEAL_WON/,
    {
      actions: [
        {
          type: 'WAIT',
          config: { duration: '1d', for: { eventType: 'DEAL_WON', match: { id: '{{id}}' }, then: 'go_on' } },
        },
        task,
      ],
    },
  ],
  [/trigger: SCHEDULE/, { trigger: 'SCHEDULE', schedule: { every: '1h' } }],
]

t.test('a rule with anything that is not allowed is neither made, changed nor drafted', async (t) => {
  const { workspace, create, session } = await makeSite()
  const own = await create()
  for (const [path, fields] of forbidden) {
    const body = ruleBody({ isActive: false, ...fields })
    const { isActive: _, ...draft } = body as Record<string, unknown>
    const asked = {
      create: await session<{ error: string }>('POST', rules, { body }),
      put: await session<{ error: string }>('PUT', `${rules}/${own}`, { body: fields }),
      patch: await session<{ error: string }>('PATCH', `${rules}/${own}`, { body: fields }),
      draft: await session<{ error: string }>('PUT', `${rules}/${own}/draft`, { body: draft }),
    }
    for (const [way, answer] of Object.entries(asked)) {
      t.match(answer, limited, `${way} ${path}`)
      t.match(answer.body.error, path, way)
    }
  }
  t.match(await workspace.database.rule.findMany(), [{ id: own, version: 1 }], 'nothing has changed')
  t.equal(await workspace.database.ruleDraft.count(), 0)
  t.equal((await session('PATCH', `${rules}/${own}`, { body: { name: 'Mine' } })).status, 200)
  t.equal((await session('POST', rules, { body: ruleBody({ trigger: 'LEAD_UPDATED' }) })).status, 201)
})

t.test('a rule of others with anything that is not allowed can be read, and not be touched', async (t) => {
  const { workspace, create, session } = await makeSite()
  for (const [path, fields] of forbidden) {
    const id = await create(fields)
    t.equal((await session('GET', `${rules}/${id}`)).status, 200)
    t.equal(
      (await session('POST', `${rules}/${id}/execute`, { body: { data: {}, dryRun: true } })).status,
      200,
      'a dry run changes nothing',
    )
    const { isActive: _, ...draft } = ruleBody() as Record<string, unknown>
    await workspace.call('PUT', `${rules}/${id}/draft`, { body: draft })
    for (const [method, way, body] of [
      ['PATCH', '', { name: 'x' }],
      // Even what would make it harmless: it is not theirs.
      ['PATCH', '', ruleBody()],
      ['PUT', '', { isActive: false }],
      ['DELETE', ''],
      ['POST', '/clone'],
      ['PATCH', '/toggle'],
      ['POST', '/activate'],
      ['POST', '/deactivate'],
      ['POST', '/execute', { data: {} }],
      ['POST', '/versions/1/restore'],
      ['PUT', '/draft', draft],
      ['DELETE', '/draft'],
      ['POST', '/draft/promote'],
    ] as const) {
      const answer = await session<{ error: string }>(method, `${rules}/${id}${way}`, body ? { body } : {})
      t.match(answer, limited, `${method} ${way}`)
      t.match(answer.body.error, path, `${method} ${way}`)
    }
    t.match(await workspace.database.rule.findUnique({ where: { id } }), { version: 1, isActive: true })
    await workspace.call('DELETE', `${rules}/${id}`)
  }
})

t.test('a group with a rule of others is not reordered', async (t) => {
  const { create, session } = await makeSite()
  const theirs = await create({ actions: [webhook], group: 'g', order: 1 })
  const own = await create({ group: 'g', order: 2 })
  t.match(await session('PUT', `${rules}/groups/g`, { body: { ruleIds: [own, theirs] } }), limited)
})

t.test('a draft and an old version of others are not made live', async (t) => {
  const { workspace, create, session } = await makeSite()
  const id = await create()
  const { isActive: _, ...draft } = ruleBody({ actions: [webhook] }) as Record<string, unknown>
  await workspace.call('PUT', `${rules}/${id}/draft`, { body: draft })
  t.match(await session('POST', `${rules}/${id}/draft/promote`), limited, 'the draft')
  t.match(
    await session('PUT', `${rules}/${id}/draft`, { body: ruleBody() }),
    limited,
    'nor is it overwritten',
  )
  t.match(await session('DELETE', `${rules}/${id}/draft`), limited)
  t.equal((await session('GET', `${rules}/${id}/draft`)).status, 200, 'it can be read')
  await workspace.call('POST', `${rules}/${id}/draft/promote`)
  await workspace.call('PATCH', `${rules}/${id}`, { body: { actions: [task] } })
  t.match(await session('POST', `${rules}/${id}/versions/2/restore`), limited, 'the old version')
  t.equal(
    (await session('PATCH', `${rules}/${id}`, { body: { name: 'x' } })).status,
    200,
    'the present one is allowed',
  )
  t.equal((await session('POST', `${rules}/${id}/versions/1/restore`)).status, 200, 'and so is the first')
})

t.test('executions and events of others are not retried, replayed or posted', async (t) => {
  const { workspace, create, session } = await makeSite()
  const theirs = await create({ actions: [webhook] })
  const own = await create()
  const event = await storeEvent(workspace, { ruleIds: [theirs, own] })
  const failed = await storeExecution(workspace, event, theirs, { status: 'failed' })
  const ownFailed = await storeExecution(workspace, event, own, { status: 'failed' })
  const retry = (id: string, body: object = {}) => session('POST', `/api/executions/${id}/retry`, { body })
  t.match(await retry(failed.id), limited)
  t.match(await session('POST', `/api/executions/${failed.id}/cancel`), limited)
  t.match(
    await session('POST', `/api/events/${event.id}/replay`, { headers: later }),
    limited,
    'it would run theirs too',
  )
  t.match(
    await session('POST', `/api/events/${event.id}/replay`, { headers: later, body: { rules: [theirs] } }),
    limited,
  )
  const replay = await session('POST', `/api/events/${event.id}/replay`, {
    headers: later,
    body: { rules: [own] },
  })
  t.equal(replay.status, 202, 'their own alone')
  const addressed = await storeEvent(workspace, { addresseeKind: 'rule', addresseeId: theirs })
  t.match(await session('POST', `/api/events/${addressed.id}/replay`, { headers: later }), limited)

  const post = (type: string, more: object = {}) =>
    session('POST', '/api/events', { headers: later, body: { type, data: {}, ...more } })
  t.match(await post('LEAD_CREATED'), limited, 'it would run theirs')
  t.match(
    await session('POST', `${rules}/trigger/LEAD_CREATED`, { headers: later, body: { data: {} } }),
    limited,
  )
  t.equal((await post('LEAD_UPDATED')).status, 202)
  t.match(await post('DEAL_WON'), limited, 'not in allow.triggers')
  t.equal((await post('LEAD_CREATED', { dryRun: true })).status, 200)

  // It was theirs when it began, and its rule is harmless now.
  const changed = await create({ actions: [webhook] })
  await storeNewVersion(workspace, changed, [task])
  const old = await storeExecution(workspace, await storeEvent(workspace), changed, { status: 'failed' })
  t.match(await retry(old.id), limited, 'the version that it goes on with')
  t.match(await retry(old.id, { version: 'latest' }), limited)
  t.equal((await retry(ownFailed.id)).status, 202)
})

t.test('credentials are found in every text of every action', async (t) => {
  const { create, session } = await makeSite({ allow: { credentials: ['CRM'] } })
  const own = await create()
  const uses: [path: RegExp, actions: object[]][] = [
    [
      /actions\[0\]\.config\.headers\.authorization/,
      [{ ...webhook, config: { ...webhook.config, headers: { authorization: '{{credentials.BILLING}}' } } }],
    ],
    [
      /actions\[0\]\.config\.url/,
      [{ ...webhook, config: { url: 'https://example.com/{{ credentials.BILLING }}' } }],
    ],
    [
      /actions\[1\]\.config\.body/,
      [
        task,
        {
          ...webhook,
          config: {
            ...webhook.config,
            body: { a: [{ b: 'x {{credentials.CRM}} {{credentials.BILLING}}' }] },
          },
        },
      ],
    ],
    [
      /actions\[0\]\.config\.url/,
      [
        {
          type: 'SEND_NOTIFICATION',
          config: { url: 'https://example.com/{{credentials.BILLING}}', text: 'x' },
        },
      ],
    ],
  ]
  for (const [path, actions] of uses) {
    const answer = await session<{ error: string }>('PATCH', `${rules}/${own}`, { body: { actions } })
    t.match(answer, limited, JSON.stringify(actions))
    t.match(answer.body.error, path)
    t.match(answer.body.error, /BILLING is not in allow\.credentials/)
  }
  const actions = [
    { ...webhook, config: { ...webhook.config, headers: { authorization: '{{credentials.CRM}}' } } },
  ]
  t.equal((await session('PATCH', `${rules}/${own}`, { body: { actions } })).status, 200)
})

t.test('a part of allow that is left out is not limited, and an empty one has nothing', async (t) => {
  const { session } = await makeSite({ allow: { actions: [] } })
  t.match(await session('POST', rules, { body: ruleBody() }), limited)
  const open = await makeSite({ allow: {} })
  t.equal(
    (await open.session('POST', rules, { body: ruleBody({ trigger: 'DEAL_WON', actions: [webhook] }) }))
      .status,
    201,
  )
  t.equal((await open.session('GET', `${rules}/${newId()}`)).status, 404)
})
