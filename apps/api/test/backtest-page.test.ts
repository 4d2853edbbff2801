import { newId } from '@automation/database'
import { createPrivateDatabase } from '@automation/launcher'
import t from 'tap'
import { startApi } from './fixtures/api.js'
import { hasShell, openShell, readBlocks } from './fixtures/page.js'
import { startWorker } from './fixtures/worker.js'

t.test(
  'the commands of docs/backtests.md print what it says',
  { skip: (await hasShell()) ? false : 'bash, curl or openssl is not on this machine' },
  async (t) => {
    const directory = t.testdir({ mail: {} })
    const api = await startApi(t, {
      DATABASE_URL: await createPrivateDatabase(process.env.DATABASE_URL ?? ''),
      QUEUE_PREFIX: `{${newId()}}`,
    })
    await startWorker(t, api.config, directory)
    const baseUrl = await api.app.listen({ host: '127.0.0.1', port: 0 })
    const workspace = await api.makeWorkspace()
    const shell = openShell(baseUrl, workspace, directory)
    const blocks = await readBlocks('backtests.md')
    const commands = blocks.filter(({ language }) => language === 'sh')
    const printed = (await shell(commands.map(({ text }) => text).join('\n'))).trim().split('\n')
    const answers = printed.map((line) => JSON.parse(line))
    const backtest = answers.find(({ report }) => report !== undefined)
    const shown = JSON.parse(blocks.find(({ language }) => language === 'json')?.text ?? '')
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
  },
)
