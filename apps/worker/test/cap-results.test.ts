import type { ActionResult } from '@automation/engine'
import { matchLists } from '@automation/launcher/match-lists'
import { capError, capResults, maxErrorLength, maxResultsBytes } from '@automation/ledger'
import fc from 'fast-check'
import t from 'tap'
import { createHarness } from './fixtures/harness.js'

const time = '2026-01-01T00:00:00.000Z'
const bytesOf = (json: unknown) => Buffer.byteLength(JSON.stringify(json))

/** The largest possible results: twenty calls with twenty attempts each, all with the longest text of a response. */
function worstResults(text: string): ActionResult[] {
  const answer = { statusCode: 500, body: text.repeat(1_000) }
  return Array.from({ length: 20 }, () => ({
    action: 'SEND_WEBHOOK',
    status: 'failed',
    error: text.repeat(500),
    output: answer,
    warnings: Array.from({ length: 200 }, (_, index) => `${text.repeat(490)}${index} is missing`),
    failures: 20,
    attempts: Array.from({ length: 20 }, () => ({
      startedAt: time,
      finishedAt: time,
      error: text.repeat(500),
      output: answer,
    })),
  }))
}

t.test('results that fit are stored as they are', async (t) => {
  const results: ActionResult[] = [
    { action: 'CREATE_TASK', status: 'success' },
    {
      action: 'SEND_WEBHOOK',
      status: 'failed',
      error: 'HTTP 500',
      warnings: ['name is missing'],
      attempts: [{ startedAt: time }],
    },
  ]
  t.equal(capResults(results), results)
  const [large] = worstResults('x')
  const manyAttempts = { ...large, warnings: [] } as ActionResult
  t.equal(capResults([manyAttempts])[0], manyAttempts, 'one action with all its attempts fits whole')
})

t.test('of many recipients that were refused, some are kept', async (t) => {
  const refused = Array.from({ length: 150 }, (_, n) => `${n}${'x'.repeat(310)}@x.io`)
  const mail = (count: number): ActionResult[] =>
    Array.from({ length: count }, () => ({
      action: 'SEND_EMAIL',
      status: 'success',
      output: { messageId: '<1>', refused },
      to: refused,
      warnings: ['The mail server refused 150 of 151 recipients: 550 no'],
      attempts: [{ startedAt: time, output: { messageId: '<1>', refused } }],
    }))
  t.strictSame(capResults(mail(1))[0]?.output, {
    messageId: '<1>',
    refused: refused.slice(0, 10).map((one) => `${one.slice(0, 100)}… cut`),
  })
  const capped = capResults(mail(20))
  t.ok(bytesOf(capped) <= maxResultsBytes)
  t.match(capped[19], {
    output: { messageId: '<1>', refused: [/^0x+… cut$/] },
    to: [/^0x+… cut$/],
    warnings: [/150 of 151/],
  })
})

t.test('long errors are cut, also where nothing else is large', async (t) => {
  const error = '漢'.repeat(1_600)
  const results = Array.from({ length: 20 }, () => ({
    action: 'CREATE_TASK' as const,
    status: 'failed' as const,
    error,
  }))
  t.ok(bytesOf(results) > maxResultsBytes)
  const capped = capResults(results)
  t.ok(bytesOf(capped) <= maxResultsBytes, `${bytesOf(capped)} bytes`)
  t.equal(capped.length, 20)
  for (const result of capped) t.match(result, { status: 'failed', error: /^漢+… cut$/ })
})

t.test('megabytes of any text are cut to 64 KiB, and unfinished results stay', async (t) => {
  for (const text of ['x', '漢', '\uD800']) {
    const results = worstResults(text)
    t.ok(bytesOf(results) > 2_000_000, `${text}: ${bytesOf(results)} bytes without the cap`)
    const capped = capResults(results)
    t.ok(bytesOf(capped) <= maxResultsBytes, `${bytesOf(capped)} bytes with it`)
    matchLists(
      t,
      capped,
      results.map(({ action, status, failures }) => ({ action, status, failures })),
    )
    for (const { error, warnings, attempts } of capped) {
      t.match(error, /… cut$/)
      t.equal(warnings?.at(-1), 'More warnings were cut')
      t.match(attempts?.at(-1), {
        startedAt: time,
        finishedAt: time,
        output: { statusCode: 500, body: /… cut$/ },
      })
    }
    t.same(capResults(capped), capped, 'a second cut changes nothing')
  }
})

t.test('captured values stay, whatever else has to go, and the limit holds', async (t) => {
  const values = (name: string) => ({ [name.repeat(64)]: '漢'.repeat(1_364) })
  for (const text of ['x', '漢', '\uD800']) {
    const results = worstResults(text).map((result, index) =>
      index % 2 === 0 ? { ...result, captured: values('abcdefghij'[index / 2] as string) } : result,
    )
    const capped = capResults(results)
    t.ok(bytesOf(capped) <= maxResultsBytes, `${bytesOf(capped)} bytes`)
    t.ok(bytesOf(capped.map(({ captured }) => captured)) > 40_000, 'of which most are values')
    for (const [index, { captured, attempts, error }] of capped.entries()) {
      t.strictSame(captured, results[index]?.captured)
      t.equal(attempts?.length, 1)
      t.match(error, /… cut$/)
    }
  }
})

t.test('megabytes are not written as JSON before they are cut', async (t) => {
  for (const large of ['error', 'warnings', 'attempts'] as const) {
    let written = 0
    const toJSON = () => {
      written++
      return {}
    }
    const [worst] = worstResults('x')
    const text = 'x'.repeat(maxResultsBytes + 1)
    const texts = {
      error: { error: text },
      warnings: { warnings: [text] },
      attempts: { attempts: [{ startedAt: time, error: text }] },
    }
    const capped = capResults([
      { ...worst, output: { toJSON }, warnings: [], attempts: [], ...texts[large] } as ActionResult,
    ])
    t.equal(written, 1, `${large}: only what was cut`)
    t.ok(bytesOf(capped) <= maxResultsBytes)
  }
})

t.test('results are always stored: 64 KiB at most, with the status of every action', async (t) => {
  const text = fc.string({ maxLength: 3_000, unit: 'binary' }).map((text) => text.replaceAll(/\p{Cc}/gu, ' '))
  const attempt = fc.record(
    { startedAt: fc.constant(time), error: text, output: fc.record({ statusCode: fc.nat(), body: text }) },
    { requiredKeys: ['startedAt'] },
  )
  const result = fc.record(
    {
      action: fc.constant('SEND_WEBHOOK'),
      status: fc.constantFrom('success', 'failed', 'retrying', 'running'),
      error: text,
      warnings: fc.array(text, { maxLength: 50 }),
      failures: fc.nat(),
      until: fc.constant(time),
      attempts: fc.array(attempt, { minLength: 1, maxLength: 20 }),
    },
    { requiredKeys: ['action', 'status'] },
  )
  const kept = ({ action, status, failures, until, attempts }: ActionResult) => ({
    action,
    status,
    failures,
    until,
    begun: attempts?.at(-1)?.startedAt,
  })
  fc.assert(
    fc.property(fc.array(result as fc.Arbitrary<ActionResult>, { maxLength: 20 }), (results) => {
      const before = JSON.stringify(results)
      const capped = capResults(results)
      t.strictSame(capped.map(kept), results.map(kept))
      if (bytesOf(capped) > maxResultsBytes) t.fail(`${bytesOf(capped)} bytes`)
      if (JSON.stringify(results) !== before) t.fail('the run itself is changed')
    }),
    { numRuns: 20 },
  )
})

t.test('the error of an execution is cut to a thousand characters, with a mark', async (t) => {
  t.equal(capError(null), null)
  t.equal(capError('HTTP 500'), 'HTTP 500')
  t.equal(capError('x'.repeat(5_000)), `${'x'.repeat(maxErrorLength)}… cut`)
})

t.test('a result of exactly the maximum size is stored whole, and one byte more is cut', async (t) => {
  const result = (length: number): ActionResult[] => [
    { action: 'SEND_WEBHOOK', status: 'failed', warnings: ['x'.repeat(length)] },
  ]
  const room = maxResultsBytes - bytesOf(result(0))
  const fitting = result(room)
  t.equal(bytesOf(fitting), maxResultsBytes)
  t.equal(capResults(fitting), fitting)
  t.strictSame(
    capResults(result(room + 1))[0]?.warnings,
    [`${'x'.repeat(500)}… cut`],
    'no warning was left out',
  )
})

t.test('the last attempts are kept, and a result without warnings is cut, too', async (t) => {
  const output = { statusCode: 500, body: 'x'.repeat(1_000) }
  const error = 'x'.repeat(500)
  const attempts = Array.from({ length: 20 }, (_, index) => ({ startedAt: `${index}`, error, output }))
  const result: ActionResult = {
    action: 'SEND_WEBHOOK',
    status: 'failed',
    output: null,
    failures: 20,
    attempts,
  }
  const capped = capResults(Array.from({ length: 20 }, () => result))
  t.ok(bytesOf(capped) <= maxResultsBytes)
  const kept = capped[0]?.attempts ?? []
  t.ok(kept.length > 0 && kept.length < 20)
  t.strictSame(
    kept.map(({ startedAt }) => startedAt),
    attempts.slice(-kept.length).map(({ startedAt }) => startedAt),
  )
  t.equal(capped[0]?.output, null)
})

t.test('a text is cut only if the result is shorter, and never within a character', async (t) => {
  const barely = 'x'.repeat(maxErrorLength + '… cut'.length)
  t.equal(capError(barely), barely)
  t.equal(capError(`${barely}x`), `${'x'.repeat(maxErrorLength)}… cut`)
  t.equal(
    capError(`${'x'.repeat(maxErrorLength - 1)}${'😀'.repeat(9)}`),
    `${'x'.repeat(maxErrorLength - 1)}😀… cut`,
  )
  const emoji = '😀'.repeat(maxErrorLength + '… cut'.length)
  t.equal(capError(emoji), emoji)
  const cut = capError(`${emoji}x`)
  t.equal(cut, `${'😀'.repeat(maxErrorLength)}… cut`)
  t.equal(capError(cut), cut)
})

t.test('the warnings about missing placeholders are capped', async (t) => {
  const harness = await createHarness(t)
  const path = (index: number) => `${'p'.repeat(480)}${index}`
  const body = Object.fromEntries(
    Array.from({ length: 190 }, (_, index) => [`k${index}`, `{{${path(index)}}}`]),
  )
  const ruleId = await harness.createRule([
    { type: 'EMIT_EVENT', config: { eventType: 'DEAL_WON', data: body } },
    { type: 'CREATE_TASK', config: { title: 'Call {{name | default: "her"}}' } },
  ])
  harness.startWorker()
  const { results } = await harness.untilStatus(await harness.trigger(ruleId), 'succeeded')
  t.ok(bytesOf(results) <= maxResultsBytes, `${bytesOf(results)} bytes`)
  const [{ warnings = [] } = {}] = results as unknown as ActionResult[]
  t.equal(warnings.length, 21)
  t.equal(warnings[0], `${path(0)} is missing`)
  t.equal(warnings.at(-1), 'More warnings were cut')
})
