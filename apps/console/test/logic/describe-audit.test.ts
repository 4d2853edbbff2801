import t from 'tap'
import { describeAudit, joinParts } from '../../pages/logic/describe-audit.js'
import { nameActor } from '../../pages/logic/name-actor.js'

const names = {
  rule: (id: string) => ({ r1: 'Hot leads', r2: 'Copy of Hot leads' })[id],
  apiKey: (id: string) => ({ k1: 'CI' })[id],
  subscription: (id: string) => ({ s1: 'https://hooks.example.com/a' })[id],
  zone: 'UTC' as const,
  now: new Date('2026-11-27T12:00:00Z'),
}
const say = (action: string, subject: string, details: object = {}, actor = 'user:ada') =>
  joinParts(describeAudit({ actor, action, subject, details }, names))

t.test('an entry of the audit log is a sentence that names who, what and whom', async (t) => {
  t.equal(say('member.added', 'dee', { role: 'viewer' }), 'ada added dee as viewer')
  t.equal(
    say('member.changed', 'dee', { role: 'editor', before: 'viewer' }),
    'ada made dee editor (was viewer)',
  )
  t.equal(
    say('rule.updated', 'r1', { changed: ['name', 'conditions'], version: 3 }),
    'ada changed name, conditions of the rule Hot leads (now v3)',
  )
  t.equal(
    say('rule.deactivated', 'r1', { cancelled: 1 }),
    'ada switched the rule Hot leads off, which cancelled 1 waiting execution',
  )
  t.equal(say('rule.cloned', 'r2', { from: 'r1' }), 'ada cloned the rule Hot leads as Copy of Hot leads')
  t.equal(say('rule.deleted', 'r9', { name: 'Old', cancelled: 0 }), 'ada deleted the rule Old')
  t.equal(say('rule.created', 'r9', { name: 'Old' }), 'ada created the rule Old (deleted)')
  t.equal(
    joinParts(
      describeAudit(
        { actor: 'user:ada', action: 'rule.activated', subject: 'r9', details: {} },
        { ...names, goneRule: () => 'Old' },
      ),
    ),
    'ada switched the rule Old (deleted) on',
  )
  t.equal(
    say('rule.paused', 'r1', { failures: 20 }, 'system:pause'),
    'The service switched the rule Hot leads off after 20 failures in a row',
  )
  t.equal(
    say('signing_secret.revoked', 'x', { provider: 's1' }, 'api_key:k1'),
    'API key CI revoked the signing secret of https://hooks.example.com/a',
    'a subscription has its URL, and no id',
  )
  t.equal(say('credential.updated', 'CRM', { kind: 'text' }), 'ada replaced the values of the credential CRM')
  t.equal(
    say('api_key.created', 'k1', { name: 'CI', scopes: ['rules:read'], expiresAt: '2026-11-28T12:00:00Z' }),
    'ada created the API key CI (rules:read), until Nov 28, 12:00',
  )
  t.equal(
    say('execution.retried', 'w', { retried: 12 }, 'cli:root'),
    'root (command line) retried 12 executions',
  )
  t.equal(
    say('failures.acknowledged', 'r1', { error: 'timed out', executionId: 'e' }),
    'ada acknowledged failures of the rule Hot leads: timed out',
  )
  t.equal(say('rule.never', 'x', { a: 1 }), 'ada rule.never x {"a":1}', 'an unknown one stands as it is')
})

t.test('the rule of an entry leads to its versions', async (t) => {
  t.strictSame(
    describeAudit({ actor: 'user:ada', action: 'rule.activated', subject: 'r1', details: {} }, names),
    ['ada ', 'switched the rule ', { text: 'Hot leads', place: ['rules/r1', { tab: 'versions' }] }, ' on'],
  )
  t.equal(nameActor('api_key:gone', names), 'API key gone')
  t.equal(nameActor('user:ada'), 'ada')
})
