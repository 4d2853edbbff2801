import type { Database } from '@automation/database'
import type { Config } from '../config.js'
import type { Perform } from './effect.js'
import { createOutgoingKeys } from './outgoing-keys.js'
import { createMailer } from './send-email.js'
import { createSender } from './send-webhook.js'

/** Creates the function that makes outbound calls, with one sender for each type of outside action. */
export function createEffects(config: Config, database: Database) {
  const mailer = createMailer(config.mail, database)
  const sender = createSender(config.outbound, createOutgoingKeys(database, config.encryptionKey))
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
