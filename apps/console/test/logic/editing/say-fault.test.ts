import t from 'tap'
import { nameFaultPath, sayFault } from '../../../pages/logic/editing/say-fault.js'

const actions = [
  { type: 'CREATE_TASK', config: {} },
  { type: 'WAIT', config: {} },
]

t.test('a place in a rule is told by the labels of its form', async (t) => {
  const places = [
    ['name', 'the name'],
    ['conditions[0].any[1].value', 'condition 1, part 2'],
    ['order', 'the number in the group'],
    ['schedule.cron', 'the schedule, cron'],
    ['perKey.key', 'the limit, for each'],
    ['perKey.collect.for', 'the limit, with the events that come, within'],
    ['perKey.collect.at.timezone', 'the limit, with the events that come, until, in'],
    ['actions[0]', 'action 1'],
    ['actions[0].config', 'action 1'],
    ['actions[0].config.title', 'action 1, title'],
    ['actions[0].config.dueIn', 'action 1, due in'],
    ['actions[1].config.decision.options', 'action 2, for a person to choose, one of'],
    ['actions[1].when.value', 'action 2, only if'],
    ['actions[1].retry.attempts', 'action 2, retry, attempts'],
    ['actions[7].config.to[1]', 'action 8, to, number 2'],
  ]
  for (const [path, words] of places) t.equal(nameFaultPath(path ?? '', actions), words)
})

t.test('a fault names fields by their labels, and asks for what is not filled in', async (t) => {
  const say = (message: string, isUnfinished = false) => sayFault({ message, isUnfinished })
  t.equal(say('Must have at least 1 character', true), 'Fill this in')
  t.equal(say('Required', true), 'Fill this in')
  t.equal(say('Required with a group', true), 'Required with a group')
  t.equal(say('Must be a number', true), 'Must be a number')
  t.equal(say('Must be omitted with collect'), 'Must not stand beside “with the events that come”')
  t.equal(
    say('Must be omitted with collect: use when with collected.count'),
    'Must not stand beside “with the events that come”: use “only if” with collected.count',
  )
  t.equal(say('Must have for or at, and not both'), 'Must have “within” or “until”, and not both')
  t.equal(
    say('Must be omitted with the trigger SCHEDULE'),
    'Must not stand beside the trigger “on a schedule”',
  )
})
