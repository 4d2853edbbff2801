import type { WorkLimits } from '@automation/engine'
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { backtestRoutes } from './backtests.js'
import { batchRoutes } from './batch.js'
import { checkRoutes } from './check-set.js'
import { draftRoutes } from './drafts.js'
import { groupRoutes } from './groups.js'
import { guardRoutes } from './guard.js'
import { healthRoutes } from './health.js'
import { rulesOverviewRoutes } from './overview.js'
import { ruleReadRoutes } from './read.js'
import { rolloutRoutes } from './rollouts.js'
import { ruleFileRoutes } from './rule-files.js'
import { runRoutes } from './run.js'
import { scheduleRoutes } from './schedule.js'
import { summaryRoutes } from './summaries.js'
import { switchRoutes } from './switch.js'
import { validateRoutes } from './validate.js'
import { versionRoutes } from './versions.js'
import { ruleWriteRoutes } from './write.js'

/** The eleven endpoints of the rules, those of their versions, and events by the batch. */
export const ruleRoutes: FastifyPluginAsyncTypebox<{
  bodyLimitBytes: number
  workLimits: WorkLimits
  retentionDays: number
}> = async (app, { bodyLimitBytes, workLimits, retentionDays }) => {
  await app.register(async (definitions) => {
    // Rules are recursive and were checked when they were saved: plain JSON is both right and simple here.
    definitions.setSerializerCompiler(() => JSON.stringify)
    await definitions.register(ruleReadRoutes)
    await definitions.register(ruleWriteRoutes, { bodyLimitBytes })
    await definitions.register(switchRoutes)
    await definitions.register(versionRoutes)
    await definitions.register(ruleFileRoutes)
    await definitions.register(validateRoutes, { bodyLimitBytes })
    await definitions.register(backtestRoutes, { bodyLimitBytes, retentionDays })
    await definitions.register(draftRoutes, { bodyLimitBytes, retentionDays })
  })
  await app.register(healthRoutes)
  await app.register(rulesOverviewRoutes)
  await app.register(summaryRoutes)
  await app.register(groupRoutes)
  await app.register(scheduleRoutes)
  await app.register(guardRoutes)
  await app.register(rolloutRoutes)
  await app.register(checkRoutes)
  await app.register(runRoutes, { workLimits })
  await app.register(batchRoutes)
}
