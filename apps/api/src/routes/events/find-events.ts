import type { WorkLimits } from '@automation/engine'
import { type ScanRange, scanEvents } from '@automation/history'
import type { FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import { findRows, type Wanted } from '../../evaluation/find-rows.js'
import { SearchText } from '../../lists/search-text.js'

export const SearchWords = Type.Optional({
  ...SearchText,
  description:
    'Words, all of which the data of the event has in any of its texts and numbers, also as a part of a longer word and in other letter case. Deliveries are not found.',
})

/** Finds events by their data, the newest first. @param after the `end` of the page before */
export function findEvents(
  request: FastifyRequest,
  { range, ...wanted }: Wanted & { range: Omit<ScanRange, 'workspaceId' | 'order'> },
  after: string | undefined,
  workLimits: WorkLimits,
) {
  const { reads, id: workspaceId } = request.workspace
  const newestFirst = { workspaceId, ...range, order: 'newest first' as const }
  return findRows(
    request,
    wanted,
    (limits, visit) => scanEvents(reads, newestFirst, after, limits, visit),
    after,
    workLimits,
  )
}
