import type { Administrator, Change } from '@automation/access'
import type { WorkspaceTransaction } from '@automation/database'
import { changeRules, isShadow } from '@automation/rules'
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import { changeOnce } from '../../acceptance/idempotency/change-once.js'
import { sendStored } from '../../acceptance/idempotency/stored-response.js'
import { refusals } from '../../errors.js'
import { IfMatchHeader } from '../../etag.js'
import { Id, refusalResponses } from '../../responses.js'
import { changeRulesOfRequest, findRuleToChange, saveRule } from './change-rules.js'
import { ruleId } from './check-rule.js'
import { RuleParams } from './rule-schemas.js'

const RuleActivity = Type.Object({ id: Id, isActive: Type.Boolean() }, { title: 'RuleActivity' })
type RuleActivity = Type.Static<typeof RuleActivity>

const switches = [
  {
    path: 'activate',
    isActive: true,
    operationId: 'activateRule',
    summary: 'Switch a rule on. An active rule stays active',
    description:
      'Unlike a toggle, it is safe to repeat. A rule in shadow mode is refused: set its mode to live. The rule is then no longer on the attention list.',
  },
  {
    path: 'deactivate',
    isActive: false,
    operationId: 'deactivateRule',
    summary: 'Switch a rule off. An inactive rule stays inactive',
    description:
      'Unlike a toggle, it is safe to repeat. Waiting executions of the rule are cancelled. A rule in shadow mode is refused.',
  },
] as const

/** On and off. An operator may do so; to change the rule takes an editor. */
export const switchRoutes: FastifyPluginAsyncTypebox = async (app) => {
  app.patch('/:id/toggle', {
    config: { role: 'operator' },
    schema: {
      operationId: 'toggleRule',
      summary: 'Toggle a rule between active and inactive',
      description: 'A repeat switches it back. `activate` and `deactivate` are safe to repeat.',
      params: RuleParams,
      headers: IfMatchHeader,
      response: { 200: RuleActivity, ...refusalResponses(404, 409, 412, 413, 415) },
    },
    handler: async (request) => {
      const id = ruleId(request.params)
      return changeRulesOfRequest(request, (transaction) => switchRule(transaction, request, id, 'other'))
    },
  })

  for (const { path, isActive, ...texts } of switches)
    app.post(`/:id/${path}`, {
      config: { role: 'operator', key: 'change' },
      schema: {
        ...texts,
        params: RuleParams,
        headers: IfMatchHeader,
        response: { 200: RuleActivity, ...refusalResponses(404, 409, 412, 413, 415, 422) },
      },
      handler: async (request, reply) => {
        const id = ruleId(request.params)
        const change = (administrator: Administrator) =>
          changeRules(administrator, (transaction) => switchRule(transaction, request, id, isActive))
        const present = (body: RuleActivity) => ({ status: 200, headers: {}, body })
        return sendStored(reply, await changeOnce(request, change, present))
      },
    })
}

/** @param wanted whether it shall be active, or `other` than now */
async function switchRule(
  transaction: WorkspaceTransaction,
  request: FastifyRequest,
  id: string,
  wanted: boolean | 'other',
): Promise<Change<RuleActivity>> {
  const found = await findRuleToChange(transaction, request, id)
  if (isShadow(found)) throw refusals.shadowSwitched()
  const isActive = wanted === 'other' ? !found.isActive : wanted
  const result = { id: found.id, isActive }
  if (isActive === found.isActive) return { result, entry: undefined }
  const { cancelled } = await saveRule(transaction, request, found, { isActive })
  return {
    result,
    entry: isActive
      ? { action: 'rule.activated', subject: found.id }
      : { action: 'rule.deactivated', subject: found.id, details: { cancelled } },
  }
}
