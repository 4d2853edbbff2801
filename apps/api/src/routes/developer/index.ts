import type { Sealer } from '@automation/access'
import type { WorkLimits } from '@automation/engine'
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { apiKeyRoutes } from './api-keys.js'
import { auditLogRoutes } from './audit-log.js'
import { credentialRoutes } from './credentials.js'
import { deliveryRoutes } from './deliveries.js'
import { embedFrameRoutes } from './embed-frames.js'
import { embedSessionRoutes } from './embed-sessions.js'
import { erasureRoutes } from './erasures.js'
import { invitationRoutes } from './invitations.js'
import { ledgerRoutes } from './ledger.js'
import { memberRoutes } from './members.js'
import { receiptRoutes } from './receipts.js'
import { signingSecretRoutes } from './signing-secrets.js'
import { subscriptionRoutes } from './subscriptions.js'
import { workspaceRoutes } from './workspaces.js'

/** What developers and admins need beside the rules: for API keys as well as for members. */
export const developerRoutes: FastifyPluginAsyncTypebox<{
  sealer: Sealer
  retentionDays: number
  workLimits: WorkLimits
  workspacesPerCreator: number
  consoleUrl: string
  embedOrigins: string[]
}> = async (app, { sealer, retentionDays, workLimits, workspacesPerCreator, consoleUrl, embedOrigins }) => {
  // Before the response is sent: a caller who has read it must find the change in force. A refusal has changed nothing. A failure may
  // hide a commit.
  app.addHook('onSend', async ({ method }, { statusCode }) => {
    const isRefused = statusCode >= 400 && statusCode < 500
    if (method !== 'GET' && !isRefused) for (const cache of app.accessCaches) cache.clear()
  })
  await app.register(receiptRoutes, { prefix: '/webhook-receipts' })
  await app.register(apiKeyRoutes, { prefix: '/api-keys' })
  await app.register(signingSecretRoutes, { prefix: '/signing-secrets', sealer })
  await app.register(credentialRoutes, { prefix: '/credentials', sealer })
  await app.register(subscriptionRoutes, { prefix: '/subscriptions', sealer })
  await app.register(deliveryRoutes, { prefix: '/subscriptions' })
  await app.register(memberRoutes, { prefix: '/members' })
  await app.register(invitationRoutes, { prefix: '/invitations' })
  await app.register(embedSessionRoutes, { prefix: '/embed-sessions', consoleUrl })
  await app.register(embedFrameRoutes, { prefix: '/embed-sessions', embedOrigins })
  await app.register(workspaceRoutes, { prefix: '/workspaces', perCreator: workspacesPerCreator })
  await app.register(erasureRoutes, { prefix: '/erasures', sealer, workLimits })
  await app.register(auditLogRoutes, { prefix: '/audit-log' })
  await app.register(ledgerRoutes, { prefix: '/ledger', retentionDays })
}
