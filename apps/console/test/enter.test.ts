import { findFreePort } from '@automation/launcher'
import { openBrowser } from '@automation/launcher/open-browser'
import { mintLink } from '@automation/process/sign-in'
import t from 'tap'
import { openApiInTrouble } from './fixtures/api-in-trouble.js'
import { secret, startConsole } from './fixtures/console.js'

const tokenOf = (sub: string) => `e30.${Buffer.from(JSON.stringify({ sub })).toString('base64url')}.x`

t.test('a link of somebody else asks in the browser, and its key goes nowhere else', async (t) => {
  const referers: unknown[] = []
  const api = await openApiInTrouble(t, ({ headers }, response) => {
    referers.push(headers.referer)
    const [, claims = ''] = String(headers.authorization).split('.')
    const { sub } = JSON.parse(Buffer.from(claims, 'base64url').toString())
    response.setHeader('content-type', 'application/json')
    response.end(JSON.stringify({ actor: `user:${sub}`, userId: sub, scopes: null, workspaces: [] }))
  })
  const port = await findFreePort()
  const consoleUrl = `http://127.0.0.1:${port}`
  const { app } = await startConsole(t, { CONSOLE_API_URL: api.url, CONSOLE_URL: consoleUrl })
  await app.listen({ host: '127.0.0.1', port })
  const mint = (sub: string) => mintLink({ consoleUrl, secret, bearer: tokenOf(sub), lifetimeSeconds: 60 })
  const { page, complaints } = await (await openBrowser(t)).visit()
  const urls: string[] = []
  page.on('request', (request) => urls.push(request.url(), request.headers().referer ?? ''))

  await page.goto(await mint('ada'))
  await page.locator('code', { hasText: /^ada$/ }).waitFor()
  const link = await mint('eve')
  await page.goto(link)
  await page
    .getByText('You are signed in as ada. This link signs you out, and signs you in as eve.')
    .waitFor()
  t.equal(page.url(), `${consoleUrl}/enter`, 'the key is gone from the address')
  await page.getByRole('button', { name: 'Stay signed in' }).click()
  await page.locator('code', { hasText: /^ada$/ }).waitFor()
  await page.goto(link)
  await page.getByRole('button', { name: 'Use the link' }).click()
  await page.locator('code', { hasText: /^eve$/ }).waitFor()
  const key = link.split('#')[1] ?? ''
  // Chromium reports a navigation with its fragment, which it sends to nobody.
  t.notOk(urls.some((url) => url !== link && url.includes(key)))
  t.ok(referers.every((referer) => referer === undefined))
  t.strictSame(
    complaints.filter((one) => !one.includes('409')),
    [],
  )
})
