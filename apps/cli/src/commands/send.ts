import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { type Command, Option } from 'commander'
import { Type } from 'typebox'
import { checkAnswers, formatAnswer, formatTally } from '../answers.js'
import { CommandFault } from '../command-fault.js'
import {
  type Answer,
  type Delivery,
  sendDelivery,
  signDelivery,
  type Target,
  tamperWith,
} from '../delivery.js'
import { completeTarget } from '../demo-target.js'
import { addCommand, print } from '../program.js'
import { readAs } from '../values.js'

interface Options extends Partial<Target> {
  id?: string
  file?: string
  tampered?: true
  stale?: true
  replay?: true
  copies?: number
  verbose?: true
}

const EventId = Type.String({
  pattern: '^[A-Za-z0-9_:-]{1,255}$',
  description: '1 to 255 letters, digits, or any of _ : -',
})
const Copies = Type.Integer({ minimum: 1, maximum: 1_000 })

const defaultBody = '{"type":"lead.created","data":{"name":"Ada","score":95}}'
const staleMs = 10 * 60_000

export function addSend(program: Command): void {
  const send = addCommand(program, {
    name: 'send',
    description:
      'Sign a body, send it and show the answer. Without options it goes to the demo that npm start runs.',
    example: `--copies 50 '${defaultBody}'`,
  })
    .argument('[body]', `what is sent (default: ${defaultBody})`)
    .option('--file <path>', 'send what is in this file, byte for byte')
    .option('--url <url>', 'of the product, such as http://127.0.0.1:3000')
    .option('--workspace <id>', 'where the webhook goes')
    .option('--provider <provider>', 'from whom it is')
    .option('--secret-id <id>', 'of the signing secret')
    .option('--secret <secret>', 'the signing secret, whsec_…')
    .option('--id <id>', 'the event’s id (default: a random one)', readAs(EventId))
    .option('--verbose', 'show the headers that are sent, too')
  const ways = [
    new Option('--replay', 'send the same delivery twice'),
    new Option('--copies <number>', 'send so many copies of it at once').argParser(readAs(Copies)),
    new Option('--tampered', 'change the body after it was signed: 401 is expected'),
    new Option('--stale', 'sign it with a timestamp of 10 minutes ago: 401 is expected'),
  ]
  const names = ways.map((way) => way.attributeName())
  for (const way of ways) send.addOption(way.conflicts(names.filter((name) => name !== way.attributeName())))
  send.action(sendWebhook)
}

async function sendWebhook(body: string | undefined, options: Options, command: Command): Promise<void> {
  const delivery = prepareDelivery(body, options)
  const answers = await deliver(delivery, options)
  const { url, headers } = delivery
  const sent = options.verbose
    ? [`POST ${url}`, ...Object.entries(headers).map((header) => header.join(': ')), '']
    : []
  const told = options.copies ? [formatTally(answers)] : answers.map(formatAnswer)
  print(command, { url, headers, answers }, [...sent, ...told].join('\n'))
  checkAnswers(answers, options.tampered || options.stale ? 'refused' : 'accepted')
}

function prepareDelivery(body: string | undefined, options: Options): Delivery {
  const id = options.id ?? `msg_${randomBytes(12).toString('hex')}`
  const sentAt = new Date(Date.now() - (options.stale ? staleMs : 0))
  const delivery = signDelivery(completeTarget(options), id, readBody(body, options), sentAt)
  return options.tampered ? tamperWith(delivery) : delivery
}

function readBody(body: string | undefined, { file }: Options): Buffer {
  if (file === undefined) return Buffer.from(body ?? defaultBody)
  if (body !== undefined) throw new CommandFault('Say either a body or --file.', { exitCode: 2 })
  try {
    return readFileSync(file)
  } catch (error) {
    throw new CommandFault(`--file cannot be read: ${(error as Error).message}.`, { cause: error })
  }
}

async function deliver(delivery: Delivery, { replay, copies = 1 }: Options): Promise<Answer[]> {
  const answers = await Promise.all(Array.from({ length: copies }, () => sendDelivery(delivery)))
  return replay ? [...answers, await sendDelivery(delivery)] : answers
}
