import type { CheckedRule, Condition } from '@automation/engine'
import type { Random } from './random.js'
import { randomClause, triggers } from './random-rules.js'

const fields = ['email', 'name', 'lead', 'delay', 'score']

/** Rules of two or three actions, of which placeholders make some fail, so that those after them are skipped. */
export function randomChains(random: Random): CheckedRule[] {
  const rules = Array.from({ length: 1 + random.below(3) }, (_, index) => randomChain(random, index))
  const [first] = rules as [CheckedRule]
  return random.chance(0.2) ? [...rules, { ...first, name: 'Copy' }] : rules
}

function randomChain(random: Random, index: number): CheckedRule {
  return {
    name: `Rule ${index}`,
    trigger: random.chance(0.7) ? triggers[0] : triggers[1],
    conditions: Array.from({ length: random.below(3) }, () => condition(random)),
    actions: Array.from({ length: 2 + random.below(2) }, () => randomAction(random)),
  } as CheckedRule
}

function condition(random: Random): Condition {
  const field = random.pick(fields)
  if (random.chance(0.5)) return { field, operator: random.pick(['exists', 'not_exists']) }
  return randomClause(random, field)
}

function randomAction(random: Random) {
  const mail = (subject: string) => ({
    type: 'SEND_EMAIL',
    config: { to: '{{email}}', subject, template: 'hello', variables: { name: '{{name}}' } },
  })
  const post = (url: string, text: string) => ({ type: 'SEND_NOTIFICATION', config: { url, text } })
  const emit = (data?: unknown) => ({
    type: 'EMIT_EVENT',
    config: { eventType: random.pick(triggers), ...(data !== undefined && { data }) },
  })
  const action = random.pick<() => object>([
    () => mail(random.pick(['Hello', 'Hello', '{{name}}'])),
    () => post('https://chat.example.com/1', random.pick(['New', '{{name}}'])),
    () => post('https://chat.example.com/{{lead.id}}', 'New'),
    () => ({ type: 'CREATE_TASK', config: { title: random.pick(['Call', '{{name}}']) } }),
    () => ({
      type: 'SEND_WEBHOOK',
      config: { url: 'https://crm.example.com/', body: random.pick(['{{lead}}', { name: '{{name}}' }]) },
    }),
    () => ({ type: 'WAIT', config: { duration: random.pick(['1d', '{{delay}}']) } }),
    () => emit(random.pick([undefined, '{{lead}}'])),
    () => emit({ email: '{{email}}', name: random.pick(['{{name}}', 'Ada']), lead: '{{lead}}' }),
    () =>
      emit({ email: '{{lead.email}}', name: '{{name}}', delay: '{{delay}}', lead: { email: '{{email}}' } }),
  ])()
  return {
    ...action,
    ...(random.chance(0.2) && { when: condition(random) }),
    ...(random.chance(0.15) && { continueOnError: true }),
  }
}
