import t from 'tap'
import { describeNoise } from '../src/machine/noise.js'
import { findFileSystem } from '../src/machine/storage.js'
import { formatTable } from '../src/table.js'

t.test(
  'a cell has the median and the range of its rounds, and none where nothing was measured',
  async (t) => {
    const table = formatTable([
      {
        label: 'product',
        rounds: [
          { 'done/s': 2_000, ms: 1.234 },
          { 'done/s': 3_000, ms: 12.34 },
        ],
      },
      { label: 'bare', rounds: [{ ms: 123.4 }] },
    ])
    const [head, product, bare] = table.split('\n').map((line) => line.split(/ {2,}/))
    t.same(head, ['', 'done/s', 'ms'])
    t.same(product, ['product', '2,500 (2,000 to 3,000)', '6.79 (1.23 to 12.3)'])
    t.same(bare, ['bare', '-', '123'])
  },
)

t.test('a busy machine is named', async (t) => {
  const quiet = { loadAverage: 0.2, stealShare: 0.001, othersShare: 0.03 }
  t.equal(describeNoise(quiet, 2), undefined)
  t.equal(describeNoise({ ...quiet, loadAverage: 1.2 }, 2), undefined, 'what ended before the start')
  const unknown = { loadAverage: 1.2, stealShare: null, othersShare: null }
  t.equal(describeNoise(unknown, 2), 'load average 1.2 on 2 cores before the start')
  t.equal(describeNoise({ ...unknown, loadAverage: 0 }, 2), undefined)
  t.equal(describeNoise({ ...quiet, stealShare: 0.03 }, 2), '3.0 % steal')
  t.match(describeNoise({ ...quiet, othersShare: 0.4 }, 2), /^40 % of the CPU/)
})

t.test('the file system is that of the longest mount point above a directory', async (t) => {
  const mounts = '/dev/a / ext4 rw 0 0\ntmpfs /tmp tmpfs rw 0 0\n/dev/b /tmpfiles xfs rw 0 0\n'
  t.equal(findFileSystem(mounts, '/tmp/wt'), 'tmpfs')
  t.equal(findFileSystem(mounts, '/tmpfiles'), 'xfs')
  t.equal(findFileSystem(mounts, '/home'), 'ext4')
  t.equal(findFileSystem('', '/home'), null)
})
