import { orNull } from '@automation/access'
import { yieldEvery } from '@automation/admission'
import { readClock } from '@automation/database'
import { describeClockChange, describeTick, nextTick, type Schedule } from '@automation/engine'
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import { refusals } from '../../errors.js'
import { refusalResponses, Timestamp } from '../../responses.js'
import { ruleId } from './check-rule.js'
import { Rule, RuleParams } from './rule-schemas.js'

const maxTicks = 100
/** Others have the event loop after so many ms. */
const sliceMs = 10

const RuleTicks = Type.Object(
  {
    ruleId: Rule.properties.id,
    schedule: Rule.properties.schedule,
    isActive: Rule.properties.isActive,
    nextRunAt: Rule.properties.nextRunAt,
    next: Type.Array(
      Type.Object(
        {
          scheduledAt: Timestamp,
          localTime: Type.String({
            description: 'The same moment, with the offset of the zone of its schedule',
          }),
          clockChange: orNull(
            Type.String({
              description:
                'What it means for this tick that clocks are changed on its day; null: they are not changed',
            }),
          ),
        },
        { title: 'PlannedTick' },
      ),
      { description: 'Of a rule that is not active: what the next ticks would be' },
    ),
  },
  { title: 'RuleTicks' },
)

/** The next times at which a rule runs by its schedule. */
export const scheduleRoutes: FastifyPluginAsyncTypebox = async (app) => {
  app.get('/:id/schedule', {
    config: { role: 'viewer' },
    schema: {
      operationId: 'getRuleSchedule',
      summary: 'Get the next times at which a rule runs by its schedule',
      description: 'A rule without a schedule is 404 with `rule_has_no_schedule`.',
      params: RuleParams,
      querystring: Type.Object({
        next: Type.Optional(
          Type.Integer({ minimum: 1, maximum: maxTicks, description: 'Number of times. Default: 10' }),
        ),
      }),
      response: { 200: RuleTicks, ...refusalResponses(404) },
    },
    handler: async ({ params, query, workspace }) => {
      const rule = await workspace.database.rule.findUnique({
        where: { id: ruleId(params) },
        select: { id: true, schedule: true, isActive: true, nextRunAt: true },
      })
      if (rule === null) throw refusals.ruleNotFound()
      if (rule.schedule === null) throw refusals.ruleHasNoSchedule()
      const schedule = rule.schedule as Schedule
      const now = await readClock(app.database)
      // One that is overdue is still to come.
      const from = Math.min(now, (rule.nextRunAt?.getTime() ?? now + 1) - 1)
      return {
        ruleId: rule.id,
        schedule,
        isActive: rule.isActive,
        nextRunAt: rule.nextRunAt?.toISOString() ?? null,
        next: await listTicks(schedule, from, query.next ?? 10),
      }
    },
  })
}

/** To find how the clocks of a year are changed takes some ms, and a hundred ticks may be those of a hundred years. */
async function listTicks(schedule: Schedule, from: number, count: number) {
  const ticks = []
  let at = nextTick(schedule, from)
  while (at !== null && ticks.length < count) {
    const { scheduledAt, localTime } = describeTick(schedule, at, 0)
    ticks.push({ scheduledAt, localTime, clockChange: describeClockChange(schedule, at) })
    at = nextTick(schedule, at)
    await yieldEvery(sliceMs)
  }
  return ticks
}
