import { mkdir, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Effect } from '@automation/engine'
import nodemailer from 'nodemailer'
import addressParser from 'nodemailer/lib/addressparser'
import type Mail from 'nodemailer/lib/mailer'
import type { Config } from '../config.js'
import { type ActionOf, defaultTimeoutMs, failed, idempotencyKey, type RunContext } from './effect.js'
import { writeMail } from './mail-body.js'

/**
 * Sends mails by SMTP where SMTP_URL is set, else writes each as an .eml file. Every delivery of the same action
 * carries the same Message-ID (and file name), so a repeat can be told from a second mail.
 */
export function createMailer({ smtpUrl, from, directory }: Config['mail']) {
  const { deliver, close } = smtpUrl ? openSmtp(smtpUrl) : openDirectory(directory)
  return {
    async send(action: ActionOf<'SEND_EMAIL'>, context: RunContext): Promise<Effect> {
      try {
        const message = composeMessage(action, context, from)
        await within(deliver(message), action.timeoutMs ?? defaultTimeoutMs)
        return { status: 'success', output: { messageId: message.messageId } }
      } catch (error) {
        return failed(error)
      }
    },
    close,
  }
}

interface Transport {
  deliver(message: Message): Promise<unknown>
  close(): void
}

type Message = Mail.Options & { messageId: string }

function openSmtp(url: string): Transport {
  const smtp = nodemailer.createTransport({
    url,
    connectionTimeout: 5_000,
    greetingTimeout: 5_000,
    socketTimeout: 10_000,
  })
  return { deliver: (message) => smtp.sendMail(message), close: () => smtp.close() }
}

/** A reader of the directory never sees half a mail, and a repeat takes the place of the first. */
function openDirectory(directory: string): Transport {
  const composer = nodemailer.createTransport({ streamTransport: true, buffer: true })
  return {
    async deliver(message) {
      const { message: content } = await composer.sendMail(message)
      const path = join(directory, `${message.messageId.slice(1, message.messageId.indexOf('@'))}.eml`)
      await mkdir(directory, { recursive: true })
      await writeFile(`${path}.part`, content as Buffer)
      await rename(`${path}.part`, path)
    },
    close: () => composer.close(),
  }
}

function composeMessage(action: ActionOf<'SEND_EMAIL'>, context: RunContext, from: string): Message {
  const { to, cc, bcc, replyTo, subject } = action.config
  return {
    from,
    to: readAddress('to', to),
    ...(cc === undefined ? {} : { cc: readAddress('cc', cc) }),
    ...(bcc === undefined ? {} : { bcc: readAddress('bcc', bcc) }),
    ...(replyTo === undefined ? {} : { replyTo: readAddress('replyTo', replyTo) }),
    subject,
    ...writeMail(action.config, context),
    messageId: `<${idempotencyKey(action, context).replace(':', '.')}@automation-rules>`,
    disableFileAccess: true,
    disableUrlAccess: true,
  }
}

/** Data fills these fields, so a second recipient or a line break must not slip in: exactly one address, or no mail. */
function readAddress(field: string, text: string): Mail.Address {
  const [first, ...others] = addressParser(text)
  const isOne = first !== undefined && others.length === 0 && 'address' in first && !/[\r\n]/.test(text)
  if (!isOne || !/^[^\s@]+@[^\s@]+$/.test(first.address ?? ''))
    throw new Error(`${field} is not one e-mail address`)
  return { name: first.name, address: first.address ?? '' }
}

async function within<Result>(work: Promise<Result>, timeoutMs: number): Promise<Result> {
  let timer: NodeJS.Timeout | undefined
  const timeout = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(
      () => reject(new Error(`No answer from the mail server within ${timeoutMs} ms`)),
      timeoutMs,
    )
  })
  return Promise.race([work, timeout]).finally(() => clearTimeout(timer))
}
