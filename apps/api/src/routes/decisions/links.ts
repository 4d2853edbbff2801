import type { IncomingMessage } from 'node:http'
import { changeWorkspace, createDecisionTokens } from '@automation/access'
import { isUuid } from '@automation/database'
import { maxReasonLength } from '@automation/engine'
import { type DecisionRow, readDecisionRow } from '@automation/ledger'
import { securityHeaders } from '@automation/process/server'
import type { FastifyError, FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify'
import { Refusal } from '../../errors.js'
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
 * A wrong link is one and the same 404, and costs a token of its address, but no statement. A right one costs a token of its own decision: so many people
 * can decide from one address.
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
  app.addHook('onRequest', async (request, reply) => {
    const link = readLink(request)
    if (link) request.bucketOwner = ownerOf(link)
    await app.consumeToken(request, reply)
    const limitation = limitationOf(request)
    if (limitation) throw limitation
  })
  app.setErrorHandler((error: FastifyError, request, reply) => {
    const { statusCode: status = 500, headers = {} } = refusalFor(error, request) ?? {}
    reply.headers(headers)
    if (status >= 500) request.log.error({ err: error }, 'the page of a decision failed')
    const message =
      status === 429
        ? 'There were too many requests from your network. Try again in a minute.'
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
    const row = link && (await find(link))
    if (!row) return send(reply.status(404), { kind: 'unknown' })
    return send(reply, showRow(row, link))
  })

  app.post(
    '/:workspaceId/:executionId/:token/:choice',
    { config, schema, bodyLimit: maxFormBytes },
    async (request, reply) => {
      const link = readLink(request)
      const row = link && (await find(link))
      if (!row) return send(reply.status(404), { kind: 'unknown' })
      const form = new URLSearchParams(typeof request.body === 'string' ? request.body : '')
      if (!tokens.isOfPage(link.token, form.get('page') ?? ''))
        return send(reply.status(403), showRow(row, link, 'This page was out of date. Choose again.'))
      const choice = form.get('choice') ?? ''
      const reason = readReason(form.get('reason'))
      try {
        await decideByLink(link, choice, reason)
        return send(reply, { kind: 'made', choice })
      } catch (error) {
        if (!(error instanceof Refusal) || error.statusCode >= 500) throw error
        const now = await find(link)
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
  async function find({ workspaceId, executionId }: Link): Promise<DecisionRow | undefined> {
    const row = await readDecisionRow(app.database.forWorkspace(workspaceId), workspaceId, executionId)
    return row?.asked && !row.asked.roles ? row : undefined
  }

  function showRow(row: DecisionRow, { token, choice }: Link, fault?: string): LinkPage {
    if (row.status !== 'open') return { kind: 'over', row }
    return { kind: 'ask', row, choice, pageToken: tokens.ofPage(token), ...(fault && { fault }) }
  }

  async function decideByLink(
    { workspaceId, executionId }: Link,
    choice: string,
    reason: string | undefined,
  ): Promise<void> {
    const publish = (events: Parameters<typeof app.inbox.publish>[0]) => app.inbox.publish(events)
    const administrator = { database: app.database, workspaceId, actor: 'link', publish }
    const { eventId, createdBy } = await changeWorkspace(administrator, async (transaction) => {
      const toDecide = { workspaceId, executionId, choice, reason, by: 'link', hasRole: () => false }
      const decided = await decide(transaction, toDecide)
      const workspace = await transaction.workspace.findUniqueOrThrow({ where: { id: workspaceId } })
      return {
        result: { eventId: decided.eventId, createdBy: workspace.createdBy },
        entry: {
          action: 'execution.decided',
          subject: executionId,
          details: { choice, ...(reason !== undefined && { reason }) },
        },
      }
    })
    publish([{ id: eventId, workspaceId, createdBy, addressee: null }])
  }
}

function ownerOf({ executionId }: Link): NonNullable<FastifyRequest['bucketOwner']> {
  return { owner: `decision:${executionId.toLowerCase()}`, rateClass: 'authenticated', tenant: undefined }
}

/** Browsers send line breaks as CRLF. What Postgres cannot store is left out. */
function readReason(text: string | null): string | undefined {
  const clean = (text ?? '').replaceAll('\r\n', '\n').replaceAll('\0', '').toWellFormed().trim()
  return clean === '' ? undefined : clean.slice(0, maxReasonLength).toWellFormed()
}

function send(reply: FastifyReply, page: LinkPage): FastifyReply {
  const headers = securityHeaders(policy, reply.request.protocol === 'https')
  return reply
    .headers({ ...headers, 'cache-control': 'no-store' })
    .type('text/html; charset=utf-8')
    .send(writeLinkPage(page))
}
