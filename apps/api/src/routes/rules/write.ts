import type { WorkspaceTransaction } from '@automation/database'
import {
  completeMode,
  createdEntry,
  createRules,
  deletedEntry,
  deleteRules,
  isShadow,
  maxRuleBytes,
  modeOf,
  type RuleFields,
  RuleToCreate,
  RuleToUpdate,
} from '@automation/rules'
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import { IdempotencyHeader } from '../../acceptance/idempotency/request-key.js'
import { sendStored } from '../../acceptance/idempotency/stored-response.js'
import { administratorOf } from '../../access/administrator.js'
import { refusals } from '../../errors.js'
import { Id, refusalResponses } from '../../responses.js'
import {
  changeRulesOfRequest,
  findRuleToChange,
  IfMatchHeader,
  saveRule,
  updateRule,
} from './change-rules.js'
import { checkRuleOfRequest, ruleId } from './check-rule.js'
import { checkAndCreateOnce, createOnce } from './create-once.js'
import { type RuleRow, sendRule } from './present-rule.js'
import { Rule, RuleParams } from './rule-schemas.js'

const maxNameLength = 200

export const ruleWriteRoutes: FastifyPluginAsyncTypebox<{ bodyLimitBytes: number }> = async (
  app,
  options,
) => {
  const bodyLimit = Math.min(maxRuleBytes, options.bodyLimitBytes)

  app.post('/', {
    bodyLimit,
    attachValidation: true,
    config: { role: 'editor' },
    schema: {
      tags: ['Rules'],
      operationId: 'createRule',
      summary: 'Create a rule',
      headers: IdempotencyHeader,
      body: RuleToCreate,
      response: { 201: Rule, ...refusalResponses(409, 413, 415, 422) },
    },
    handler: async (request, reply) => {
      const check = () => checkRuleOfRequest(request, request.body)
      const answer = await checkAndCreateOnce(request, check, async (transaction, body) => {
        const fields = { description: '', conditions: [], ...body, ...completeMode(body) }
        const created = await createRule(transaction, request, fields)
        return { result: created, entry: createdEntry(created) }
      })
      return sendStored(reply, answer)
    },
  })

  app.put('/:id', {
    bodyLimit,
    attachValidation: true,
    config: { role: 'editor' },
    schema: {
      tags: ['Rules'],
      operationId: 'updateRule',
      summary: 'Update any subset of the fields of a rule',
      params: RuleParams,
      headers: IfMatchHeader,
      body: RuleToUpdate,
      response: { 200: Rule, ...refusalResponses(404, 409, 412, 413, 415, 422) },
    },
    handler: async (request, reply) => {
      const body = await checkRuleOfRequest(request, request.body)
      return sendRule(reply, await updateRule(request, ruleId(request.params), body))
    },
  })

  app.delete('/:id', {
    config: { role: 'editor' },
    schema: {
      tags: ['Rules'],
      operationId: 'deleteRule',
      summary: 'Delete a rule permanently',
      params: RuleParams,
      headers: IfMatchHeader,
      response: { 204: Type.Null(), ...refusalResponses(404, 412, 413, 415) },
    },
    handler: async (request, reply) => {
      const id = ruleId(request.params)
      await changeRulesOfRequest(request, async (transaction) => {
        const found = await findRuleToChange(transaction, request, id)
        const [cancelled = 0] = await deleteRules(transaction, found.workspaceId, [found.id])
        return { result: undefined, entry: deletedEntry(found, cancelled) }
      })
      return reply.status(204).send(null)
    },
  })

  app.patch('/:id/toggle', {
    config: { role: 'operator' },
    schema: {
      tags: ['Rules'],
      operationId: 'toggleRule',
      summary: 'Toggle a rule between active and inactive',
      params: RuleParams,
      headers: IfMatchHeader,
      response: {
        200: Type.Object({ id: Id, isActive: Type.Boolean() }, { title: 'RuleActivity' }),
        ...refusalResponses(404, 409, 412, 413, 415),
      },
    },
    handler: async (request) => {
      const id = ruleId(request.params)
      return changeRulesOfRequest(request, async (transaction) => {
        const found = await findRuleToChange(transaction, request, id)
        if (isShadow(found)) throw refusals.shadowToggled()
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
      operationId: 'cloneRule',
      summary: 'Clone a rule. The clone is inactive',
      params: RuleParams,
      headers: Type.Object({ ...IdempotencyHeader.properties, ...IfMatchHeader.properties }),
      response: { 201: Rule, ...refusalResponses(404, 409, 412, 413, 415, 422) },
    },
    handler: async (request, reply) => {
      const id = ruleId(request.params)
      const answer = await createOnce(request, async (transaction) => {
        const source = await findRuleToChange(transaction, request, id)
        const { description, trigger, conditions, actions } = source
        // A name may not grow past its limit (in characters, not halves of them), or the copy could not be saved again.
        const name = [...`Copy of ${source.name}`].slice(0, maxNameLength).join('')
        const fields = {
          name,
          description,
          trigger,
          conditions,
          actions,
          isActive: false,
          mode: modeOf(source),
        }
        const clone = await createRule(transaction, request, fields)
        return {
          result: clone,
          entry: { action: 'rule.cloned', subject: clone.id, details: { from: source.id } },
        }
      })
      return sendStored(reply, answer)
    },
  })
}

async function createRule(
  transaction: WorkspaceTransaction,
  request: FastifyRequest,
  fields: RuleFields,
): Promise<RuleRow> {
  const [created] = await createRules(transaction, administratorOf(request), [fields])
  // It has not counted anything yet.
  return { ...created, counters: null } as RuleRow
}
