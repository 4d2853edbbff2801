import { setTimeout as delay } from 'node:timers/promises'
import { makeTemporaryDirectory, useModules } from '@automation/launcher'
import t from 'tap'
import { armReports, filesOf, type Walked, walkRepeatedly } from './fixtures/functions-that-ran.js'
import { startProductWithTargets } from './fixtures/product-with-targets.js'
import { readWaysPage } from './fixtures/ways-page.js'
import { createWayOfAllRoutes, prepareWays } from './fixtures/ways-to-walk.js'

// A module is one source; a bundle has many.
useModules()
const sockets = await makeTemporaryDirectory()
const running = await startProductWithTargets({ env: armReports(sockets.path) })
t.teardown(async () => {
  await running.stop()
  await sockets.remove()
})
const walk = (way: () => Promise<unknown>) => walkRepeatedly(sockets.path, way)
const ways = await prepareWays(running)
const trigger = await walk(ways.trigger)
const call = await walk(ways.call)
const webhook = await walk(ways.webhook)
const decision = await walk(ways.decision)
const shared = await walk(createWayOfAllRoutes(running))
const quiet = await walk(() => delay(decision.ms))

const [ofTrigger, ofCall, ofWebhook, ofDecision] = [trigger, call, webhook, decision].map(
  ({ always }) => filesOf(always, shared.always, quiet.always).length,
)
t.comment(
  `the way of a trigger: ${ofTrigger} files, of a call: ${ofCall}, of a webhook with a call: ${ofWebhook}, of a decision: ${ofDecision}`,
)

const [ran, idle] = ['what ran is on the page', 'what is on the page ran']
const page = await readWaysPage()
const namedForAll = page.get('What all routes share') ?? []
const namedOfTrigger = page.get('The way of a trigger') ?? []
const namedOfCall = page.get('The way of a call') ?? []

t.test('ways.md names each file on the way of a trigger, and no other', async (t) => {
  t.strictSame(findUnnamed(trigger, namedOfTrigger), [], ran)
  t.strictSame(findIdle(namedOfTrigger, trigger), [], idle)
})

t.test(
  'it names each file on the way of a call that is not on that of a trigger, and no other',
  async (t) => {
    t.strictSame(findUnnamed(call, [...namedOfTrigger, ...namedOfCall]), [], ran)
    t.strictSame(findIdle(namedOfCall, call), [], idle)
  },
)

t.test('it names each file that runs for all routes with a body, and no other', async (t) => {
  const always = new Set([...shared.always].filter((one) => trigger.always.has(one)))
  t.strictSame(without(filesOf(always, quiet.ever), namedForAll), [], ran)
  t.strictSame(findIdle(namedForAll, shared), [], idle)
})

/** A function that also runs on a timer may have run by chance. */
function findUnnamed({ always }: Walked, named: string[]): string[] {
  return without(filesOf(always, shared.always, quiet.ever), [...named, ...namedForAll])
}

function findIdle(named: string[], { ever }: Walked): string[] {
  return without(named, filesOf(ever))
}

function without(files: string[], others: string[]): string[] {
  return files.filter((file) => !others.includes(file))
}
