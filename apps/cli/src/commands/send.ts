import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { SchemeName, type SchemeSettings } from '@automation/webhooks'
import { type Command, Option } from 'commander'
import { Type } from 'typebox'
import { CommandError, usageError } from '../command-error.js'
import { completeTarget } from '../complete-target.js'
import { readWebhookSecret } from '../config.js'
import {
  type DeliveryResponse,
  type SignedDelivery,
  sendDelivery,
  signDelivery,
  type Target,
  tamperWith,
} from '../delivery.js'
import { readAs } from '../option-readers.js'
import { addCommand, print } from '../program.js'
import { checkResponses, formatResponse, formatStatusCounts } from '../responses.js'
import { readSecretFile, readSettings, sampleWebhooks, schemeOptions } from '../scheme-options.js'

interface Options extends Partial<Omit<Target, 'secret'>> {
  secretFile?: string
  id?: string
  file?: string
  tampered?: true
  stale?: true
  replay?: true
  copies?: number
  verbose?: true
  scheme?: SchemeName
  settings?: SchemeSettings
  type?: string
}

const EventId = Type.String({
  pattern: '^[A-Za-z0-9_:-]{1,255}$',
  patternError: 'be 1 to 255 letters, digits, or any of _ : -',
})
const Copies = Type.Integer({ minimum: 1, maximum: 1_000 })

const defaultBody = sampleWebhooks.automation.body
const staleMs = 10 * 60_000

export function addSend(program: Command): void {
  const send = addCommand(program, {
    name: 'send',
    description:
      'Sign a body, send it and show the response. Without options it is sent to the demo that npm start runs.',
    example: `--copies 50 '${defaultBody}'`,
    reads: ['WEBHOOK_SECRET'],
    exits: { failed: 'failed, or the response was not the expected one' },
  })
    .argument('[body]', `the body to send (default: ${defaultBody})`)
    .option('--file <path>', 'send the content of this file, byte for byte')
    .option('--url <url>', 'URL of the product, such as http://127.0.0.1:3000')
    .option('--workspace <id>', 'id of the workspace that receives the webhook')
    .option('--provider <provider>', 'name of the provider that sends the webhook')
    .option('--secret-id <id>', 'id of the signing secret')
    .option('--secret-file <path>', 'file with the signing secret, such as whsec_… (default: WEBHOOK_SECRET)')
    .addOption(new Option('--secret <secret>').hideHelp().argParser(refuseSecret))
    .addOption(new Option('--scheme <scheme>', schemeOptions.scheme).argParser(readAs(SchemeName)))
    .addOption(new Option('--settings <json>', schemeOptions.settings).argParser(readSettings))
    .option('--type <type>', 'type of the event at the provider, for schemes that have it in a header')
    .option('--id <id>', 'id of the event (default: a random id)', readAs(EventId))
    .option('--verbose', 'also show the headers that are sent, with the signature')
  const modes = [
    new Option('--replay', 'send the same delivery twice'),
    new Option('--copies <number>', 'send this number of copies at the same time').argParser(readAs(Copies)),
    new Option('--tampered', 'change the body after signing it; 401 is expected'),
    new Option('--stale', 'sign with a timestamp of 10 minutes ago; 401 is expected'),
  ]
  const names = modes.map((mode) => mode.attributeName())
  for (const mode of modes)
    send.addOption(mode.conflicts(names.filter((name) => name !== mode.attributeName())))
  send.action(sendWebhook)
}

async function sendWebhook(body: string | undefined, options: Options, command: Command): Promise<void> {
  const delivery = prepareDelivery(body, options)
  const responses = await deliver(delivery, options)
  const { url, headers } = delivery
  const sent = options.verbose
    ? [`POST ${url}`, ...Object.entries(headers).map((header) => header.join(': ')), '']
    : []
  const received = options.copies ? [formatStatusCounts(responses)] : responses.map(formatResponse)
  const shown = options.verbose ? { url, headers } : { url }
  print(command, { ...shown, answers: responses }, [...sent, ...received].join('\n'))
  checkResponses(responses, options.tampered || options.stale ? 'refused' : 'accepted')
}

function prepareDelivery(body: string | undefined, options: Options): SignedDelivery {
  const id = options.id ?? `msg_${randomBytes(12).toString('hex')}`
  const sentAt = new Date(Date.now() - (options.stale ? staleMs : 0))
  const delivery = signAsAsked(body, options, id, sentAt)
  return options.tampered ? tamperWith(delivery) : delivery
}

function signAsAsked(body: string | undefined, options: Options, id: string, sentAt: Date): SignedDelivery {
  const { scheme = 'automation', settings = {}, provider } = options
  const secret = readSecret(options)
  const isOurs = scheme === 'automation'
  // The demo has no secret of another scheme.
  if (!isOurs && secret === undefined)
    throw usageError(`--scheme ${scheme} needs the signing secret: set WEBHOOK_SECRET, or --secret-file.`)
  const named = isOurs ? {} : { secretId: 'none', provider: provider ?? scheme }
  const target = completeTarget({ ...options, secret, ...named })
  const sample = sampleWebhooks[scheme]
  const { type = sample.type } = options
  const isForm = settings.body === undefined ? sample.isForm === true : settings.body !== 'json'
  const webhook = { scheme, settings, id, type, isForm, body: readBody(body, options, sample.body) }
  return signDelivery(target, webhook, sentAt)
}

function readSecret({ secretFile }: Options): string | undefined {
  return secretFile === undefined ? readWebhookSecret() : readSecretFile(secretFile)
}

/** The option existed. Its error must not repeat the secret, as commander's own would. */
function refuseSecret(): never {
  throw usageError(
    'A secret on the command line is visible in the list of processes and in the history of the shell. Put it into WEBHOOK_SECRET, or into a file for --secret-file.',
  )
}

function readBody(body: string | undefined, { file }: Options, usual: string): Buffer {
  if (file === undefined) return Buffer.from(body ?? usual)
  if (body !== undefined) throw usageError('Give either a body or --file, not both.')
  try {
    return readFileSync(file)
  } catch (error) {
    throw new CommandError(`--file cannot be read: ${(error as Error).message}.`, { cause: error })
  }
}

async function deliver(
  delivery: SignedDelivery,
  { replay, copies = 1 }: Options,
): Promise<DeliveryResponse[]> {
  const responses = await Promise.all(Array.from({ length: copies }, () => sendDelivery(delivery)))
  return replay ? [...responses, await sendDelivery(delivery)] : responses
}
