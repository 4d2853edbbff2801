import { compareWithEvents } from '@automation/check'
import { type CheckedRule, findRuleWarnings, type RuleDefinition } from '@automation/engine'
import {
  arrangeRule,
  completeDefinition,
  completeMode,
  ExpectEvery,
  FullDefinition,
  findWarningsOfCredentials,
  maxRuleBytes,
  omittedInFiles,
  RuleMode,
  RuleToCreate,
} from '@automation/rules'
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import { listReadableCredentials } from '../../access/readable-credentials.js'
import { FieldError, refusalResponses } from '../../responses.js'
import { checkRuleOfRequest } from './check-rule.js'
import { surveyIfFree } from './survey-if-free.js'

const ValidatedRule = Type.Object(
  {
    rule: Type.Object(
      {
        ...FullDefinition.properties,
        ...omittedInFiles,
        isActive: Type.Boolean(),
        mode: Type.Optional(RuleMode),
        expectEvery: Type.Optional(ExpectEvery),
      },
      { title: 'RuleDefinition', description: 'The rule as it would be saved' },
    ),
    warnings: Type.Array(FieldError, { description: 'Warnings: valid, but probably a mistake' }),
  },
  { title: 'ValidatedRule' },
)

/** Checks a rule as its creation does, with the same refusals, and saves nothing. */
export const validateRoutes: FastifyPluginAsyncTypebox<{ bodyLimitBytes: number }> = async (app, options) => {
  app.post('/validate', {
    bodyLimit: Math.min(maxRuleBytes, options.bodyLimitBytes),
    attachValidation: true,
    config: { role: 'viewer' },
    schema: {
      operationId: 'validateRule',
      summary: 'Validate a rule without saving it',
      description:
        'An invalid rule is refused as it would be on creation. Otherwise the response has the rule as it would be saved, and warnings: what is valid but probably a mistake, and differences from the newest 200 events of its trigger. The limits of a workspace, such as the number of its rules, are not checked.',
      body: RuleToCreate,
      response: { 200: ValidatedRule, ...refusalResponses(413, 415, 422) },
    },
    handler: async (request) => {
      const body = await checkRuleOfRequest(request, request.body)
      const rule = { ...completeDefinition(body), ...completeMode(body) }
      const definition = rule as unknown as RuleDefinition & { trigger: string }
      const warnings = [
        ...findRuleWarnings(definition),
        ...(await findMissingTemplates(request, definition)),
        ...(await findWarningsOfCredentials(definition.actions, () =>
          listReadableCredentials(request, request.workspace.database),
        )),
        ...(await compareWithStored(request, { ...definition, name: body.name })),
      ]
      return { rule: arrangeRule(rule) as never, warnings }
    },
  })
}

/** Fewer than a check of rules looks at: authors validate often. */
const observed = { count: 200, limits: { events: 2_000, ms: 200 } }

/** What the newest events of the trigger say against the rule; nothing if they cannot be read now. */
async function compareWithStored(request: FastifyRequest, rule: CheckedRule) {
  const fields = await surveyIfFree(request, rule.trigger, observed.count, observed.limits)
  if (fields === undefined) return []
  const findings = compareWithEvents(rule, JSON.parse(fields))
  return findings.map(({ path, message }) => ({ field: path, message }))
}

/** A mail with an unknown template is sent all the same, with a text of the service. */
async function findMissingTemplates(request: FastifyRequest, { actions }: RuleDefinition) {
  const used = actions.flatMap(({ type, config }, index) =>
    type === 'SEND_EMAIL' && !config.template.includes('{{') ? [{ index, name: config.template }] : [],
  )
  if (used.length === 0) return []
  const known = await request.workspace.database.emailTemplate.findMany({
    where: { name: { in: used.map(({ name }) => name) } },
    select: { name: true },
  })
  const names = new Set(known.map(({ name }) => name))
  return used
    .filter(({ name }) => !names.has(name))
    .map(({ index, name }) => ({
      field: `actions[${index}].config.template`,
      message: `No template named "${name}", so the built-in email is sent`,
    }))
}
