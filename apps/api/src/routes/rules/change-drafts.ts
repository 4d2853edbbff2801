import { type Change, changeWorkspace } from '@automation/access'
import type { WorkspaceDatabase, WorkspaceTransaction } from '@automation/database'
import type { DraftRow } from '@automation/rules'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { administratorOf } from '../../access/administrator.js'
import { refusals } from '../../errors.js'
import { isTagRefused } from '../../etag.js'
import { ruleId } from './check-rule.js'
import { etagOfDraft, presentDraft, type RuleComparison } from './draft-schemas.js'
import type { RuleRow } from './present-rule.js'

export interface RuleAndDraft {
  rule: RuleRow
  draft: DraftRow | null
}

/** Changes the draft that a request names. Workers do not know of drafts: the version of the rules stays. */
export function changeDraft<Result>(
  request: FastifyRequest<{ Params: { id: string } }>,
  change: (transaction: WorkspaceTransaction, found: RuleAndDraft) => Promise<Change<Result>>,
): Promise<Result> {
  const id = ruleId(request.params)
  return changeWorkspace(administratorOf(request), async (transaction) =>
    change(transaction, await findDraftToChange(transaction, request, id)),
  )
}

/** @throws refusals: 404 where there is no such rule, 412 where `If-Match` names neither its draft nor, without a draft, its version */
export async function findDraftToChange(
  transaction: WorkspaceTransaction,
  request: FastifyRequest,
  id: string,
): Promise<RuleAndDraft> {
  const found = await findRuleAndDraft(transaction, id)
  if (isTagRefused(request, etagOfDraft(found.rule, found.draft))) throw refusals.draftMismatch()
  return found
}

export async function findRuleAndDraft(
  database: Pick<WorkspaceDatabase, 'rule' | 'ruleDraft'>,
  id: string,
): Promise<RuleAndDraft> {
  const rule = await database.rule.findUnique({ where: { id }, include: { counters: true } })
  if (rule === null) throw refusals.ruleNotFound()
  return { rule, draft: await database.ruleDraft.findUnique({ where: { ruleId: id } }) }
}

export function sendDraft(
  reply: FastifyReply,
  { rule, draft }: { rule: RuleRow; draft: DraftRow },
  comparison: RuleComparison = { difference: null, differenceFault: null },
) {
  return reply.header('etag', etagOfDraft(rule, draft)).send(presentDraft(draft, rule, comparison))
}
