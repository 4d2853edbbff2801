import type { IncomingMessage } from 'node:http'
import { changeWorkspace, createDecisionTokens, findTenant, type Tenant } from '@automation/access'
import { isUuid } from '@automation/database'
import { cutText, maxReasonLength } from '@automation/engine'
import { type DecisionRow, readDecisionRow } from '@automation/history'
import { securityHeaders } from '@automation/process/server'
import type { FastifyError, FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify'
import { LRUCache } from 'lru-cache'
import { administratorOf } from '../../access/administrator.js'
import { openWorkspace } from '../../access/request-workspace.js'
import { readInTurn } from '../../admission.js'
import { Refusal, refusals } from '../../errors.js'
import { strangerAt } from '../../plugins/body-budget.js'
import { refusalFor } from '../../plugins/errors.js'
import { readBody } from '../../plugins/read-body.js'
import { limitationOf } from '../../rate-limit/rate-limit.js'
import { decide } from './decide.js'
import { type LinkPage, linkStyles, writeLinkPage } from './link-page.js'

/** A form has a reason, and two short fields; a character takes up to 12 bytes. */
const maxFormBytes = 16_384

const policy = [
  "default-src 'none'",
  "style-src 'self'",
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
]

/** So long (ms) a page waits for its turn, and a decision for another change of its workspace. Its slot in the console is one of few. */
const busyMs = 2_000
/** How long (ms) this process may use a plan that another process has changed. */
const tenantTtlMs = 1_000

interface Link {
  workspaceId: string
  executionId: string
  token: string
  choice: string
}

/**
 * Where the links of decisions lead, for people without an account:
 *
 *   GET, HEAD ─▶ a page with the options: nothing is decided, however often programs open the link
 *   POST      ─▶ the token of that page ─▶ the decision, once
 *
 * A wrong link is one and the same 404, and costs a token of its address, but no statement. A right one costs a token of its own decision and of
 * the links of its workspace and creator: so many people can decide from one address. Its reads wait for the turn of the workspace.
 */
export const decisionLinkRoutes: FastifyPluginAsync<{ encryptionKey: string }> = async (
  app,
  { encryptionKey },
) => {
  const tokens = createDecisionTokens(encryptionKey)
  app.removeAllContentTypeParsers()
  app.addContentTypeParser(
    'application/x-www-form-urlencoded',
    { bodyLimit: maxFormBytes },
    async (request: FastifyRequest, payload: IncomingMessage) =>
      (await readBody(request, payload, () => strangerAt(request.ip))).toString(),
  )
  const tenants = new LRUCache<string, { found: Tenant | undefined }>({
    max: 10_000,
    ttl: tenantTtlMs,
    fetchMethod: async (workspaceId) => ({ found: await findTenant(app.database, workspaceId) }),
  })
  app.accessCaches.push(tenants)
  app.addHook('onRequest', async (request, reply) => {
    const link = readLink(request)
    const tenant = link && (await tenants.fetch(link.workspaceId.toLowerCase()))?.found
    if (tenant?.isClosed) throw refusals.workspaceClosed()
    if (tenant) enterWorkspace(request, link, tenant)
    await app.consumeToken(request, reply)
    const limitation = limitationOf(request)
    if (limitation) throw limitation
  })
  app.setErrorHandler((error: FastifyError, request, reply) => {
    const refusal = refusalFor(error, request)
    if (refusal === undefined) request.log.error({ err: error }, 'the page of a decision failed')
    const { statusCode: status = 500, headers = {} } = refusal ?? {}
    reply.headers(headers)
    const message =
      status === 429
        ? 'There were too many requests. Try again in a minute.'
        : 'This did not work. Open the link again to see whether it was decided.'
    return send(reply.status(status), { kind: 'later', message })
  })

  const config = { isOpen: true }
  const schema = { hide: true }
  app.get('/style.css', { config: { ...config, isDocs: true }, schema }, (_request, reply) =>
    reply.type('text/css; charset=utf-8').header('cache-control', 'public, max-age=3600').send(linkStyles),
  )

  app.get('/:workspaceId/:executionId/:token/:choice', { config, schema }, async (request, reply) => {
    const link = readLink(request)
    const row = link && (await find(request, link))
    if (!row) return send(reply.status(404), { kind: 'unknown' })
    if (isSuspended(request)) return send(reply, { kind: 'suspended' })
    return send(reply, showRow(row, link))
  })

  app.post(
    '/:workspaceId/:executionId/:token/:choice',
    { config, schema, bodyLimit: maxFormBytes },
    async (request, reply) => {
      const link = readLink(request)
      const row = link && (await find(request, link))
      if (!row) return send(reply.status(404), { kind: 'unknown' })
      if (isSuspended(request)) return send(reply.status(403), { kind: 'suspended' })
      const form = new URLSearchParams(typeof request.body === 'string' ? request.body : '')
      if (!tokens.isOfPage(link.token, form.get('page') ?? ''))
        return send(reply.status(403), showRow(row, link, 'This page was out of date. Choose again.'))
      const choice = form.get('choice') ?? ''
      const reason = readReason(form.get('reason'))
      try {
        await decideByLink(request, link, choice, reason)
        return send(reply, { kind: 'made', choice })
      } catch (error) {
        if (!(error instanceof Refusal) || error.statusCode >= 500) throw error
        const now = await find(request, link)
        const fault = reason === undefined ? 'Choose one, and say why.' : 'Choose one of these.'
        return send(reply.status(error.statusCode), now ? showRow(now, link, fault) : { kind: 'unknown' })
      }
    },
  )

  function readLink(request: FastifyRequest): Link | undefined {
    const link = request.params as Link
    const isKnown = isUuid(link.workspaceId) && isUuid(link.executionId) && tokens.isToken(link, link.token)
    return isKnown ? link : undefined
  }

  /** A decision for roles has no links, so a link to it is not right either. */
  async function find(request: FastifyRequest, { executionId }: Link): Promise<DecisionRow | undefined> {
    if (request.bucketOwner === undefined) return undefined
    const { id, reads } = request.workspace
    const row = await readDecisionRow(reads, id, executionId)
    return row?.asked && !row.asked.roles ? row : undefined
  }

  function showRow(row: DecisionRow, { token, choice }: Link, fault?: string): LinkPage {
    if (row.status !== 'open') return { kind: 'over', row }
    return { kind: 'ask', row, choice, pageToken: tokens.ofPage(token), ...(fault && { fault }) }
  }

  async function decideByLink(
    request: FastifyRequest,
    { executionId }: Link,
    choice: string,
    reason: string | undefined,
  ): Promise<void> {
    const workspaceId = request.workspace.id
    const administrator = { ...administratorOf(request), lockMs: busyMs }
    const woken = await changeWorkspace(administrator, async (transaction) => {
      const toDecide = { workspaceId, executionId, choice, reason, by: 'link', hasRole: () => false }
      const decided = await decide(transaction, toDecide)
      return {
        result: decided.woken,
        entry: {
          action: 'execution.decided',
          subject: executionId,
          details: { choice, ...(reason !== undefined && { reason }) },
        },
      }
    })
    if (woken !== undefined) app.inbox.resume(woken)
  }
}

/** What was suspended a moment ago is refused by the change itself. */
function isSuspended({ bucketOwner }: FastifyRequest): boolean {
  return bucketOwner?.tenant?.isSuspended === true
}

/** Who has a right link is a guest of its workspace. */
function enterWorkspace(request: FastifyRequest, link: Link, tenant: Tenant): void {
  const workspaceId = link.workspaceId.toLowerCase()
  request.bucketOwner = {
    kind: 'links',
    owner: `decision:${link.executionId.toLowerCase()}`,
    rateClass: 'authenticated',
    tenant: { ...tenant, workspaceId },
  }
  const workspace = { id: workspaceId, actor: 'link', createdBy: tenant.createdBy }
  request.workspace = openWorkspace(request.server.database, workspace, (read) =>
    readInTurn(request, read, { mostMs: busyMs }),
  )
}

/** Browsers send line breaks as CRLF. What Postgres cannot store is left out. */
function readReason(text: string | null): string | undefined {
  const clean = (text ?? '').replaceAll('\r\n', '\n').replaceAll('\0', '').toWellFormed().trim()
  return clean === '' ? undefined : cutText(clean, maxReasonLength)
}

function send(reply: FastifyReply, page: LinkPage): FastifyReply {
  const headers = securityHeaders(policy, reply.request.protocol === 'https')
  return reply
    .headers({ ...headers, 'cache-control': 'no-store' })
    .type('text/html; charset=utf-8')
    .send(writeLinkPage(page))
}
