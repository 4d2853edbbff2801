import type { WorkLimits } from '@automation/engine'
import {
  activeVersionOf,
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
import { administratorOf } from '../../access/administrator.js'
import { RuleDifference } from '../../differences/difference.js'
import { readDifference } from '../../differences/read-difference.js'
import type { Subject } from '../../differences/stored-difference.js'
import { refusals } from '../../errors.js'
import { fillMissingBody } from '../../plugins/bodies.js'
import { refusalFor } from '../../plugins/errors.js'
import { bodyFaults } from '../../plugins/validation.js'
import { refusalResponses } from '../../responses.js'
import { changeDraft, findDraftToChange, findRuleAndDraft, sendDraft } from './change-drafts.js'
import { changeRulesOfRequest, IfMatchHeader } from './change-rules.js'
import { checkRuleOfRequest, refuseFaults, ruleId } from './check-rule.js'
import { type Compared, Promotion, RuleDraft } from './draft-schemas.js'
import { readOldestUndone } from './guard.js'
import { sendRule } from './present-rule.js'
import { Rule, RuleParams } from './rule-schemas.js'
import { findOutdated } from './versions.js'

const ifMatch =
  'If-Match takes the ETag of the draft, which covers the version of the rule, too. Where there is no draft, it is the ETag of the rule.'

/** What a rule may become: saved beside it, compared with it on stored events, and promoted. */
export const draftRoutes: FastifyPluginAsyncTypebox<{
  bodyLimitBytes: number
  workLimits: WorkLimits
}> = async (app, { bodyLimitBytes, workLimits }) => {
  app.put('/:id/draft', {
    bodyLimit: Math.min(maxRuleBytes, bodyLimitBytes),
    attachValidation: true,
    config: { role: 'editor' },
    schema: {
      tags: ['Drafts'],
      operationId: 'saveRuleDraft',
      summary: 'Save the draft of a rule. It is validated like a rule, and does nothing',
      description: ifMatch,
      params: RuleParams,
      headers: IfMatchHeader,
      body: DraftToSave,
      response: { 200: RuleDraft, ...refusalResponses(404, 409, 412, 413, 415, 422) },
    },
    handler: async (request, reply) => {
      const body = await checkRuleOfRequest(request, request.body)
      const definition = definitionOf({ description: '', conditions: [], ...body })
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
      tags: ['Drafts'],
      operationId: 'getRuleDraft',
      summary: 'Get the draft of a rule, and what it would have done since it was saved',
      description:
        'The difference is computed when it is asked for, at most once a minute: the response continues it by as much as a read may take. The draft is sent in any case: where the difference fails, differenceFault says why.',
      params: RuleParams,
      response: { 200: RuleDraft, ...refusalResponses(404) },
    },
    handler: async (request, reply) => {
      const found = await findRuleAndDraft(request.workspace.database, ruleId(request.params))
      if (found.draft === null) throw refusals.draftNotFound()
      const { rule, draft } = found
      const { baseVersion: version } = draft
      const active = await request.workspace.database.ruleVersion.findUnique({
        where: { ruleId_version: { ruleId: rule.id, version } },
      })
      const subject = {
        ruleId: rule.id,
        kind: 'draft' as const,
        name: draft.id,
        since: draft.savedAt,
        active: active ? activeVersionOf(active) : undefined,
        draft: definitionToTest(draft),
      }
      return sendDraft(reply, { rule, draft }, await compare(request, subject, workLimits))
    },
  })

  app.delete('/:id/draft', {
    config: { role: 'editor' },
    schema: {
      tags: ['Drafts'],
      operationId: 'deleteRuleDraft',
      summary: 'Delete the draft of a rule',
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
    config: { role: 'editor' },
    schema: {
      tags: ['Drafts'],
      operationId: 'promoteRuleDraft',
      summary: 'Make the draft the next version of its rule, under a guard if you like',
      description: `One transaction makes the version, removes the draft and sets the guard. A draft of another version than the present one is refused (412). ${ifMatch}`,
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
      const promoted = await changeRulesOfRequest(request, async (transaction) => {
        const { rule, draft } = await findDraftToChange(transaction, request, id)
        if (draft === null) throw refusals.draftNotFound()
        if (draft.id !== checked?.id) throw refusals.draftMismatch()
        if (draft.baseVersion !== rule.version) throw refusals.draftStale()
        refuseFaults(faults)
        const { rule: result, entry } = await promoteDraft(
          transaction,
          administratorOf(request),
          rule,
          draft,
          guard,
          oldestUndone,
        )
        return { result, entry }
      })
      return sendRule(reply, promoted)
    },
  })

  app.get('/:id/difference', {
    config: { role: 'viewer' },
    schema: {
      tags: ['Drafts'],
      operationId: 'getRuleDifference',
      summary: 'Get what a rule in shadow mode would have done since it was last changed',
      description:
        'Like the difference of a draft, against nothing: active and difference are null. A rule that is not in shadow mode has none (404).',
      params: RuleParams,
      response: { 200: RuleDifference, ...refusalResponses(404, 409) },
    },
    handler: async (request) => {
      const { rule } = await findRuleAndDraft(request.workspace.database, ruleId(request.params))
      if (!isShadow(rule)) throw refusals.notAShadow()
      const since = rule.updatedAt
      const subject = {
        ruleId: rule.id,
        kind: 'shadow' as const,
        name: since.toISOString(),
        since,
        active: undefined,
        draft: definitionToTest(rule),
      }
      return readDifference(request, subject, workLimits)
    },
  })
}

/** The draft and its ETag must be there to be changed, also where the comparison fails. */
async function compare(request: FastifyRequest, subject: Subject, limits: WorkLimits): Promise<Compared> {
  try {
    return { difference: await readDifference(request, subject, limits), differenceFault: null }
  } catch (error) {
    const refusal = refusalFor(error as FastifyError, request)
    if (refusal === undefined) request.log.error({ err: error }, 'difference failed')
    return { difference: null, differenceFault: refusal?.message ?? 'Internal server error' }
  }
}
