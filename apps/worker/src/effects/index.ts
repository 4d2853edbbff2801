import type { Database } from '@automation/database'
import type { Logger } from 'pino'
import type { Config } from '../config.js'
import type { Perform } from './effect.js'
import { createCauseLog } from './log-cause.js'
import { createOutgoingKeys } from './outgoing-keys.js'
import { createMailer } from './send-email.js'
import { createSender } from './send-webhook.js'

/** Creates the function that makes outbound calls, with one sender for each type of outside action. */
export function createEffects(config: Config, database: Database, log: Logger) {
  const logCause = createCauseLog(log)
  const findKeys = createOutgoingKeys(database, config.encryptionKey)
  const mailer = createMailer(config.mail, database, logCause)
  const sender = createSender(config.outbound, findKeys, logCause)
  const perform: Perform = (action, context) => {
    switch (action.type) {
      case 'SEND_EMAIL':
        return mailer.send(action, context)
      case 'SEND_WEBHOOK':
        return sender.sendWebhook(action, context)
      case 'SEND_NOTIFICATION':
        return sender.sendNotification(action, context)
    }
  }
  return {
    perform,
    async close(): Promise<void> {
      mailer.close()
      await sender.close()
    },
  }
}
