import t from 'tap'
import { noteCpu } from './cpu-time.mjs'

/** What files call or set on tap's root at their top level. */
const delegated = [
  ...[
    'test',
    'teardown',
    'setTimeout',
    'comment',
    'before',
    'beforeEach',
    'afterEach',
    'testdir',
    'testdirName',
    'jobs',
    'name',
  ],
  ...[
    'ok',
    'notOk',
    'equal',
    'not',
    'same',
    'strictSame',
    'match',
    'notMatch',
    'rejects',
    'throws',
    'pass',
    'fail',
  ],
]

/**
 * Runs test files one after another in this process, each as a subtest of its own: most of what a short file costs is the start of its
 * process, which loads some thousand modules and runs them before V8 has compiled them. A file notices nothing: while it runs, tap's root
 * stands for its subtest, and what it has changed in the environment is taken back after it.
 *
 * @param files paths from the root of the repository
 */
export async function runInOneProcess(files) {
  const test = t.test.bind(t)
  let current
  let cpu = 0
  for (const name of delegated) {
    const own = t[name]
    Object.defineProperty(t, name, {
      get: () => (current === undefined ? own : memberOf(current, name)),
      set: (value) => {
        current[name] = value
      },
    })
  }
  for (const file of files) {
    await test(file, async (subtest) => {
      const environment = { ...process.env }
      // Teardowns run in reverse order: this one after those of the file, and before the line of its end.
      subtest.teardown(() => {
        replaceEnvironment(environment)
        cpu = noteCpu(file, cpu)
      })
      current = subtest
      await import(new URL(`../${file}`, import.meta.url))
    })
    const { count } = current
    current = undefined
    if (count === 0) t.fail(`${file} has no tests`)
  }
}

/** A member of a test is a function of this test alone. */
function memberOf(test, name) {
  const member = test[name]
  return typeof member === 'function' ? member.bind(test) : member
}

function replaceEnvironment(environment) {
  for (const name of Object.keys(process.env)) if (!(name in environment)) delete process.env[name]
  Object.assign(process.env, environment)
}
