import t from 'tap'
import { testPage } from '../fixtures/page.js'

await testPage(t, ['guides/backtests.md'], async (t, { workspace, answers, shown: [shown] }) => {
  const backtest = answers.find(({ report }) => report !== undefined)
  const names = Object.keys(shown)
  t.ok(names.length > 5)
  t.equal(backtest.status, 'done')
  for (const name of names.filter((name) => name !== 'actions'))
    t.strictSame(backtest.report[name], shown[name], name)
  const { busiestMinute, ...action } = backtest.report.actions[0]
  t.match(busiestMinute, { isAtLeast: false })
  t.strictSame([action], shown.actions)
  t.equal(backtest.report.examples.added.length, 1)
  t.equal(await workspace.database.execution.count(), 2, 'the executions are those of the events')
})
