import { mkdir, readdir, readFile } from 'node:fs/promises'
import { setTimeout as delay } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'
import { startRunningProduct } from '../fixtures/product.js'
import { createRule } from '../storm/create-rule.js'
import { drain } from '../storm/waits.js'
import type { Disaster, Outcome, Stage } from './disaster.js'
import { seconds } from './run-under-load.js'
import { SmallDisk } from './servers/small-disk.js'

const megabytes = 16
const betweenMs = 10
/** So many that the disk has room before they are used up: each waits a second. */
const retry = { attempts: 20, backoff: 'constant', delayMs: 1_000 }
const fullMs = 8_000

export const diskFullMail: Disaster = {
  name: 'disk-full-mail',
  about: 'The disk of the directory of a file: SMTP_URL is full under load, and has room again.',
  needs: ['mount', 'umount'],
  run,
}

async function run(stage: Stage): Promise<Outcome> {
  const disk = await SmallDisk.mount(stage, megabytes)
  const directory = `${disk.directory}/mail`
  await mkdir(directory)
  const running = await startRunningProduct({ workers: 2, env: { SMTP_URL: pathToFileURL(directory).href } })
  try {
    const mail = {
      type: 'SEND_EMAIL',
      config: { to: 'ada@example.com', subject: '{{n}}', template: 'Hello {{n}}' },
    }
    await createRule(running, { name: 'Patient', trigger: 'LEAD_CREATED', actions: [{ ...mail, retry }] })
    await createRule(running, {
      name: 'Impatient',
      trigger: 'DEAL_WON',
      actions: [{ ...mail, retry: { attempts: 1 } }],
    })
    const count = Math.min(stage.events, 1_500)
    let accepted = 0
    const post = async (type: string, n: number) => {
      const answer = await running.call(
        'POST',
        '/api/events',
        { type, data: { n } },
        { prefer: 'respond-async' },
      )
      if (answer.status === 202) accepted += 1
    }
    const sendAll = async (from: number, to: number) => {
      const all: Promise<void>[] = []
      for (let n = from; n < to; n++) {
        all.push(post(n % 10 === 0 ? 'DEAL_WON' : 'LEAD_CREATED', n))
        await delay(betweenMs)
      }
      await Promise.all(all)
    }
    const third = Math.ceil(count / 3)
    await sendAll(0, third)
    await disk.fill()
    stage.tell('the disk is full')
    const filledAt = performance.now()
    await sendAll(third, 2 * third)
    await delay(Math.max(0, filledAt + fullMs - performance.now()))
    const fullFor = performance.now() - filledAt
    await disk.free()
    const freedAt = performance.now()
    await sendAll(2 * third, count)
    const isDrained = await drain(running)
    const doneAfter = performance.now() - freedAt
    const violations = isDrained ? [] : ['something is left to do']
    const executions = await running.database.system.execution.findMany()
    const failed = executions.filter(({ status }) => status === 'failed')
    const succeeded = executions.filter(({ status }) => status === 'succeeded')
    const names = await readdir(directory)
    const mails = names.filter((name) => name.endsWith('.eml'))
    const texts = await Promise.all(mails.map((name) => readFile(`${directory}/${name}`, 'utf8')))
    const whole = new Set(
      texts.flatMap((text) => (text.includes('Hello') ? (/^Subject: (\d+)\r?$/m.exec(text)?.[1] ?? []) : [])),
    )
    if (whole.size !== mails.length) violations.push(`${mails.length - whole.size} mails are cut or double`)
    if (mails.length !== succeeded.length)
      violations.push(`${succeeded.length} executions sent a mail, and there are ${mails.length}`)
    if (names.length !== mails.length)
      violations.push(`${names.length - mails.length} half mails are left behind`)
    if (executions.length !== accepted)
      violations.push(`${accepted} events, and ${executions.length} executions`)
    const patient = failed.filter(({ eventType }) => eventType === 'LEAD_CREATED')
    if (patient.length > 0) violations.push(`${patient.length} executions with retries have failed`)
    const errors = new Set(failed.map(({ error }) => error))
    return {
      figures: {
        'events acknowledged': accepted,
        'full for': seconds(fullFor),
        'mails written': mails.length,
        'failed, without a retry': failed.length,
        'their error': [...errors].join(' | ') || 'none',
        'everything done, once there was room, after': seconds(doneAfter),
      },
      violations,
    }
  } finally {
    await running.stop()
    await disk.unmount()
  }
}
