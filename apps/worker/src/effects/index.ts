import type { Database } from '@automation/database'
import type { Logger } from 'pino'
import type { Config } from '../config.js'
import { AccessTokens } from './credentials/access-tokens.js'
import { CredentialFiller } from './credentials/credential-filler.js'
import { createCredentials } from './credentials/find-credentials.js'
import { createTokenRequest } from './credentials/request-token.js'
import { createLinkMaker } from './decision-links.js'
import type { Perform } from './effect.js'
import { HttpCaller } from './http-caller.js'
import { createCauseLog } from './log-cause.js'
import { createOutgoingKeys } from './outgoing-keys.js'
import { createMailer } from './send-email.js'
import { createSender } from './send-webhook.js'

/** Creates the function that makes outbound calls, with one sender for each type of outside action. */
export function createEffects(config: Config, database: Database, log: Logger) {
  const logCause = createCauseLog(log)
  const { encryptionKey, outbound } = config
  const { consoleUrl } = outbound
  const findKeys = createOutgoingKeys(database, encryptionKey)
  const caller = new HttpCaller(outbound)
  const tokens = new AccessTokens(database, encryptionKey, createTokenRequest(caller))
  const filler = new CredentialFiller(
    createCredentials(database, encryptionKey),
    tokens,
    createLinkMaker(encryptionKey, consoleUrl),
  )
  const mailer = createMailer(config.mail, database, logCause, filler)
  const sender = createSender({ caller, findKeys, filler, logCause, consoleUrl })
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
