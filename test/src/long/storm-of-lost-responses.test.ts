import t from 'tap'
import { checkStorm } from '../fixtures/storm-run.js'

// Each commit has its own storm (scripts/tap.mjs).
const seed = process.env.TEST_SEED ?? '20261127'
const [events, faults] = process.env.TEST_LARGE ? [5_000, 40] : [1_200, 8]

t.test('if responses of Postgres are lost, each call is made once', async (t) => {
  const size = ['--events', `${events}`, '--faults', `${faults}`]
  const alone = ['--hostile', '0', '--only', 'response lost', '--only', 'backends terminated']
  const { output } = await checkStorm(t, ['--seed', seed, ...size, ...alone])
  t.match(output, /; calls that are never repeated [1-9]\d*, switch-offs [1-9]/)
})
