import { openBrowser } from '@automation/launcher/open-browser'
import t, { type Test } from 'tap'
import { testBacktests } from './browser/backtests.js'
import { testChips } from './browser/chips.js'
import { isDrawn } from './browser/context.js'
import { testDecisions } from './browser/decisions.js'
import { testEditor } from './browser/editor.js'
import { testErasures } from './browser/erasures.js'
import { testForms } from './browser/forms.js'
import { testGroups } from './browser/groups.js'
import { testHostileData } from './browser/hostile.js'
import { testInbox } from './browser/inbox.js'
import { testInvitations } from './browser/invitations.js'
import { testKept } from './browser/kept.js'
import { testKeyboard } from './browser/keyboard.js'
import { testLists } from './browser/lists.js'
import { testLive } from './browser/live.js'
import { testNeverBlank } from './browser/never-blank.js'
import { testNewcomer } from './browser/newcomer.js'
import { testOffboarding } from './browser/offboarding.js'
import { testOverview } from './browser/overview.js'
import { testPreviews } from './browser/previews.js'
import { testRollout } from './browser/rollout.js'
import { testSaving } from './browser/saving.js'
import { testScreens } from './browser/screens.js'
import { testSessions } from './browser/sessions.js'
import { testSupport } from './browser/support.js'
import { testSweep } from './browser/sweep.js'
import { testTasks } from './browser/tasks.js'
import { testTimes } from './browser/times.js'
import { testTruth } from './browser/truth.js'
import { testVerdicts } from './browser/verdicts.js'
import { testWalks } from './browser/walks.js'
import { startProductWithConsole } from './fixtures/product.js'

// One browser and one product for all: starting them takes longer than most of what is tested.
const [browser, product] = await Promise.all([openBrowser(t), startProductWithConsole(t)])
const context = { browser, ...product }
// Each has a workspace and a page of its own, and waits for one of them most of the time.
t.jobs = 2
const tests = {
  test: (title: string, run: (t: Test) => Promise<void>) =>
    t.test(title, (t) => browser.closeAfter(() => run(t))),
} as Test
let place = 0
/** A commit has a third of these, drawn, and each whose title speaks of secrets. */
const drawnTests = {
  test: (title: string, run: (t: Test) => Promise<void>) =>
    isDrawn(3, place++) || /secret/.test(title) ? tests.test(title, run) : undefined,
} as unknown as Test

testNewcomer(tests, context)
testEditor(tests, context)
testHostileData(tests, context)
testTruth(tests, context)
testNeverBlank(tests, context)
testKept(tests, context)
testKeyboard(tests, context)
testDecisions(tests, context)
testTasks(tests, context)
testPreviews(tests, context)
testInvitations(tests, context)
testSupport(tests, context)
testOffboarding(tests, context)
testErasures(tests, context)
testSaving(tests, context)
testForms(tests, context)
testSessions(tests, context)
testWalks(tests, context)
testSweep(tests, context)
for (const add of [
  ...[testChips, testGroups, testTimes, testVerdicts],
  ...[testInbox, testOverview, testLists, testLive],
])
  add(drawnTests, context)
if (process.env.TEST_LONG) {
  testScreens(tests, context)
  testBacktests(tests, context)
  testRollout(tests, context)
}
