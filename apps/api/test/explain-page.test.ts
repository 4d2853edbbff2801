import { newId } from '@automation/database'
import { createPrivateDatabase } from '@automation/launcher'
import t from 'tap'
import { startApi } from './fixtures/api.js'
import { hasShell, openShell, readBlocks } from './fixtures/page.js'
import { startWorker } from './fixtures/worker.js'

t.test(
  'the commands of docs/explain.md print what it says',
  { skip: (await hasShell()) ? false : 'bash, curl or openssl is not on this machine' },
  async (t) => {
    const directory = t.testdir({ mail: {} })
    const api = await startApi(t, {
      DATABASE_URL: await createPrivateDatabase(process.env.DATABASE_URL ?? ''),
      QUEUE_PREFIX: `{${newId()}}`,
    })
    await startWorker(t, api.config, directory)
    const baseUrl = await api.app.listen({ host: '127.0.0.1', port: 0 })
    const shell = openShell(baseUrl, await api.makeWorkspace(), directory)
    const blocks = await readBlocks('explain.md')
    const commands = blocks.filter(({ language }) => language === 'sh')
    const printed = (await shell(commands.map(({ text }) => text).join('\n'))).trim().split('\n')
    const answers = printed.map((line) => JSON.parse(line))
    const [hot, , , why, found, type, , fields] = answers
    const [, , , drafted, promoted, guard] = answers.slice(8)
    const shown = JSON.parse(blocks.find(({ language }) => language === 'json')?.text ?? '')
    t.strictSame(
      why.rules.map(({ name, verdict }: { name: string; verdict: string }) => [name, verdict]),
      [
        ['All leads', 'matched'],
        ['Hot leads', 'not_matched'],
      ],
    )
    const { ruleId, ...missed } = why.rules[1]
    t.equal(ruleId, hot.id)
    t.strictSame(missed, shown)
    t.match(found, { events: [{ id: why.eventId }], scanned: 1, nextCursor: null })
    t.match(type, { name: 'PAYMENT_FAILED' })
    const differs = JSON.parse(blocks.filter(({ language }) => language === 'json')[1]?.text ?? '')
    t.match(drafted.difference, { ...differs, isComplete: true, actions: [{ done: 2 }] })
    t.match(promoted, { version: 2, conditions: [{ value: 500 }] })
    t.match(guard, { version: 2, previousVersion: 1, maxRunsPerHour: 200, trippedAt: null })
    t.match(fields, { events: 1, fields: [{ path: 'amount', kinds: ['number'], smallest: 49.5 }, {}, {}] })
  },
)
