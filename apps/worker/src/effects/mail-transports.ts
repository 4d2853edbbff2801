import { mkdir, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import nodemailer, { type NodemailerError, type SendMailOptions } from 'nodemailer'

export type Message = SendMailOptions & { messageId: string }

export interface MailTransport {
  /** Answers what is to be said of recipients who were refused where others were not. */
  deliver(message: Message, timeoutMs: number): Promise<string[]>
  /** Ends every connection, and whatever is still under way. */
  close(): void
}

/** The longest that an action may give a call. Its own time ends each one; nothing here ends one before that. */
const longestCallMs = 30_000

/** Mails go over a few connections, which are kept while there is something to send. */
export function openSmtp(url: string): MailTransport {
  const smtp = nodemailer.createTransport({
    url,
    pool: true,
    // Servers refuse clients with many connections; and they close idle ones, but later than this.
    maxConnections: 10,
    idleTimeout: 5_000,
    // A connection that turns out to be closed before a byte of the mail was sent is replaced, once.
    maxRequeues: 1,
    // Given up means closed: what still waits in a buffer must not go out after that.
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
          ? new Error(`Not taken by the mail server within ${timeoutMs} ms`)
          : error
      })
      if (rejected.length === 0) return []
      const all = accepted.length + rejected.length
      const reason = rejectedErrors?.[0]?.response?.replaceAll(/\s+/g, ' ') ?? ''
      return [`The mail server refused ${rejected.length} of ${all} recipients: ${reason}`.slice(0, 500)]
    },
    close: () => smtp.close({ force: true }),
  }
}

/** A reader of the directory never sees half a mail, and a repeat takes the place of the first. */
export function openDirectory(directory: string): MailTransport {
  const composer = nodemailer.createTransport({ streamTransport: true, buffer: true })
  return {
    async deliver(message) {
      const { message: content } = await composer.sendMail(message)
      const path = join(directory, `${message.messageId.slice(1, message.messageId.indexOf('@'))}.eml`)
      await mkdir(directory, { recursive: true })
      await writeFile(`${path}.part`, content as Buffer)
      await rename(`${path}.part`, path)
      return []
    },
    close: () => composer.close(),
  }
}
