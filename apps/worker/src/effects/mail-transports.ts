import { mkdir, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { cutText } from '@automation/engine'
import nodemailer, { type NodemailerError, type SendMailOptions } from 'nodemailer'

export type Message = SendMailOptions & { messageId: string }

export interface MailTransport {
  deliver(message: Message, timeoutMs: number): Promise<Delivered>
  /** Closes all connections, which ends the deliveries that are under way. */
  close(): void
}

/** A mail that a server has accepted for some of its recipients at least. */
export interface Delivered {
  /** The others. A repeat would reach those again that have the mail. */
  refused: string[]
  warnings: string[]
}

/** Servers refuse clients with many connections. A mail enters the gate only when one is free, so its time is not spent in a line. */
export const mailConnections = 10
/** The longest timeout of an action. Each call ends by its own timeout; no timeout of the transport is shorter. */
const longestCallMs = 30_000

/** Sends mails over a pool of a few connections, which stay open while there are mails to send. */
export function openSmtp(url: string): MailTransport {
  const smtp = nodemailer.createTransport({
    url,
    pool: true,
    maxConnections: mailConnections,
    // Servers close idle connections, though later than this.
    idleTimeout: 5_000,
    // Where the connection proves closed before a byte of the mail was sent, the mail gets one other connection.
    maxRequeues: 1,
    // A cancelled delivery closes its connection at once: bytes that wait in a buffer must not go out later.
    socketCloseTimeout: 0,
    connectionTimeout: longestCallMs,
    greetingTimeout: longestCallMs,
    socketTimeout: longestCallMs,
  })
  return {
    async deliver(message, timeoutMs) {
      const sending = smtp.sendMail({ ...message, signal: AbortSignal.timeout(timeoutMs) })
      const { accepted, rejected, rejectedErrors } = await sending.catch((error: NodemailerError) => {
        throw error.code === 'EABORT'
          ? Object.assign(new Error(`The mail server did not accept the email within ${timeoutMs} ms`), {
              code: 'EABORT',
            })
          : error
      })
      if (rejected.length === 0) return { refused: [], warnings: [] }
      const all = accepted.length + rejected.length
      const reason = rejectedErrors?.[0]?.response?.replaceAll(/\s+/g, ' ') ?? ''
      return {
        refused: rejected,
        warnings: [
          cutText(`The mail server refused ${rejected.length} of ${all} recipients: ${reason}`, 500),
        ],
      }
    },
    close: () => smtp.close({ force: true }),
  }
}

/** Writes mails as files. A reader of the directory never sees half a mail, and a repeated delivery replaces the first. */
export function openDirectory(directory: string): MailTransport {
  const composer = nodemailer.createTransport({ streamTransport: true, buffer: true })
  return {
    async deliver(message) {
      const { message: content } = await composer.sendMail(message)
      const path = join(directory, `${message.messageId.slice(1, message.messageId.indexOf('@'))}.eml`)
      await mkdir(directory, { recursive: true })
      try {
        await writeFile(`${path}.part`, content as Buffer)
        await rename(`${path}.part`, path)
      } catch (error) {
        // Half a mail would take the room that a full disk lacks.
        await rm(`${path}.part`, { force: true })
        throw error
      }
      return { refused: [], warnings: [] }
    },
    close: () => composer.close(),
  }
}
