import { domainToASCII, fileURLToPath } from 'node:url'
import type { Database } from '@automation/database'
import type { Effect } from '@automation/engine'
import type { Address, NodemailerError } from 'nodemailer'
import addressParser from 'nodemailer/lib/addressparser'
import { encodeWord } from 'nodemailer/lib/mime-funcs'
import type { Config } from '../config.js'
import type { CredentialFiller } from './credentials/credential-filler.js'
import { type ActionOf, type CallContext, defaultTimeoutMs, failed, idempotencyKey } from './effect.js'
import type { LogCause } from './log-cause.js'
import { type MailBody, writeMail } from './mail-body.js'
import { createMailTemplates } from './mail-templates.js'
import { type MailTransport, type Message, openDirectory, openSmtp } from './mail-transports.js'

/** Beside the data of `npm start`, for a developer who starts a worker by hand. */
const usualDirectory = '.data/mail'

/**
 * Sends mails by SMTP, or writes each as an .eml file to the directory of a `file:` URL. Every delivery of an action carries the same
 * Message-ID, and file name, so that a repeated delivery is recognizable as such.
 */
export function createMailer(
  { url, from }: Config['mail'],
  database: Database,
  logCause: LogCause,
  filler: Pick<CredentialFiller, 'fill'>,
) {
  const sender = readSender(from)
  const domain = domainOf(sender.address)
  const findTemplate = createMailTemplates(database)
  const { deliver, close } = openTransport(url)
  return {
    /** Only a mail with links of a decision has something filled in. */
    send(action: ActionOf<'SEND_EMAIL'>, context: CallContext): Promise<Effect> {
      if (action.fillCredentials === undefined) return send(action, context)
      const timeoutMs = action.of.timeoutMs ?? defaultTimeoutMs
      return filler.fill(action, context, timeoutMs, (config) =>
        send({ ...action, config: config as typeof action.config }, context),
      )
    },
    close,
  }

  async function send(action: ActionOf<'SEND_EMAIL'>, context: CallContext): Promise<Effect> {
    const { config } = action
    const template = await findTemplate(context.event.workspaceId, config.template)
    const body = writeMail(template, config, context)
    if ('fault' in body) return { status: 'failed', error: body.fault, isFinal: true }
    const messageId = `<${idempotencyKey(action, context).replace(':', '.')}@${domain}>`
    const output = { messageId }
    const timeoutMs = action.of.timeoutMs ?? defaultTimeoutMs
    try {
      const message = composeMessage(config, body, sender, messageId)
      const { refused, warnings } = await deliver(message, timeoutMs)
      return {
        status: 'success',
        output: refused.length === 0 ? output : { ...output, refused },
        warnings: [...body.warnings, ...warnings],
      }
    } catch (error) {
      if (isOurOwn(error)) logCause(error, context)
      const failure = { ...describeFailure(error), output }
      return isUnanswered(error, timeoutMs) ? { ...failure, isUnanswered: true } : failure
    }
  }
}

function openTransport(url: string | undefined): MailTransport {
  if (url === undefined) return openDirectory(usualDirectory)
  return url.startsWith('file:') ? openDirectory(fileURLToPath(url)) : openSmtp(url)
}

/** These fields contain event data, so nodemailer gets addresses as objects: it would search a text for several addresses. */
function composeMessage(
  { to, cc, bcc, replyTo, subject }: ActionOf<'SEND_EMAIL'>['config'],
  { text, html }: MailBody,
  from: Address,
  messageId: string,
): Message {
  return {
    from,
    to: toAddresses(to),
    cc: toAddresses(cc),
    bcc: toAddresses(bcc),
    replyTo: replyTo === undefined ? undefined : toAddress(replyTo),
    subject: toHeaderText(subject),
    text,
    html: html ?? undefined,
    messageId,
    headers: ofMachines,
    disableFileAccess: true,
    disableUrlAccess: true,
  }
}

/** Programs that answer mails, such as notes of absence, leave these alone: RFC 3834, and what Exchange reads. */
const ofMachines = { 'Auto-Submitted': 'auto-generated', 'X-Auto-Response-Suppress': 'OOF, AutoReply' }

/** A Message-ID of the sender's own domain: one of a domain that does not exist counts as a sign of spam. */
function domainOf(address: string): string {
  return domainToASCII(address.slice(address.lastIndexOf('@') + 1)) || 'automation-rules'
}

function toAddresses(addresses: string | readonly string[] = []): Address[] {
  return [addresses].flat().map(toAddress)
}

/** The engine guarantees one address without a display name (formats.ts). */
function toAddress(address: string): Address {
  return { name: '', address }
}

/** One line. A text that looks like an encoded word is encoded itself, so that readers see it as it was written. */
function toHeaderText(text: string): string {
  const line = text.replaceAll(/[\p{Cc}\u2028\u2029]+/gu, ' ')
  return line.includes('=?') ? encodeWord(line, 'B', 52) : line
}

/** @throws Error where the setting does not name one sender */
function readSender(from: string): { name: string; address: string } {
  const [sender, ...others] = addressParser(from)
  if (!sender?.address || others.length > 0)
    throw new Error('MAIL_FROM must be one sender, such as Rules <rules@example.com>')
  return { name: sender.name, address: sender.address }
}

/**
 * A failure with 5xx is final: the server would refuse the mail again. All others may pass, a refused login included, since that
 * is a fault of the settings and not of the mail.
 */
function describeFailure(error: unknown): Effect & { status: 'failed' } {
  const { code, command, response, permanent } = error as NodemailerError
  if (code === 'ECONNECTION' && !response) return failed('The connection to the mail server was closed')
  if (isUnreachable(error)) return failed('The mail server cannot be reached')
  if (isOurOwn(error)) return failed('The email could not be written')
  if (!response) return failed(error)
  const refused = command === 'CONN' ? 'the connection' : command
  const failure = failed(`The mail server refused ${refused}: ${response}`)
  if (permanent && code !== 'EAUTH') failure.isFinal = true
  return failure
}

/** Between the mail server and us. Its message names addresses of our network, which are not the tenants' business. */
function isUnreachable(error: unknown): boolean {
  const { code, response } = error as NodemailerError
  return !response && unreachableCodes.has(code ?? '')
}

const unreachableCodes = new Set(['ESOCKET', 'EDNS', 'ETIMEDOUT', 'ETLS'])

/** Five of these in a row stop all mail for a while, so a rule with a short timeout of its own must not cause them. */
function isUnanswered(error: unknown, timeoutMs: number): boolean {
  const { code, response } = error as NodemailerError
  if (response) return false
  if (code === 'EABORT') return timeoutMs >= defaultTimeoutMs
  return code === 'ECONNECTION' || unreachableCodes.has(code ?? '')
}

/** The message names what is ours: the mail server's address, or a path of this machine. */
function isOurOwn(error: unknown): boolean {
  const { response } = error as NodemailerError
  return isUnreachable(error) || (!response && (error as NodeJS.ErrnoException).syscall !== undefined)
}
