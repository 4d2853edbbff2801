import type { WorkLimits } from '@automation/engine'
import {
  type ExecutionFilter,
  type ListedExecutionRow,
  listExecutions,
  listUnstarted,
  narrowExecutions,
  type ScannedRow,
  scanRows,
  targetsToScan,
  type UnstartedRow,
  type UnstartedStatus,
  unstartedStatuses,
  type Visit,
} from '@automation/history'
import { type ExecutionStatus, executionStatuses } from '@automation/ledger'
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import { refusals } from '../../errors.js'
import { findRows } from '../../evaluation/find-rows.js'
import { readWords } from '../../evaluation/find-words.js'
import { readCursor, writeCursor } from '../../lists/cursor.js'
import { addExcerpts, ExcerptQuery } from '../../lists/excerpt.js'
import { checkQuery, checkTypeInQuery, readRange } from '../../lists/history-filter.js'
import { SearchText } from '../../lists/search-text.js'
import { NextCursor, PageQuery, refusalResponses } from '../../responses.js'
import { executionFilter } from './execution-filter.js'
import { ListedExecution, presentExecutionRow } from './execution-schemas.js'
import { presentUnstarted } from './read.js'

const statuses = ['pending', ...executionStatuses, 'not_matched'] as const

const ExecutionQuery = Type.Object({
  ...PageQuery,
  ...executionFilter,
  eventId: Type.Optional(Type.String({ description: 'Only executions for this event' })),
  status: Type.Optional(
    Type.String({
      description: `One or several statuses, separated by commas: ${statuses.join(', ')}. Executions that are pending or not_matched are listed only if they are named here.`,
    }),
  ),
  recipient: Type.Optional(
    Type.String({
      ...SearchText,
      minLength: 1,
      description:
        'Part of an address that an email of the execution was sent to (to, cc or bcc), or of the host of one of its calls, in any letter case',
    }),
  ),
  excerpt: ExcerptQuery,
})

const defaultLimit = 50

export const executionListRoutes: FastifyPluginAsyncTypebox<{ workLimits: WorkLimits }> = async (
  app,
  { workLimits },
) => {
  app.get('/', {
    config: { role: 'viewer' },
    schema: {
      operationId: 'listExecutions',
      summary: 'List executions, newest event first',
      description:
        'from and to refer to the time when the event was accepted. If few of many executions match, a page can be short or empty and still have a nextCursor. With `recipient`, a page searches at most 20,000 executions. The list contains deliveries to a subscription only if the filter names the subscription, their event or their type.',
      querystring: ExecutionQuery,
      response: {
        200: Type.Object(
          { executions: Type.Array(ListedExecution), nextCursor: NextCursor },
          { title: 'ExecutionPage' },
        ),
        ...refusalResponses(),
      },
    },
    handler: async (request) => {
      const { query } = request
      checkQuery(ExecutionQuery, query)
      await checkTypeInQuery(request, query)
      const { status, recipient, limit = defaultLimit, cursor, excerpt = false, ...others } = query
      const { from: _from, to: _to, ...narrowed } = others
      const before = cursor === undefined ? undefined : readCursor(cursor)
      const page = { before, limit }
      const filter = { ...narrowed, ...readRange(query) }
      const { rows, end } =
        recipient === undefined
          ? await listOfStatuses(request, filter, status, page)
          : await listOfRecipient(
              request,
              { ...filter, statuses: readStored(status) },
              recipient,
              page,
              workLimits,
            )
      const { id, reads } = request.workspace
      return {
        executions: excerpt ? await addExcerpts(reads, id, rows, ({ eventId }) => eventId) : rows,
        nextCursor: writeCursor(end),
      }
    },
  })
}

/** The calls of an execution say whom they reached: what has no row yet has made none. */
async function listOfRecipient(
  request: FastifyRequest,
  filter: ExecutionFilter,
  recipient: string,
  { before, limit }: { before: string | undefined; limit: number },
  workLimits: WorkLimits,
): Promise<Page> {
  const { id, reads } = request.workspace
  const { ids, end } = await findRows(
    request,
    { conditions: [], words: readWords(recipient), limit },
    (limits, visit: Visit<ScannedRow>) =>
      scanRows(reads, targetsToScan, narrowExecutions(id, filter), before, limits, visit),
    before,
    workLimits,
  )
  const { rows } = await listExecutions(reads, narrowExecutions(id, { ids }), { before, limit })
  return { rows: rows.map(presentStored), end }
}

interface Page {
  rows: ListedExecution[]
  /** The id below which the next page begins; undefined on the last page. */
  end: string | undefined
}

/** Reads what has a row, and what has none yet, and makes one page of the two. */
async function listOfStatuses(
  { workspace: { id, reads } }: FastifyRequest,
  filter: ExecutionFilter,
  text: string | undefined,
  page: { before: string | undefined; limit: number },
): Promise<Page> {
  const stored = readStored(text)
  const unstarted = readStatuses(text)?.filter(isUnstarted) ?? []
  const pages: Page[] = []
  // They have no error. They are read first: what starts meanwhile is in both pages, and not in neither.
  if (unstarted.length > 0 && filter.error === undefined) {
    const { rows, end } = await listUnstarted(reads, id, filter, unstarted, page)
    pages.push({ rows: rows.map(presentListed), end })
  }
  if (stored === undefined || stored.length > 0) {
    const narrowing = narrowExecutions(id, { ...filter, statuses: stored })
    const { rows, end } = await listExecutions(reads, narrowing, page)
    pages.push({ rows: rows.map(presentStored), end })
  }
  return joinPages(pages, page.limit)
}

/** Each page says how far it has read: the joined one reaches as far as the shorter. The later page knows more of what is in both. */
function joinPages(pages: Page[], limit: number): Page {
  const [end] = pages
    .flatMap((page) => page.end ?? [])
    .sort()
    .reverse()
  const found = pages.flatMap((page) => page.rows).filter(({ id }) => end === undefined || id >= end)
  const rows = [...new Map(found.map((row) => [row.id, row])).values()].sort((left, right) =>
    left.id < right.id ? 1 : -1,
  )
  return rows.length > limit ? { rows: rows.slice(0, limit), end: rows[limit - 1]?.id } : { rows, end }
}

function presentStored(row: ListedExecutionRow): ListedExecution {
  return {
    ...presentExecutionRow(row),
    success: row.error === null,
    conditionsPassed: true,
    actionsExecuted: row.actionsExecuted,
    dryRun: false,
  }
}

function presentListed(row: UnstartedRow): ListedExecution {
  const { results: _, ...execution } = presentUnstarted(row)
  return execution
}

type Status = (typeof statuses)[number]

/** Statuses that a row has; undefined: any. */
function readStored(text: string | undefined): ExecutionStatus[] | undefined {
  return readStatuses(text)?.filter((status): status is ExecutionStatus => !isUnstarted(status))
}

function readStatuses(text: string | undefined): Status[] | undefined {
  const wanted = text?.split(',')
  if (wanted?.every(isStatus) === false)
    throw refusals.badRequest(`Query parameter status must be one or several of ${statuses.join(', ')}`)
  return wanted as Status[] | undefined
}

function isStatus(text: string): boolean {
  return (statuses as readonly string[]).includes(text)
}

function isUnstarted(status: Status): status is UnstartedStatus {
  return (unstartedStatuses as readonly string[]).includes(status)
}
