import { newId, type Prisma } from '@automation/database'
import { findRuleFaults } from '@automation/engine'
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyReply } from 'fastify'
import { Type } from 'typebox'
import { Id, refusalAnswers } from '../answers.js'
import { changeRules, findRuleToChange, listChanges, refuseOneTooMany } from './change-rules.js'
import { checkRule, refuseFaults, ruleId } from './check-rule.js'
import { type RuleRow, sendRule } from './present-rule.js'
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
      body: RuleToCreate,
      response: { 201: Rule, ...refusalAnswers(409, 413, 415, 422) },
    },
    handler: async (request, reply) => {
      const body = checkRule(request.body, request.validationError)
      const rule = await changeRules(request, async (transaction) => {
        await refuseOneTooMany(transaction)
        const created = await transaction.rule.create({
          data: newRule(request.workspace.id, { description: '', conditions: [], isActive: true, ...body }),
          include: { counters: true },
        })
        return {
          result: created,
          entry: { action: 'rule.created', subject: created.id, details: { name: created.name } },
        }
      })
      return sendCreated(reply, rule)
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
        const changed = listChanges(found, body)
        // Switching on or off is no change of the definition.
        const isNewVersion = changed.some((name) => name !== 'isActive')
        const updated = await transaction.rule.update({
          where: { id },
          data: {
            ...(body as Prisma.RuleUncheckedUpdateInput),
            ...(isNewVersion ? { version: { increment: 1 } } : {}),
          },
          include: { counters: true },
        })
        const details = { changed, version: updated.version }
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
        const { id: subject, name } = await findRuleToChange(transaction, request, id)
        await transaction.rule.delete({ where: { id } })
        return { result: undefined, entry: { action: 'rule.deleted', subject, details: { name } } }
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
        const { isActive } = await findRuleToChange(transaction, request, id)
        const toggled = await transaction.rule.update({
          where: { id },
          data: { isActive: !isActive },
          select: { id: true, isActive: true },
        })
        const action = toggled.isActive ? 'rule.activated' : 'rule.deactivated'
        return { result: toggled, entry: { action, subject: toggled.id } }
      })
    },
  })

  app.post('/:id/clone', {
    config: { role: 'editor' },
    schema: {
      tags: ['Rules'],
      summary: 'Copy a rule; the copy is inactive',
      params: RuleParams,
      response: { 201: Rule, ...refusalAnswers(404, 409, 412, 413, 415) },
    },
    handler: async (request, reply) => {
      const id = ruleId(request.params)
      const rule = await changeRules(request, async (transaction) => {
        const source = await findRuleToChange(transaction, request, id)
        await refuseOneTooMany(transaction)
        const { description, trigger, conditions, actions } = source
        // A name may not grow past its limit (in characters, not halves of them), or the copy could not be saved again.
        const name = [...`Copy of ${source.name}`].slice(0, maxNameLength).join('')
        const clone = await transaction.rule.create({
          data: newRule(request.workspace.id, {
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
      return sendCreated(reply, rule)
    },
  })
}

type RuleFields = Pick<RuleRow, 'name' | 'description' | 'trigger' | 'isActive'> & {
  conditions: unknown
  actions: unknown
}

/** The row of a new rule together with its counters. */
function newRule(workspaceId: string, fields: RuleFields): Prisma.RuleUncheckedCreateInput {
  return {
    ...fields,
    id: newId(),
    workspaceId,
    conditions: fields.conditions as Prisma.InputJsonValue,
    actions: fields.actions as Prisma.InputJsonValue,
    counters: { create: { workspaceId } },
  }
}

function sendCreated(reply: FastifyReply, rule: RuleRow) {
  return sendRule(reply.status(201).header('location', `/api/automation-rules/${rule.id}`), rule)
}
