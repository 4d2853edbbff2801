import { CheckResult } from '@automation/check'
import { Prisma, postgresNow, type WorkspaceReads } from '@automation/database'
import { type CheckedRule, type Fault, isTrigger, type RuleDefinition } from '@automation/engine'
import {
  completeMode,
  maxRules,
  observationLimits,
  observedEvents,
  observeTypes,
  type RuleToCreate,
  typesOf,
} from '@automation/rules'
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import { listReadableCredentials } from '../../access/readable-credentials.js'
import { refusals } from '../../errors.js'
import type { SetToCheck } from '../../evaluation/check-set.js'
import type { ResultOf } from '../../evaluation/evaluator.js'
import { fillMissingBody } from '../../plugins/bodies.js'
import { bodyFaults } from '../../plugins/validation.js'
import { refusalResponses } from '../../responses.js'
import { refuseFaults } from './check-rule.js'
import { readAllDefinitions } from './definition-texts.js'
import { RuleInSet } from './rule-file-schemas.js'
import { surveyIfFree } from './survey-if-free.js'

const RulesToCheck = Type.Object(
  {
    rules: Type.Optional(
      Type.Array(RuleInSet, {
        maxItems: maxRules,
        description: 'Default: the rules of the workspace',
      }),
    ),
  },
  { additionalProperties: false, title: 'RulesToCheck' },
)

export const checkRoutes: FastifyPluginAsyncTypebox = async (app) => {
  app.post('/check', {
    attachValidation: true,
    preValidation: fillMissingBody,
    config: { role: 'viewer' },
    schema: {
      operationId: 'checkRules',
      summary: 'Find rules that never match, redundant conditions, duplicate actions and loops',
      description:
        'Checks the rules of the body, or the current rules of the workspace. Nothing is changed, and a finding never blocks a save. Each finding is proven, or has an example event. Questions that could not be decided, or that exceeded a time or cost limit, are in `notKnown`. The rules are also compared with the newest 1,000 stored events of each trigger and of each type that a WAIT waits for, for as many types as can be surveyed in 2 s. A check counts as a dry run: a workspace runs one at a time.',
      body: RulesToCheck,
      response: { 200: CheckResult, ...refusalResponses(413, 415, 422) },
    },
    handler: async (request, reply) => {
      const checked = await checkRules(request)
      if ('faults' in checked) throw refusals.invalid(checked.faults)
      // It is JSON already.
      return reply.type('application/json; charset=utf-8').send(checked.json as never)
    },
  })
}

async function checkRules(request: FastifyRequest): Promise<ResultOf<'checkSet'>> {
  const { id, reads } = request.workspace
  const posted = await readPosted(request)
  // Surveys have turns of their own: the definitions are read after them.
  const types = posted?.flatMap(typesOf) ?? (await readTypes(reads, id))
  const observed = await observeTypes(types, (type) =>
    surveyIfFree(request, type, observedEvents, observationLimits),
  )
  return request.readAndEvaluate(async (evaluate) => {
    const rules: SetToCheck['rules'] = posted ?? { stored: await readAllDefinitions(reads, id) }
    const credentials = await listReadableCredentials(request, reads)
    return evaluate('checkSet', { rules, now: postgresNow(), observed, ...(credentials && { credentials }) })
  })
}

/** Those of all rules of a workspace. */
async function readTypes(reads: WorkspaceReads, workspaceId: string): Promise<string[]> {
  const rows = await reads.$queryRows<{ trigger: string; waited: string[] }>(Prisma.sql`
    SELECT rules.trigger, ARRAY(SELECT type FROM json_to_recordset(versions.awaits) AS awaited (type text)) AS waited
    FROM rules
    LEFT JOIN rule_versions AS versions
      ON versions.workspace_id = rules.workspace_id AND versions.rule_id = rules.id AND versions.version = rules.version
        AND versions.awaits IS NOT NULL
    WHERE rules.workspace_id = ${workspaceId}::uuid`)
  return rows.flatMap(({ trigger, waited }) => [trigger, ...waited])
}

/** @returns undefined where the workspace's rules are meant */
async function readPosted(request: FastifyRequest): Promise<CheckedRule[] | undefined> {
  const { body, validationError } = request
  refuseFaults(bodyFaults(validationError ?? {}))
  const { rules } = body as Type.Static<typeof RulesToCheck>
  if (rules === undefined) return undefined
  refuseFaults(await findUnknownTriggers(request, rules))
  return rules.map((rule) => ({
    conditions: [],
    ...(rule as Omit<RuleToCreate, 'conditions'> & Pick<RuleDefinition, 'actions'>),
    // A shadow does nothing, like an inactive rule.
    isActive: completeMode(rule).isActive,
  }))
}

async function findUnknownTriggers(
  { server, workspace }: FastifyRequest,
  rules: readonly RuleToCreate[],
): Promise<Fault[]> {
  if (rules.every(({ trigger }) => isTrigger(trigger))) return []
  const own = await server.eventTypes.readOwn(workspace.id)
  return rules.flatMap(({ trigger }, index) =>
    isTrigger(trigger) || own.has(trigger)
      ? []
      : [{ field: `rules[${index}].trigger`, message: 'Invalid trigger type' }],
  )
}
