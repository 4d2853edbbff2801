import t from 'tap'
import { effects } from './crashes/effects.js'
import { jobsInHand } from './crashes/jobs-in-hand.js'
import { keyedRequests } from './crashes/keyed-requests.js'
import { progress } from './crashes/progress.js'
import { randomKills } from './crashes/random-kills.js'
import { reopening } from './crashes/reopening.js'
import { openStage } from './crashes/scene.js'
import { suspensions } from './crashes/suspensions.js'
import { webhooks } from './crashes/webhooks.js'
import { createRandom, shuffle } from './storm/random.js'

const scenarios = [
  effects,
  progress,
  keyedRequests,
  webhooks,
  randomKills,
  jobsInHand,
  suspensions,
  reopening,
]
/** In `npm test` one of them, by the seed of the run. */
const drawn = process.env.TEST_LONG
  ? scenarios
  : shuffle(scenarios, createRandom(Number(process.env.TEST_SEED ?? 1))).slice(0, 1)

const play = await openStage(t)
for (const scenario of drawn) t.test(scenario.title, (t) => play(t, scenario))
