import { connect, type Socket } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { findFreePort } from '@automation/launcher'
import { request } from 'undici'
import { createExactAim } from '../aims.js'
import type { Benchmark } from '../benchmark.js'
import { runOnProduct } from '../product.js'
import { waitsOf } from '../statistics.js'
import { Table } from '../table.js'
import { createWorkspace } from '../workspace.js'
import { askDecisions, decisionRule } from './stranger-attacks.js'

/** The attacker has eight addresses, and opens twice as many forms from each as it may. */
const hostile = { addresses: 8, forms: 128 }
const warmUpMs = 2_000
const everyMs = 100
const longestMs = 2_000

/** Whether somebody with a right link can decide while a stranger sends forms that never end. */
export const halfForms: Benchmark = {
  about: `the page of a decision beside ${hostile.addresses * hostile.forms} forms that never end`,
  seconds: 20,
  rounds: 1,
  run: (options) =>
    runOnProduct(options, { workers: 1 }, async ({ product, database }) => {
      const port = await findFreePort()
      const CONSOLE_URL = `http://127.0.0.1:${port}`
      const secret = 'x'.repeat(40)
      await product.startConsole({ CONSOLE_SECRET: secret, CONSOLE_URL, CONSOLE_PORT: `${port}` })
      const workspace = await createWorkspace(database, product, { name: 'Own', rules: [decisionRule] })
      const [link = ''] = await askDecisions(workspace, product, 1)
      const forms = holdForms(port, link)
      try {
        await delay(warmUpMs)
        const table = new Table()
        const { waits, refused } = await visit(`${CONSOLE_URL}${link}`, options.seconds)
        const { count, p50Ms, maxMs } = waitsOf(waits)
        table.add('pages and forms of somebody else', { count, p50Ms, maxMs, refused })
        const aims = [
          createExactAim('ms, the slowest page or form of somebody else', maxMs, { atMost: longestMs }),
          createExactAim('pages or forms of somebody else that were refused', refused, { atMost: 0 }),
        ]
        return { tables: [table], aims }
      } finally {
        forms.stop()
      }
    }),
}

/** Opens each form again when the console has closed its connection. */
function holdForms(port: number, link: string) {
  const sockets = new Set<Socket>()
  let isStopped = false
  const open = (localAddress: string) => {
    if (isStopped) return
    const socket = connect({ port, host: '127.0.0.1', localAddress })
    sockets.add(socket)
    socket.on('error', () => {})
    socket.on('close', () => {
      sockets.delete(socket)
      setTimeout(() => open(localAddress), everyMs).unref()
    })
    socket.resume()
    socket.write(
      `POST ${link} HTTP/1.1\r\nhost: 127.0.0.1:${port}\r\ncontent-type: application/x-www-form-urlencoded\r\ncontent-length: 10000\r\n\r\npa`,
    )
  }
  for (let form = 0; form < hostile.addresses * hostile.forms; form++)
    open(`127.0.0.${2 + (form % hostile.addresses)}`)
  return {
    stop() {
      isStopped = true
      for (const socket of sockets) socket.destroy()
    },
  }
}

/** Reads the page, and sends a form of an older page, in turns: both need the API. */
async function visit(url: string, seconds: number): Promise<{ waits: number[]; refused: number }> {
  const headers = { 'content-type': 'application/x-www-form-urlencoded' }
  const form = { method: 'POST', headers, body: 'page=old&choice=approve' } as const
  const waits: number[] = []
  let refused = 0
  const endsAt = performance.now() + 1_000 * seconds
  for (let turn = 0; performance.now() < endsAt; turn++) {
    const isForm = turn % 2 === 1
    const startedAt = performance.now()
    const { statusCode, body } = await request(url, isForm ? form : {})
    await body.dump()
    waits.push(performance.now() - startedAt)
    if (statusCode !== (isForm ? 403 : 200)) refused++
    await delay(everyMs)
  }
  return { waits, refused }
}
