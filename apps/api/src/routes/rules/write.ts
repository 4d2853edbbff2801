import { cancelWaitingRuns } from '@automation/administration'
import { newId, type Prisma } from '@automation/database'
import { findRuleFaults } from '@automation/engine'
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import { sendAnswer } from '../../idempotency/answer.js'
import { IdempotencyHeader } from '../../idempotency/request-key.js'
import { Id, refusalAnswers } from '../answers.js'
import { changeRules, findRuleToChange, newVersion, refuseOneTooMany, saveRule } from './change-rules.js'
import { checkRule, refuseFaults, ruleId } from './check-rule.js'
import { createOnce } from './create-once.js'
import { type RuleFields, sendRule } from './present-rule.js'
import { Rule, RuleParams, RuleToCreate, RuleToUpdate } from './rule-schemas.js'

const maxNameLength = 200
const ruleBodyLimitBytes = 262_144

export const writeRoutes: FastifyPluginAsyncTypebox<{ bodyLimitBytes: number }> = async (app, options) => {
  const bodyLimit = Math.min(ruleBodyLimitBytes, options.bodyLimitBytes)

  app.post('/', {
    bodyLimit,
    attachValidation: true,
    config: { role: 'editor' },
    schema: {
      tags: ['Rules'],
      summary: 'Create a rule',
      headers: IdempotencyHeader,
      body: RuleToCreate,
      response: { 201: Rule, ...refusalAnswers(409, 413, 415, 422) },
    },
    handler: async (request, reply) => {
      const body = checkRule(request.body, request.validationError)
      const answer = await createOnce(request, async (transaction) => {
        await refuseOneTooMany(transaction)
        const created = await transaction.rule.create({
          data: newRule(request.workspace, { description: '', conditions: [], isActive: true, ...body }),
          include: { counters: true },
        })
        return {
          result: created,
          entry: { action: 'rule.created', subject: created.id, details: { name: created.name } },
        }
      })
      return sendAnswer(reply, answer)
    },
  })

  app.put('/:id', {
    bodyLimit,
    attachValidation: true,
    config: { role: 'editor' },
    schema: {
      tags: ['Rules'],
      summary: 'Update a rule: any subset of its fields',
      params: RuleParams,
      body: RuleToUpdate,
      response: { 200: Rule, ...refusalAnswers(404, 412, 413, 415, 422) },
    },
    handler: async (request, reply) => {
      const body = checkRule(request.body, request.validationError)
      const id = ruleId(request.params)
      const rule = await changeRules(request, async (transaction) => {
        const found = await findRuleToChange(transaction, request, id)
        // Some limits hold for the whole rule, whichever part of it was sent.
        refuseFaults(findRuleFaults({ ...found, ...body }))
        const { rule: updated, changed, ...rest } = await saveRule(transaction, request, found, body)
        const details = { changed, version: updated.version, ...rest }
        return {
          result: updated,
          entry: changed.length > 0 ? { action: 'rule.updated', subject: updated.id, details } : undefined,
        }
      })
      return sendRule(reply, rule)
    },
  })

  app.delete('/:id', {
    config: { role: 'editor' },
    schema: {
      tags: ['Rules'],
      summary: 'Delete a rule for good',
      params: RuleParams,
      response: { 204: Type.Null(), ...refusalAnswers(404, 412, 413, 415) },
    },
    handler: async (request, reply) => {
      const id = ruleId(request.params)
      await changeRules(request, async (transaction) => {
        const found = await findRuleToChange(transaction, request, id)
        const cancelled = await cancelWaitingRuns(transaction, found, 'The rule was deleted')
        await transaction.rule.delete({ where: { id } })
        const details = { name: found.name, cancelled }
        return { result: undefined, entry: { action: 'rule.deleted', subject: found.id, details } }
      })
      return reply.status(204).send(null)
    },
  })

  app.patch('/:id/toggle', {
    config: { role: 'operator' },
    schema: {
      tags: ['Rules'],
      summary: 'Switch a rule on or off',
      params: RuleParams,
      response: {
        200: Type.Object({ id: Id, isActive: Type.Boolean() }),
        ...refusalAnswers(404, 412, 413, 415),
      },
    },
    handler: async (request) => {
      const id = ruleId(request.params)
      return changeRules(request, async (transaction) => {
        const found = await findRuleToChange(transaction, request, id)
        const isActive = !found.isActive
        const { cancelled } = await saveRule(transaction, request, found, { isActive })
        return {
          result: { id: found.id, isActive },
          entry: isActive
            ? { action: 'rule.activated', subject: found.id }
            : { action: 'rule.deactivated', subject: found.id, details: { cancelled } },
        }
      })
    },
  })

  app.post('/:id/clone', {
    config: { role: 'editor' },
    schema: {
      tags: ['Rules'],
      summary: 'Copy a rule; the copy is inactive',
      params: RuleParams,
      headers: IdempotencyHeader,
      response: { 201: Rule, ...refusalAnswers(404, 409, 412, 413, 415, 422) },
    },
    handler: async (request, reply) => {
      const id = ruleId(request.params)
      const answer = await createOnce(request, async (transaction) => {
        const source = await findRuleToChange(transaction, request, id)
        await refuseOneTooMany(transaction)
        const { description, trigger, conditions, actions } = source
        // A name may not grow past its limit (in characters, not halves of them), or the copy could not be saved again.
        const name = [...`Copy of ${source.name}`].slice(0, maxNameLength).join('')
        const clone = await transaction.rule.create({
          data: newRule(request.workspace, {
            name,
            description,
            trigger,
            conditions,
            actions,
            isActive: false,
          }),
          include: { counters: true },
        })
        return {
          result: clone,
          entry: { action: 'rule.cloned', subject: clone.id, details: { from: source.id } },
        }
      })
      return sendAnswer(reply, answer)
    },
  })
}

/** The row of a new rule together with its counters and its first version. */
function newRule(
  { id: workspaceId, actor }: FastifyRequest['workspace'],
  fields: RuleFields,
): Prisma.RuleUncheckedCreateInput {
  return {
    ...fields,
    id: newId(),
    workspaceId,
    conditions: fields.conditions as Prisma.InputJsonValue,
    actions: fields.actions as Prisma.InputJsonValue,
    counters: { create: { workspaceId } },
    versions: newVersion({ ...fields, workspaceId, version: 1 }, actor),
  }
}
