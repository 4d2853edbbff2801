import t, { type Test } from 'tap'
import type { ApiError } from '../src/api-error.js'
import { createClient } from '../src/create-client.js'
import { openFlakyServer } from './fixtures/flaky-server.js'

async function failWith(t: Test, error: string, headers: Record<string, string>, status = 403) {
  const { baseUrl } = await openFlakyServer(t, [], { status, headers, body: { error } })
  return createClient({ baseUrl, retries: 0 })
    .rules.get('x')
    .then(
      () => t.fail('it is refused'),
      (refusal: ApiError) => refusal,
    )
}

t.test('a refusal says what the API says in its headers', async (t) => {
  const bearer = 'Bearer realm="automation", error="insufficient_scope"'
  t.match(
    await failWith(t, 'Access denied', {
      'x-error-code': 'access_denied',
      'www-authenticate': `${bearer}, error_description="The role editor is needed", scope="rules:write"`,
    }),
    {
      code: 'access_denied',
      hint: 'The role editor is needed',
      message: 'Access denied: the role editor is needed',
    },
  )
  t.match(
    await failWith(t, 'Invalid trigger type', {
      'x-error-code': 'invalid_trigger_type',
      link: '</docs/rules#events>; rel="help"; title="Nearest: LEAD_CREATED, DEAL_CREATED"',
    }),
    { hint: 'Did you mean LEAD_CREATED?', message: 'Invalid trigger type. Did you mean LEAD_CREATED?' },
  )
})

t.test(
  'a code of a later version is passed on, and without headers there is neither code nor hint',
  async (t) => {
    const later = await failWith(t, 'No', { 'x-error-code': 'made_in_2030' }, 409)
    t.match(later, { status: 409, code: 'made_in_2030', hint: undefined, message: 'No' })
    t.match(await failWith(t, 'No', {}), { code: undefined, hint: undefined, message: 'No' })
  },
)

t.test('what is no hint of the API is left out', async (t) => {
  for (const headers of [
    { 'www-authenticate': 'Basic realm="x"' },
    { 'www-authenticate': `Bearer error_description="${'x'.repeat(1_000)}"` },
    { link: '</next>; rel="next"' },
  ])
    t.match(await failWith(t, 'Access denied', headers), { hint: undefined, message: 'Access denied' })
})

t.test('what stands in front of the API has no code', async (t) => {
  const { baseUrl } = await openFlakyServer(t, [], {
    status: 403,
    headers: { 'x-error-code': 'proxy_says_no', 'www-authenticate': 'Bearer error_description="Log in"' },
    body: 'Forbidden',
  })
  await t.rejects(createClient({ baseUrl, retries: 0 }).rules.get('x'), {
    code: undefined,
    hint: undefined,
    message: 'Not a response of the API: 403',
  })
})
