import type { Administrator } from '@automation/access'
import { Prisma } from '@automation/database'
import { type Fault, pickToCheck } from '@automation/engine'
import { sizeRules } from '@automation/ledger'
import {
  checkRuleFile,
  digestPlan,
  exportRules,
  type ImportPlan,
  importRules,
  listMissingCredentials,
  type PlannedImport,
  planImport,
  presentPlan,
  type RuleFile,
  refuseExcessDeletions,
} from '@automation/rules'
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import { changeOnce } from '../../acceptance/idempotency/change-once.js'
import { sendStored } from '../../acceptance/idempotency/stored-response.js'
import { refusals } from '../../errors.js'
import { IfMatchHeader, isTagRefused } from '../../etag.js'
import { maxResponseBytes, maxResponseMib } from '../../evaluation/bounds.js'
import { refusalResponses } from '../../responses.js'
import { sumOf } from './list-by-bytes.js'
import { RuleFileOfApi, RuleFileToImport, RuleImport } from './rule-file-schemas.js'
import { LabelsQuery } from './rule-schemas.js'

/** All rules and email templates of a workspace as one file, in both directions. */
export const ruleFileRoutes: FastifyPluginAsyncTypebox = async (app) => {
  app.get('/export', {
    config: { role: 'viewer' },
    schema: {
      operationId: 'exportRules',
      summary: 'Export rules and email templates as a file',
      description:
        'All of them, or the rules with a label and no email templates. Sorted by name, without ids, times and counters: the same rules always give the same file. It names credentials, and never holds them. Beyond 4 MiB it is 400 with `result_too_large`: export it label by label. A response of more than 1 MiB costs a token of the rate limit for each MiB.',
      querystring: Type.Object({ label: LabelsQuery }),
      response: { 200: RuleFileOfApi, ...refusalResponses() },
    },
    handler: async (request, reply) => {
      const { label = [] } = request.query
      await payForAll(request, reply, 'export the rules label by label', label)
      const file = await exportRules(request.workspace.database, label)
      return reply.send(file as never)
    },
  })

  app.post('/import', {
    config: { role: 'editor', key: 'change' },
    schema: {
      operationId: 'importRules',
      summary: 'Change rules and email templates to match a file: all of it, or nothing',
      description:
        'A dry run, which only shows the changes, unless `dryRun` is false. Items are matched by name, and several rules of one name by their definitions. The ETag of a dry run names the changes that it shows: send it as If-Match with the import, which is 412 if somebody has changed what they are about. Deletions of more than a third need `maxDeletions` (409, `limit_reached`). A rule without `isActive` keeps its state, and a new one is active. The file has no `tests`: `rules import` of the command line runs them first. A workspace with more than 4 MiB of rules and email templates is 400 with `result_too_large`: change its rules one by one.',
      headers: IfMatchHeader,
      body: RuleFileToImport,
      response: { 200: RuleImport, ...refusalResponses(409, 412, 413, 415, 422) },
    },
    handler: async (request, reply) => {
      const { body, workspace } = request
      const { prune = false, labels, maxDeletions, dryRun = true } = body
      const options = { prune, labels }
      await payForAll(request, reply, 'change the rules one by one')
      const file = await readFile(request, body.file)
      const missingCredentials = await listMissingCredentials(workspace.database, file.rules)
      const accept = (planned: PlannedImport) => {
        if ('faults' in planned) throw refusals.invalid(inFile(planned.faults))
        if (isTagRefused(request, tagOf(planned.plan))) throw refusals.resourceMismatch()
        return planned.plan
      }
      if (dryRun) {
        const plan = accept(await planImport(workspace.database, file, options))
        reply.header('etag', tagOf(plan))
        return reply.send({ applied: false, ...presentPlan(plan), missingCredentials })
      }
      const apply = (administrator: Administrator) =>
        importRules(administrator, file, options, (planned) => {
          const plan = accept(planned)
          refuseExcessDeletions(plan, maxDeletions)
          return plan
        })
      const present = (plan: ImportPlan) => {
        const applied = { applied: true, ...withoutValues(presentPlan(plan)), missingCredentials }
        return { status: 200, headers: {}, body: applied }
      }
      return sendStored(reply, await changeOnce(request, apply, present))
    },
  })
}

/** All of it is read and parsed here. @throws refusals: 400 for more than 4 MiB, 429 where no token is left */
async function payForAll(
  request: FastifyRequest,
  reply: FastifyReply,
  advice: string,
  labels: readonly string[] = [],
): Promise<void> {
  const { id, reads } = request.workspace
  const rules = sumOf(await sizeRules(reads, id, Prisma.sql`AND labels @> ${labels}::text[]`))
  const [templates] = await reads.$queryRaw<{ bytes: number }[]>(Prisma.sql`
    SELECT coalesce(sum(coalesce(octet_length(text), 0) + coalesce(octet_length(html), 0)), 0)::float8 AS bytes
    FROM email_templates WHERE workspace_id = ${id}::uuid`)
  const bytes = rules + (labels.length > 0 ? 0 : (templates?.bytes ?? 0))
  if (bytes > maxResponseBytes) throw refusals.resultTooLarge(maxResponseMib, advice)
  await request.server.payForBytes(request, reply, bytes)
}

/** The evaluator compiles the patterns of its rules. @throws a 422 refusal with all faults */
async function readFile(request: FastifyRequest, json: Type.Static<typeof RuleFileOfApi>): Promise<RuleFile> {
  const definitions = json.rules.map(pickToCheck)
  const [ownTypes, faults] = await Promise.all([
    request.server.eventTypes.readOwn(request.workspace.id),
    request.evaluate('findFaultsOfAll', { definitions }),
  ])
  const checked = checkRuleFile(json, ownTypes, (_, index) => faults[index] ?? [])
  if ('file' in checked) return checked.file
  throw refusals.invalid(inFile(checked.faults))
}

function inFile(faults: Fault[]): Fault[] {
  return faults.map(({ field, message }) => ({ field: `file.${field}`, message }))
}

function tagOf(plan: ImportPlan): string {
  return `"${digestPlan(plan)}"`
}

type Presented = ReturnType<typeof presentPlan>

/** A response may be stored for its repeats: it names the changed fields, and the dry run has shown them. */
function withoutValues({ rules, emailTemplates }: Presented): Presented {
  const strip = ({ change, ...changes }: Presented['rules']) => ({
    ...changes,
    change: change.map(({ name, fields }) => ({ name, fields: fields.map(({ field }) => ({ field })) })),
  })
  return { rules: strip(rules), emailTemplates: strip(emailTemplates) } as Presented
}
