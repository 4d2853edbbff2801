import type { Config } from '../config.js'
import { createTask } from './create-task.js'
import type { Perform } from './effect.js'
import { createMailer } from './send-email.js'
import { createSender } from './send-webhook.js'

/** The hands of the engine: one for each action type. */
export function createEffects({ mail, outboundAllow }: Pick<Config, 'mail' | 'outboundAllow'>) {
  const mailer = createMailer(mail)
  const sender = createSender(outboundAllow)
  const perform: Perform = async (action, context) => {
    switch (action.type) {
      case 'CREATE_TASK':
        return createTask(action, context)
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
