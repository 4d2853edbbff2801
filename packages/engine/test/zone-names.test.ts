import t from 'tap'
import { compileJson } from '../src/configs/config-template.js'
import {
  compileCondition,
  compileTemplate,
  Evaluation,
  findHoursFault,
  findScheduleFaults,
  isZone,
  nextTick,
} from '../src/index.js'

/** What ICU reads as a zone, and the zone database does not have. */
const foreign =
  'ACT AET AGT ART AST BET BST CAT CNT CST CTT EAT ECT IET IST JST MIT NET NST PLT PNT PRT PST SST VST SystemV/EST5 SystemV/PST8PDT US/Pacific-New'.split(
    ' ',
  )

t.test('a name that the zone database lacks is no time zone, also where Node knows it', async (t) => {
  for (const name of [...foreign, ...foreign.map((one) => one.toLowerCase())])
    t.equal(isZone(name), false, name)
  for (const name of [
    'EDT',
    'CEST',
    'MSK',
    '+01',
    'GMT+1',
    'UTC+1',
    'Factory',
    'Etc/Unknown',
    '',
    'Etc/GMT+13',
  ])
    t.equal(isZone(name), false, name)
})

t.test(
  'every name of the zone database is a time zone, in any case, and so is one that is newer',
  async (t) => {
    const old =
      'Asia/Calcutta Europe/Kiev US/Pacific GB EST MST HST CET EST5EDT Etc/GMT+5 UTC GMT Zulu W-SU NZ-CHAT'
    const renamed =
      'Asia/Kolkata Europe/Kyiv America/Nuuk Asia/Yangon Pacific/Kanton America/Argentina/Buenos_Aires'
    for (const name of [...`${old} ${renamed}`.split(' '), ...Intl.supportedValuesOf('timeZone')]) {
      t.equal(isZone(name), true, name)
      t.equal(isZone(name.toLowerCase()), true, name.toLowerCase())
    }
  },
)

t.test('a schedule or hours in such a zone are refused, with the zones that it may mean', async (t) => {
  const message = 'ust be an IANA time zone such as Europe/Berlin'
  t.strictSame(findScheduleFaults({ cron: '0 9 * * *', timezone: 'bst' }), [
    { field: 'schedule.timezone', message: `M${message}: BST may mean Europe/London or Asia/Dhaka` },
  ])
  const office = { days: 'mon-fri', from: '09:00', to: '17:00', timezone: 'AST' }
  t.strictSame(findHoursFault(office), {
    field: 'timezone',
    message: `m${message}: AST may mean America/Halifax`,
  })
  t.strictSame(findHoursFault({ ...office, timezone: 'VST' }), { field: 'timezone', message: `m${message}` })
})

t.test('a zone that is none gives no text, and a warning', async (t) => {
  t.match(compileTemplate('{{at | in_zone:"IST"}}'), /needs the name of a time zone in quotes/)
  const rendering = { warnings: [] as string[], size: 0 }
  const data = { at: '2026-07-01T00:00:00Z', zone: 'IST' }
  t.equal(compileJson('{{at | in_zone:zone}}').render(data, rendering), '')
  t.match(rendering.warnings, [/zone is "IST", and no time zone such as Europe\/Berlin/])
})

t.test('a stored schedule in such a zone has no ticks, and stored hours in it hold never', async (t) => {
  t.equal(nextTick({ cron: '0 9 * * *', timezone: 'BST' }, 0), null)
  t.equal(nextTick({ cron: '0 9 * * *', timezone: 'Mars/Base' }, 0), null)
  const time = { days: 'sun-sat', from: '00:00', to: '24:00', timezone: 'AST' }
  const evaluation = new Evaluation(Date.UTC(2026, 6, 1))
  t.equal(compileCondition({ time }).holds({}, evaluation), false)
  t.match(compileCondition({ time }).explain({}, evaluation, evaluation), {
    verdict: false,
    actual: 'AST, and no time zone',
  })
})
