import type { Administrator } from '@automation/access'
import {
  activeVersionOf,
  type Compared,
  changeRules,
  completeDefinition,
  DraftToSave,
  definitionOf,
  definitionToTest,
  deleteDraft,
  findGuardFaults,
  isShadow,
  maxRuleBytes,
  promoteDraft,
  saveDraft,
} from '@automation/rules'
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyError, FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import { changeOnce } from '../../acceptance/idempotency/change-once.js'
import { sendStored } from '../../acceptance/idempotency/stored-response.js'
import { WaitHeader } from '../../acceptance/prefer.js'
import { administratorOf } from '../../access/administrator.js'
import { refusals } from '../../errors.js'
import { IfMatchHeader } from '../../etag.js'
import { fillMissingBody } from '../../plugins/bodies.js'
import { refusalFor } from '../../plugins/errors.js'
import { bodyFaults } from '../../plugins/validation.js'
import { refusalResponses } from '../../responses.js'
import {
  changeDraft,
  findDraftToChange,
  findRuleAndDraft,
  type RuleAndDraft,
  sendDraft,
} from './change-drafts.js'
import { checkRuleOfRequest, refuseFaults, ruleId } from './check-rule.js'
import { Promotion, RuleComparison, RuleDraft } from './draft-schemas.js'
import { readOldestUndone } from './guard.js'
import { presentSaved } from './present-rule.js'
import { readComparison } from './read-comparison.js'
import { Rule, RuleParams } from './rule-schemas.js'
import { findOutdated } from './versions.js'

const ifMatch =
  'If-Match accepts the ETag of the draft, which also covers the version of the rule. If there is no draft, use the ETag of the rule.'

/** What a rule may become: saved beside it, compared with it on stored events, and promoted. */
export const draftRoutes: FastifyPluginAsyncTypebox<{
  bodyLimitBytes: number
  retentionDays: number
}> = async (app, { bodyLimitBytes, retentionDays }) => {
  app.put('/:id/draft', {
    bodyLimit: Math.min(maxRuleBytes, bodyLimitBytes),
    attachValidation: true,
    config: { role: 'editor' },
    schema: {
      operationId: 'saveRuleDraft',
      summary: 'Save the draft of a rule. It is validated like a rule, and does nothing until it is promoted',
      description: ifMatch,
      params: RuleParams,
      headers: IfMatchHeader,
      body: DraftToSave,
      response: { 200: RuleDraft, ...refusalResponses(404, 409, 412, 413, 415, 422) },
    },
    handler: async (request, reply) => {
      const body = await checkRuleOfRequest(request, request.body)
      const definition = definitionOf(completeDefinition(body))
      const saved = await changeDraft(request, async (transaction, { rule }) => {
        const draft = await saveDraft(transaction, administratorOf(request), rule, definition)
        const entry = { action: 'draft.saved' as const, subject: rule.id, details: { basedOn: rule.version } }
        return { result: { rule, draft }, entry }
      })
      return sendDraft(reply, saved)
    },
  })

  app.get('/:id/draft', {
    config: { role: 'viewer' },
    schema: {
      operationId: 'getRuleDraft',
      summary: 'Get the draft of a rule, and what it would have done since it was saved',
      description:
        'Workers compute the difference when it is asked for, and continue it at most once a minute. The response has what was stored last: null at first, usually for a second. With `Prefer: wait=<seconds>` it waits until no event is left to read.',
      params: RuleParams,
      headers: WaitHeader,
      response: { 200: RuleDraft, ...refusalResponses(404) },
    },
    handler: async (request, reply) => {
      const { rule, draft } = await findRuleAndDraft(request.workspace.database, ruleId(request.params))
      if (draft === null) throw refusals.draftNotFound()
      const compared = await findCompared(request, draft)
      // The draft and its ETag must be there to be changed, also where the comparison fails.
      const comparison = await readComparison(request, reply, compared, retentionDays).catch((error) =>
        describeFault(request, error),
      )
      return sendDraft(reply, { rule, draft }, comparison)
    },
  })

  app.delete('/:id/draft', {
    config: { role: 'editor' },
    schema: {
      operationId: 'deleteRuleDraft',
      summary: 'Delete the draft of a rule',
      description: 'The rule itself stays as it is. If-Match accepts the ETag of the draft.',
      params: RuleParams,
      headers: IfMatchHeader,
      response: { 204: Type.Null(), ...refusalResponses(404, 412, 413, 415) },
    },
    handler: async (request, reply) => {
      await changeDraft(request, async (transaction, { rule, draft }) => {
        if (draft === null) throw refusals.draftNotFound()
        await deleteDraft(transaction, rule.id)
        return { result: undefined, entry: { action: 'draft.deleted', subject: rule.id } }
      })
      return reply.status(204).send(null)
    },
  })

  app.post('/:id/draft/promote', {
    attachValidation: true,
    preValidation: fillMissingBody,
    config: { role: 'editor', key: 'change' },
    schema: {
      operationId: 'promoteRuleDraft',
      summary: 'Promote the draft to the next version of its rule, optionally with a guard',
      description: `One transaction creates the version, removes the draft and sets the guard. A draft that is based on an outdated version is refused (412). With a guard, the previous version is restored within 5 seconds if the new one runs or fails more often than you allow. ${ifMatch}`,
      params: RuleParams,
      headers: IfMatchHeader,
      body: Promotion,
      response: { 200: Rule, ...refusalResponses(404, 409, 412, 413, 415, 422) },
    },
    handler: async (request, reply) => {
      const id = ruleId(request.params)
      refuseFaults(bodyFaults(request.validationError ?? {}))
      const { guard } = request.body
      if (guard !== undefined) refuseFaults(findGuardFaults(guard))
      // Event types and operators come and go: a draft that could be saved may be none today. Its check need not hold the transaction up.
      const checked = await request.workspace.database.ruleDraft.findUnique({ where: { ruleId: id } })
      const faults = checked === null ? [] : await findOutdated(request, definitionOf(checked))
      const oldestUndone = guard === undefined ? null : await readOldestUndone(request)
      const promote = (administrator: Administrator) =>
        changeRules(administrator, async (transaction) => {
          const { rule, draft } = await findDraftToChange(transaction, request, id)
          if (draft === null) throw refusals.draftNotFound()
          if (draft.id !== checked?.id) throw refusals.draftMismatch()
          if (draft.baseVersion !== rule.version) throw refusals.draftStale()
          refuseFaults(faults)
          const { rule: result, entry } = await promoteDraft(
            transaction,
            administrator,
            rule,
            draft,
            guard,
            oldestUndone,
          )
          return { result, entry }
        })
      return sendStored(reply, await changeOnce(request, promote, presentSaved))
    },
  })

  app.get('/:id/difference', {
    config: { role: 'viewer' },
    schema: {
      operationId: 'getRuleDifference',
      summary: 'Get what a rule in shadow mode would have done since its last change',
      description:
        'The report is that of a draft, but there is nothing to compare with: `active` and `difference` are null. A rule that is not in shadow mode is 404.',
      params: RuleParams,
      headers: WaitHeader,
      response: { 200: RuleComparison, ...refusalResponses(404) },
    },
    handler: async (request, reply) => {
      const { rule } = await findRuleAndDraft(request.workspace.database, ruleId(request.params))
      if (!isShadow(rule)) throw refusals.notAShadow()
      const shadow = { ruleId: rule.id, since: rule.updatedAt, draft: definitionToTest(rule) }
      return readComparison(request, reply, shadow, retentionDays)
    },
  })
}

/** A draft beside the version that it was made from. */
async function findCompared(
  { workspace }: FastifyRequest,
  draft: NonNullable<RuleAndDraft['draft']>,
): Promise<Compared> {
  const { ruleId, id, savedAt, baseVersion: version } = draft
  const found = await workspace.database.ruleVersion.findUnique({
    where: { ruleId_version: { ruleId, version } },
  })
  return {
    ruleId,
    draftId: id,
    since: savedAt,
    ...(found && { active: activeVersionOf(found) }),
    draft: definitionToTest(draft),
  }
}

function describeFault(request: FastifyRequest, error: FastifyError): RuleComparison {
  const refusal = refusalFor(error, request)
  if (refusal === undefined) request.log.error({ err: error }, 'difference failed')
  return { difference: null, differenceFault: refusal?.message ?? 'Internal server error' }
}
