import { openBrowser } from '@automation/launcher/open-browser'
import t from 'tap'
import { testBacktests } from './browser/backtests.js'
import { testChips } from './browser/chips.js'
import { testDecisions } from './browser/decisions.js'
import { testEditor } from './browser/editor.js'
import { testGroups } from './browser/groups.js'
import { testHostileData } from './browser/hostile.js'
import { testInbox } from './browser/inbox.js'
import { testLive } from './browser/live.js'
import { testNewcomer } from './browser/newcomer.js'
import { testOverview } from './browser/overview.js'
import { testRollout } from './browser/rollout.js'
import { testScreens } from './browser/screens.js'
import { testSweep } from './browser/sweep.js'
import { testTimes } from './browser/times.js'
import { testTruth } from './browser/truth.js'
import { testVerdicts } from './browser/verdicts.js'
import { startProductWithConsole } from './fixtures/product.js'

// One browser and one product for all: starting them takes longer than most of what is tested.
const [browser, product] = await Promise.all([openBrowser(t), startProductWithConsole(t)])
const context = { browser, ...product }
// Each has a workspace and a page of its own, and waits for one of them most of the time.
t.jobs = 2

testNewcomer(t, context)
testEditor(t, context)
testChips(t, context)
testGroups(t, context)
testTimes(t, context)
testVerdicts(t, context)
testHostileData(t, context)
testTruth(t, context)
testInbox(t, context)
testDecisions(t, context)
testOverview(t, context)
testLive(t, context)
testSweep(t, context)
if (process.env.TEST_LONG) {
  testScreens(t, context)
  testBacktests(t, context)
  testRollout(t, context)
}
