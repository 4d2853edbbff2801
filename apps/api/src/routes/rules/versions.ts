import type { Administrator } from '@automation/access'
import type { WorkspaceDatabase } from '@automation/database'
import { compileShape, type Fault, limitFaults } from '@automation/engine'
import {
  changeRules,
  type DefinitionFields,
  definitionOf,
  FullDefinition,
  findRuleBodyFaults,
} from '@automation/rules'
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import { changeOnce } from '../../acceptance/idempotency/change-once.js'
import { sendStored } from '../../acceptance/idempotency/stored-response.js'
import { refusals } from '../../errors.js'
import { IfMatchHeader } from '../../etag.js'
import { PageQuery, refusalResponses } from '../../responses.js'
import { findRuleToChange, saveRule } from './change-rules.js'
import { findFaults, readOwnTypes, refuseFaults, ruleId } from './check-rule.js'
import { writeVersions } from './definition-texts.js'
import { findPageOfVersions, readInParts, sumOf } from './list-by-bytes.js'
import { presentSaved, presentVersion, type RuleRow } from './present-rule.js'
import { Rule, RuleParams, RuleVersion, VersionList } from './rule-schemas.js'
import { sendList } from './send-list.js'

const VersionParams = Type.Object({
  ...RuleParams.properties,
  version: Type.String({ description: 'Number of the version. The first version is 1.' }),
})

const defaultLimit = 50
const maxVersion = 2_147_483_647

/** What a rule was, and the way back to it. */
export const versionRoutes: FastifyPluginAsyncTypebox = async (app) => {
  app.get('/:id/versions', {
    config: { role: 'viewer' },
    schema: {
      operationId: 'listRuleVersions',
      summary: 'List the versions of a rule, newest first',
      description:
        'A version is the definition after one change. A response of more than 1 MiB costs a token of the rate limit for each MiB.',
      params: RuleParams,
      querystring: Type.Object(PageQuery),
      response: { 200: VersionList, ...refusalResponses(404) },
    },
    handler: async (request, reply) => {
      const { params, query, workspace } = request
      const { id: workspaceId, reads } = workspace
      const id = ruleId(params)
      const { limit = defaultLimit, cursor } = query
      const below = cursor === undefined ? maxVersion : readCursor(cursor)
      const narrowing = { workspaceId, ruleId: id, below }
      const { versions, isLast } = await findPageOfVersions(reads, narrowing, limit)
      if (versions.length === 0) await refuseUnknownRule(reads, id)
      await app.payForBytes(request, reply, sumOf(versions))
      const parts = readInParts(versions, (part) => writeVersions(reads, { workspaceId, ruleId: id }, part))
      const last = versions.at(-1)
      return sendList(reply, 'versions', parts, last && !isLast ? writeCursor(last.version) : null)
    },
  })

  app.get('/:id/versions/:version', {
    config: { role: 'viewer' },
    schema: {
      operationId: 'getRuleVersion',
      summary: 'Get a version of a rule',
      description:
        'The definition as it was, and who saved it. Versions of the last hour and of stored executions are always kept; the oldest of the others may be removed.',
      params: VersionParams,
      response: { 200: RuleVersion, ...refusalResponses(404) },
    },
    handler: async ({ params, workspace: { reads: database } }) => {
      return presentVersion(await findVersion(database, ruleId(params), params.version))
    },
  })

  app.post('/:id/versions/:version/restore', {
    config: { role: 'editor', key: 'change' },
    schema: {
      operationId: 'restoreRuleVersion',
      summary: 'Restore a previous version of a rule as a new version',
      description:
        'The definition of the old version becomes a new one, and the state of the rule stays. It is validated like an update, so a version that names a deleted event type is refused.',
      params: VersionParams,
      headers: IfMatchHeader,
      response: { 200: Rule, ...refusalResponses(404, 409, 412, 413, 415, 422) },
    },
    handler: async (request, reply) => {
      const { params } = request
      const id = ruleId(params)
      // A version never changes, so its check need not hold the transaction up.
      const checked = await findStoredVersion(request.workspace.database, id, params.version)
      const faults = checked === null ? [] : await findOutdated(request, definitionOf(checked))
      const restore = (administrator: Administrator) =>
        changeRules<RuleRow>(administrator, async (transaction) => {
          const found = await findRuleToChange(transaction, request, id)
          const source = await findVersion(transaction, id, params.version)
          const definition = definitionOf(source)
          refuseFaults(faults)
          const { rule: restored, changed } = await saveRule(transaction, request, found, definition)
          const details = { from: source.version, changed, version: restored.version }
          return {
            result: restored,
            entry:
              changed.length > 0 ? { action: 'rule.restored', subject: restored.id, details } : undefined,
          }
        })
      return sendStored(reply, await changeOnce(request, restore, presentSaved))
    },
  })
}

/** @throws refusals: 404 where the rule or the version does not exist */
async function findVersion(database: Versions, id: string, text: string) {
  const row = await findStoredVersion(database, id, text)
  if (row !== null) return row
  await refuseUnknownRule(database, id)
  throw refusals.versionNotFound()
}

function findStoredVersion(database: Versions, id: string, text: string) {
  // No version has the number 0.
  const version = /^[1-9]\d{0,8}$/.test(text) ? Number(text) : 0
  return database.ruleVersion.findUnique({ where: { ruleId_version: { ruleId: id, version } } })
}

type Versions = Pick<WorkspaceDatabase, 'rule' | 'ruleVersion'>

async function refuseUnknownRule(database: Versions, id: string): Promise<void> {
  if ((await database.rule.count({ where: { id } })) === 0) throw refusals.ruleNotFound()
}

const findShapeFaults = compileShape(FullDefinition)

/** What could be saved once may be none today: operators, actions and event types come and go. */
export async function findOutdated(request: FastifyRequest, definition: DefinitionFields): Promise<Fault[]> {
  const { faults, unknownTrigger } = findRuleBodyFaults(
    definition,
    limitFaults(findShapeFaults(definition)),
    await findFaults(request, definition),
    await readOwnTypes(request, definition),
  )
  const isKnown = unknownTrigger === undefined || faults.some(({ field }) => field === unknownTrigger.field)
  return isKnown ? faults : [...faults, unknownTrigger]
}

function writeCursor(version: number): string {
  return Buffer.from(String(version)).toString('base64url')
}

/** @throws a 400 refusal for a text that never was a cursor of ours */
function readCursor(cursor: string): number {
  const text = Buffer.from(cursor, 'base64url').toString()
  if (!/^[1-9]\d{0,8}$/.test(text)) throw refusals.invalidCursor()
  return Number(text)
}
