import type { Administrator } from '@automation/access'
import type { WorkspaceTransaction } from '@automation/database'
import { cutText } from '@automation/engine'
import {
  changeRules,
  completeDefinition,
  completeMode,
  createdEntry,
  createRules,
  definitionOf,
  deletedEntry,
  deleteRules,
  maxRuleBytes,
  modeOf,
  type RuleFields,
  RuleToCreate,
  RuleToUpdate,
} from '@automation/rules'
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import { changeOnce } from '../../acceptance/idempotency/change-once.js'
import { sendStored } from '../../acceptance/idempotency/stored-response.js'
import { administratorOf } from '../../access/administrator.js'
import { IfMatchHeader } from '../../etag.js'
import { refusalResponses } from '../../responses.js'
import { changeRulesOfRequest, findRuleToChange, updateRule } from './change-rules.js'
import { checkRuleOfRequest, ruleId } from './check-rule.js'
import { presentCreated, type RuleRow, sendRule } from './present-rule.js'
import { Rule, RuleParams } from './rule-schemas.js'

const maxNameLength = 200

/** A partial update is a PATCH; PUT does the same. */
const updates = [
  {
    method: 'PUT',
    operationId: 'updateRule',
    summary: 'Update any subset of the fields of a rule',
    description:
      'Fields that you omit stay as they are. A changed definition is a new version. PATCH does the same.',
  },
  {
    method: 'PATCH',
    operationId: 'patchRule',
    summary: 'Update any subset of the fields of a rule, like PUT',
    description: 'Fields that you omit stay as they are. A changed definition is a new version.',
  },
] as const

export const ruleWriteRoutes: FastifyPluginAsyncTypebox<{ bodyLimitBytes: number }> = async (
  app,
  options,
) => {
  const bodyLimit = Math.min(maxRuleBytes, options.bodyLimitBytes)

  app.post('/', {
    bodyLimit,
    attachValidation: true,
    config: { role: 'editor', key: 'change' },
    schema: {
      operationId: 'createRule',
      summary: 'Create a rule',
      description:
        'The response has the rule as it is stored, with version 1: operators have their full names. It is active unless `isActive` is false. An unknown event type is 400 with `invalid_trigger_type`, and all other errors come together as 422. A workspace has at most 1,000 rules (409, `limit_reached`).',
      body: RuleToCreate,
      response: { 201: Rule, ...refusalResponses(409, 413, 415, 422) },
    },
    handler: async (request, reply) => {
      const body = await checkRuleOfRequest(request, request.body)
      const fields = { ...completeDefinition(body), ...completeMode(body) }
      const create = (administrator: Administrator) =>
        changeRules(administrator, async (transaction) => {
          const created = await createRule(transaction, request, fields)
          return { result: created, entry: createdEntry(created) }
        })
      return sendStored(reply, await changeOnce(request, create, presentCreated))
    },
  })

  for (const { method, operationId, summary, description } of updates)
    app.route({
      method,
      url: '/:id',
      bodyLimit,
      attachValidation: true,
      config: { role: 'editor' },
      schema: {
        operationId,
        summary,
        description,
        params: RuleParams,
        headers: IfMatchHeader,
        body: RuleToUpdate,
        response: { 200: Rule, ...refusalResponses(404, 409, 412, 413, 415, 422) },
      },
      handler: async (request, reply) => {
        const body = await checkRuleOfRequest(request, request.body, true)
        return sendRule(reply, await updateRule(request, ruleId(request.params), body))
      },
    })

  app.delete('/:id', {
    config: { role: 'editor' },
    schema: {
      operationId: 'deleteRule',
      summary: 'Delete a rule permanently',
      description:
        'Its versions, draft and guard are deleted, and its waiting executions are cancelled. Finished executions and tasks stay.',
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

  app.post('/:id/clone', {
    config: { role: 'editor', key: 'change' },
    schema: {
      operationId: 'cloneRule',
      summary: 'Clone a rule. The clone is inactive',
      description:
        'The copy has the same definition, the name prefixed with `Copy of `, version 1, and no counters. Activate it when it is ready.',
      params: RuleParams,
      headers: IfMatchHeader,
      response: { 201: Rule, ...refusalResponses(404, 409, 412, 413, 415, 422) },
    },
    handler: async (request, reply) => {
      const id = ruleId(request.params)
      const clone = (administrator: Administrator) =>
        changeRules(administrator, async (transaction) => {
          const source = await findRuleToChange(transaction, request, id)
          const result = await createRule(transaction, request, cloneFields(source))
          const details = { from: source.id }
          return { result, entry: { action: 'rule.cloned', subject: result.id, details } }
        })
      return sendStored(reply, await changeOnce(request, clone, presentCreated))
    },
  })
}

function cloneFields(source: RuleRow): RuleFields {
  const definition = definitionOf(source)
  // A name may not grow past its limit, or the copy could not be saved again.
  const name = cutText(`Copy of ${source.name}`, maxNameLength)
  return { ...definition, name, isActive: false, mode: modeOf(source), expectEvery: source.expectEvery }
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
