import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { decodeJwt } from 'jose'
import Provider from 'oidc-provider'
import t from 'tap'
import { type Console, consoleUrl, openUpstream, readCookiePair, startConsole } from './fixtures/console.js'

const audience = 'https://rules.example'

/** A real identity provider on this machine. Its development pages accept any login. */
async function startProvider(owner: { teardown(close: () => unknown): void }, { tokenSeconds = 600 } = {}) {
  const server = createServer()
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const provider = new Provider(issuer, {
    clients: [
      {
        client_id: 'console',
        client_secret: 'a secret of the provider',
        redirect_uris: [`${consoleUrl}/session/oidc/callback`],
        grant_types: ['authorization_code', 'refresh_token'],
        response_types: ['code'],
      },
    ],
    pkce: { required: () => true },
    cookies: { keys: ['a key of tests'] },
    ttl: {
      AccessToken: tokenSeconds,
      IdToken: 600,
      RefreshToken: 3_600,
      Grant: 3_600,
      Session: 3_600,
      Interaction: 600,
    },
    rotateRefreshToken: true,
    issueRefreshToken: () => true,
    features: {
      devInteractions: { enabled: true },
      resourceIndicators: {
        enabled: true,
        defaultResource: () => audience,
        useGrantedResource: () => true,
        getResourceServerInfo: () => ({
          scope: 'openid',
          audience,
          accessTokenFormat: 'jwt',
          accessTokenTTL: tokenSeconds,
        }),
      },
    },
  } as never)
  server.on('request', provider.callback())
  owner.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  return issuer
}

function settingsOf(issuer: string, apiUrl: string) {
  return {
    CONSOLE_API_URL: apiUrl,
    CONSOLE_OIDC_ISSUER: issuer,
    CONSOLE_OIDC_CLIENT_ID: 'console',
    CONSOLE_OIDC_CLIENT_SECRET: 'a secret of the provider',
    CONSOLE_OIDC_SCOPE: 'openid offline_access',
    CONSOLE_OIDC_AUDIENCE: audience,
  }
}

/** Goes to the provider as a browser does: follows redirects, keeps cookies, logs in and consents. Returns the way back. */
async function visitProvider(start: string): Promise<URL> {
  const cookies = new Map<string, string>()
  let url = new URL(start)
  let body: URLSearchParams | undefined
  for (let steps = 0; steps < 12; steps++) {
    if (url.origin === consoleUrl) return url
    const response: Response = await fetch(url, {
      redirect: 'manual',
      ...(body && { method: 'POST', body }),
      headers: { cookie: [...cookies].map(([name, value]) => `${name}=${value}`).join('; ') },
    })
    for (const cookie of response.headers.getSetCookie()) {
      const [name = '', value = ''] = (cookie.split(';')[0] ?? '').split('=')
      cookies.set(name, value)
    }
    const location = response.headers.get('location')
    body = undefined
    if (location !== null) url = new URL(location, url)
    else {
      const page = await response.text()
      const action = /action="([^"]+)"/.exec(page)?.[1] ?? ''
      const prompt = /name="prompt" value="([^"]+)"/.exec(page)?.[1] ?? ''
      url = new URL(action.replaceAll('&amp;', '&'), url)
      body = new URLSearchParams({ prompt, login: 'ada', password: 'x' })
    }
  }
  throw new Error('The provider did not send the browser back')
}

async function begin({ ask }: Console, next = '/w/1/runs?status=failed') {
  const response = await ask(`/session/oidc?next=${encodeURIComponent(next)}`)
  return { target: String(response.headers.location), visit: readCookiePair(response.headers['set-cookie']) }
}

/** The browser comes back from another site. */
function comeBack({ ask }: Console, back: URL, cookie: string) {
  return ask(back.pathname + back.search, { headers: { cookie, 'sec-fetch-site': 'cross-site' } })
}

const findSession = (header: string | string[] | number | undefined) =>
  [header]
    .flat()
    .map(String)
    .find((one) => one.startsWith('rules-console-3003='))

t.test('a user signs in with a real provider, and lands where they wanted to go', async (t) => {
  const upstream = await openUpstream(t)
  const console = await startConsole(t, settingsOf(await startProvider(t), upstream.url))
  const { target, visit } = await begin(console)
  const asked = new URL(target).searchParams
  t.match(Object.fromEntries(asked), {
    code_challenge_method: 'S256',
    response_type: 'code',
    resource: audience,
  })
  for (const name of ['state', 'nonce', 'code_challenge']) t.ok((asked.get(name) ?? '').length > 20, name)
  const response = await comeBack(console, await visitProvider(target), visit)
  t.equal(response.statusCode, 302, String(response.headers.location))
  t.equal(response.headers.location, '/w/1/runs?status=failed')
  const session = findSession(response.headers['set-cookie'])
  t.match(session, /HttpOnly; SameSite=Strict/)
  await console.ask('/api/me', { headers: { cookie: session?.split(';')[0] } })
  const bearer = String(upstream.arrivals.at(-1)?.headers.authorization).slice('Bearer '.length)
  t.match(decodeJwt(bearer), { aud: audience, sub: 'ada' }, 'the API gets a token for its audience')
})

t.test('an answer without its question, or for another one, signs nobody in', async (t) => {
  const upstream = await openUpstream(t)
  const console = await startConsole(t, settingsOf(await startProvider(t), upstream.url))
  const first = await begin(console)
  const second = await begin(console)
  const back = await visitProvider(first.target)
  for (const [name, cookie] of [
    ['no cookie', ''],
    ['the cookie of another visit', second.visit],
    ['a changed cookie', `${first.visit.slice(0, -2)}xx`],
  ] as const) {
    const response = await comeBack(console, back, cookie)
    t.equal(response.headers.location, '/sign-in?problem=refused', name)
    t.notOk(findSession(response.headers['set-cookie']), name)
  }
})

t.test('a token that ends is replaced once, for all requests of that moment', async (t) => {
  const upstream = await openUpstream(t)
  // The token ends within the 30 seconds ahead of which it is replaced.
  const console = await startConsole(
    t,
    settingsOf(await startProvider(t, { tokenSeconds: 20 }), upstream.url),
  )
  const { target, visit } = await begin(console)
  const response = await comeBack(console, await visitProvider(target), visit)
  const cookie = findSession(response.headers['set-cookie'])?.split(';')[0]
  const answers = await Promise.all(
    [1, 2, 3].map((id) => console.ask(`/api/events/${id}`, { headers: { cookie } })),
  )
  const bearers = new Set(upstream.arrivals.map(({ headers }) => headers.authorization))
  t.equal(bearers.size, 1, 'a provider may accept a refresh token once')
  for (const { headers } of answers) t.ok(headers['set-cookie'], 'the browser gets the new token')
})

t.test('while the provider is away, the sign-in says so', async (t) => {
  const console = await startConsole(t, settingsOf('http://127.0.0.1:1', 'http://127.0.0.1:1'))
  t.equal((await begin(console)).target, '/sign-in?problem=provider-away')
})
