import fc from 'fast-check'
import t from 'tap'
import { removeOldTexts, removeTextsOf, type Store } from '../../pages/logic/kept-texts.js'
import type { Definition } from '../../pages/logic/rule-definition.js'
import { type Unsaved, UnsavedChanges } from '../../pages/logic/unsaved-changes.js'

const day = 86_400_000
const definition = { name: 'n', description: '', trigger: 'LEAD_CREATED', conditions: [], actions: [] }
const unsavedOf = (name: string, keptAt = 1): Unsaved => ({
  definition: { ...definition, name },
  baseVersion: 3,
  keptAt,
})

function openStore(room = Number.POSITIVE_INFINITY) {
  const stored = new Map<string, string>()
  const store: Store = {
    get: (name) => stored.get(name) ?? null,
    set: (name, value) => {
      if (stored.size >= room && !stored.has(name)) return false
      stored.set(name, value)
      return true
    },
    remove: (name) => void stored.delete(name),
    names: () => [...stored.keys()],
  }
  const open = (tab: string, { user = 'user:ada', workspaceId = 'w' } = {}) =>
    new UnsavedChanges(store, { user, workspaceId, tab })
  return { stored, store, open }
}
const namesOf = (kept: { unsaved: Unsaved }[]) => kept.map(({ unsaved }) => unsaved.definition.name)

t.test('what was typed survives, and damaged it is none', async (t) => {
  const { stored, open } = openStore()
  t.strictSame(open('a').keep('r', unsavedOf('n')), { isKept: true, isWhole: true })
  t.match(open('a').read('r'), unsavedOf('n'))
  t.equal(open('a').read('other'), undefined)
  for (const damaged of [
    '{"definition":5}',
    '{',
    '5',
    'null',
    '{"definition":{"name":"n","actions":[]},"keptAt":1}',
  ]) {
    for (const name of stored.keys()) stored.set(name, damaged)
    t.equal(open('a').read('r'), undefined, damaged)
    t.strictSame(open('b').listOthers('r'), [], damaged)
  }
})

t.test('each user and each workspace has its own', async (t) => {
  const { open } = openStore()
  open('a').keep('r', unsavedOf('of ada'))
  for (const other of [{ user: 'user:bo' }, { workspaceId: 'x' }, { user: 'user' }, { user: 'user:ada:w' }]) {
    t.equal(open('a', other).read('r'), undefined)
    t.strictSame(open('b', other).listOthers('r'), [])
  }
})

t.test('a tab replaces and drops nothing of another tab', async (t) => {
  const { open } = openStore()
  const [a, b] = [open('a'), open('b')]
  a.keep('r', unsavedOf('of a', 1))
  b.keep('r', unsavedOf('of b', 2))
  t.match(a.read('r'), unsavedOf('of a', 1))
  t.strictSame(namesOf(open('c').listOthers('r')), ['of b', 'of a'], 'the newest first')
  b.drop('r')
  t.match(a.read('r'), unsavedOf('of a', 1))
  t.strictSame(namesOf(b.listOthers('r')), ['of a'])
})

t.test('what another tab has kept is taken, and what this one has stays beside it', async (t) => {
  const { stored, open } = openStore()
  const [a, b] = [open('a'), open('b')]
  a.keep('r', unsavedOf('of a'))
  b.keep('r', unsavedOf('of b'))
  t.ok(b.take('r', 'a'))
  t.match(b.read('r'), unsavedOf('of a'))
  t.equal(a.read('r'), undefined)
  t.strictSame(namesOf(b.listOthers('r')), ['of b'])
  t.notOk(b.take('r', 'a'), 'only once')
  b.setAside('r')
  b.drop('r')
  t.equal(stored.size, 2)
})

t.test('a store without room loses nothing', async (t) => {
  for (const room of [2, 3]) {
    const { stored, open } = openStore(room)
    const [a, b] = [open('a'), open('b')]
    a.keep('r', unsavedOf('of a'))
    b.keep('r', unsavedOf('of b'))
    const isTaken = b.take('r', 'a')
    t.equal(isTaken, room === 3)
    t.strictSame([...stored.values()].map((text) => JSON.parse(text).definition.name).sort(), [
      'of a',
      'of b',
    ])
  }
  t.strictSame(openStore(0).open('a').keep('r', unsavedOf('n')), { isKept: false, isWhole: false })
})

t.test('what is cut off while it is taken is there all the same', async (t) => {
  for (let most = 0; most < 4; most++) {
    const { stored, store, open } = openStore()
    open('a').keep('r', unsavedOf('of a'))
    open('b').keep('r', unsavedOf('of b'))
    let changes = 0
    const work = (change: () => unknown) => {
      if (++changes > most) throw new Error('killed')
      return change()
    }
    const killed = new UnsavedChanges(
      {
        ...store,
        set: (name, value) => work(() => store.set(name, value)) as boolean,
        remove: (name) => void work(() => store.remove(name)),
      },
      { user: 'user:ada', workspaceId: 'w', tab: 'b' },
    )
    try {
      killed.take('r', 'a')
    } catch {}
    const left = new Set([...stored.values()].map((text) => JSON.parse(text).definition.name))
    t.strictSame([...left].sort(), ['of a', 'of b'], `killed after ${most} changes`)
    t.ok(open('c').listOthers('r').length >= 2)
  }
})

t.test('it is gone after 30 days, and all of a user is gone once they sign out', async (t) => {
  const { stored, store, open } = openStore()
  const now = 100 * day
  stored.set('theme', 'dark')
  open('a').keep('old', unsavedOf('n', now - 31 * day))
  open('a').keep('new', unsavedOf('n', now - 29 * day))
  open('b', { user: 'user:bo' }).keep('old', unsavedOf('n', now - 31 * day))
  stored.set('unsaved:x:y:z:t', 'damaged')
  removeOldTexts(store, now)
  t.equal(stored.size, 2)
  open('b', { workspaceId: 'x' }).keep('r', unsavedOf('n'))
  open('a', { user: 'user:ada2' }).keep('r', unsavedOf('n'))
  removeTextsOf(store, 'user:ada')
  t.equal(open('a').read('new'), undefined)
  t.ok(open('a', { user: 'user:ada2' }).read('r'))
  t.equal(stored.get('theme'), 'dark')
})

const secret = 'sk_live_0123456789'
const call = (headers: object, title = 'x') => ({
  ...definition,
  actions: [{ type: 'SEND_WEBHOOK', config: { url: 'https://shop.example', headers } }] as never[],
  name: title,
})

t.test('a browser keeps no secret, and those of the saved rule come back', async (t) => {
  const { stored, open } = openStore()
  const others = {
    'X-Api-Key': '{{credentials.CRM}}',
    'X-Tag': 'blue',
    token: 'Bearer {{token}}',
    Cookie: '',
  }
  const typed = call({ Authorization: secret, ...others }, 'typed')
  const texts = { '': `{ "name": "x", "headers": { "Authorization": "${secret}", "password": "${secret}` }
  const saved = call({ Authorization: secret, 'X-Api-Key': '{{credentials.CRM}}', 'X-Tag': 'red' })
  t.match(open('a').keep('r', { definition: typed, baseVersion: 1, keptAt: 1, texts }, saved), {
    isWhole: false,
  })
  t.notOk([...stored.values()].some((text) => text.includes(secret)))
  t.match([...stored.values()][0], /blue/)
  t.match([...stored.values()][0], /credentials\.CRM/)
  t.match(open('a').read('r', saved), {
    definition: typed,
    texts: { '': '{ "name": "x", "headers": { "Authorization": "", "password": "' },
    missing: ['Authorization', 'password'],
  })
  const other = open('a').read('r', call({ 'X-Tag': 'red' }))
  t.match(other, {
    definition: call({ Authorization: '', ...others }, 'typed'),
    missing: ['Authorization', 'password'],
  })
})

t.test(
  'a secret goes back to its own action only, and one that was typed never becomes an older one',
  async (t) => {
    const read = (typed: Definition, saved: Definition, etag?: string) => {
      const { open } = openStore()
      const unsaved = { definition: typed, baseVersion: 1, keptAt: 1, etag }
      const { isWhole } = open('a').keep('r', unsaved, saved)
      const { definition: found, missing } = open('a').read('r', saved) ?? {}
      return { isWhole, found, missing }
    }
    const to = (url: string, key: string) => ({
      type: 'SEND_WEBHOOK',
      config: { url, headers: { Authorization: key } },
    })
    const of = (...actions: object[]) => ({ ...definition, actions: actions as never[] })
    const [a, b] = [to('https://a.example/x', 'SECRET-A'), to('https://b.example/x', 'SECRET-B')]
    const empty = { missing: ['Authorization'], isWhole: false }
    t.match(read(of(b, a), of(a, b)), { found: of(b, a), isWhole: true }, 'moved')
    t.match(read(of(b), of(a, b)), { found: of(b), isWhole: true }, 'the other one was removed')
    const moved = to('https://b.example/v2', 'SECRET-B')
    t.match(read(of(moved), of(a, b)), { found: of(to('https://b.example/v2', '')), ...empty }, 'another URL')
    t.match(read(of(to('https://c.example', 'SECRET-C')), of(a)), {
      found: of(to('https://c.example', '')),
      ...empty,
    })
    const changed = to('https://a.example/x', 'SECRET-NEW')
    t.match(read(of(changed), of(a)), { found: of(to('https://a.example/x', '')), ...empty }, 'typed')
    t.match(read(of(a), of(a), 'etag'), { found: of(to('https://a.example/x', '')), ...empty }, 'of a draft')
    const twice = to('https://a.example/x', 'SECRET-2')
    t.match(read(of({ ...a, name: 'n' }), of(a, twice)), { ...empty }, 'of two that call the same URL')
  },
)

t.test('whatever is typed comes back as it was, but for secrets', async (t) => {
  const text = fc.string()
  fc.assert(
    fc.property(
      text,
      fc.dictionary(
        text.filter((name) => name !== '__proto__'),
        text,
      ),
      (name, headers) => {
        const { open } = openStore()
        const typed = call({ ...headers, Authorization: secret }, name)
        open('a').keep('r', { definition: typed, baseVersion: 1, keptAt: 1 }, typed)
        t.strictSame(open('a').read('r', typed)?.definition, typed)
      },
    ),
  )
})
