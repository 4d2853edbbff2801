import { execFile } from 'node:child_process'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import type { TLSSocket } from 'node:tls'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import type { Effect } from '@automation/engine'
import t, { type Test } from 'tap'
import { createCertificate } from './fixtures/certificate.js'
import { context, openSender, webhook } from './fixtures/outbound.js'

const certificate = createCertificate('hooks.example')
const caller = fileURLToPath(new URL('fixtures/secure-call.js', import.meta.url))

/** A web server with a certificate for hooks.example and 127.0.0.1. */
async function serveSecurely(t: Test) {
  const seen = { connections: 0, names: [] as unknown[], bodies: [] as string[], port: 0 }
  const server = createServer(certificate, async (request, response) => {
    let body = ''
    for await (const chunk of request) body += chunk
    seen.names.push((request.socket as TLSSocket).servername)
    seen.bodies.push(body)
    response.end('ok')
  })
  server.on('connection', () => {
    seen.connections += 1
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  seen.port = (server.address() as AddressInfo).port
  t.teardown(() => {
    server.close()
    server.closeAllConnections()
  })
  return seen
}

t.test('TLS uses the host of the URL on the checked connection, which is kept alive', async (t) => {
  const server = await serveSecurely(t)
  const trusted = `${t.testdir({ 'ca.pem': certificate.cert })}/ca.pem`
  const urls = [`hooks.example`, `hooks.example`, '127.0.0.1', 'other.example'].map(
    (host) => `https://${host}:${server.port}/`,
  )
  const { stdout } = await promisify(execFile)(process.execPath, [caller, ...urls], {
    env: { NODE_EXTRA_CA_CERTS: trusted },
  })
  const effects = JSON.parse(stdout) as Effect[]
  t.match(effects.slice(0, 3), Array(3).fill({ status: 'success', output: { statusCode: 200 } }))
  t.match(effects[3], { status: 'failed', error: /other\.example\. is not in the cert's altnames/ })
  t.same(server.names, ['hooks.example', 'hooks.example', false])
  t.equal(server.connections, 3, 'the second call used the connection of the first')
})

t.test('a server with an untrusted certificate gets no webhook', async (t) => {
  const server = await serveSecurely(t)
  const effect = await openSender(t).sendWebhook(
    webhook({ url: `https://127.0.0.1:${server.port}/` }),
    context,
  )
  t.match(effect, { status: 'failed', error: /self-signed certificate/ })
  t.same(server.bodies, [])
})
