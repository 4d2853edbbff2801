import t from 'tap'
import { readApiPath } from '../../src/hand-on/read-path.js'

t.test('a path within the API is handed on as it was written, with its query', async (t) => {
  for (const [url, path, query] of [
    ['/api/events?limit=5', '/api/events', '?limit=5'],
    ['/api/events/a%2Fb', '/api/events/a%2Fb', ''],
    ['/api/events?q=..%2F', '/api/events', '?q=..%2F'],
    ['/api/events?q=/../x', '/api/events', '?q=/../x'],
    ['/api/events?q=%E0', '/api/events', '?q=%E0'],
    ['/api/events?a?b', '/api/events', '?a?b'],
    ['/api/a..b/...', '/api/a..b/...', ''],
  ] as const)
    t.same(readApiPath(url, '/api/'), { path, query }, url)
})

t.test('a path that leads out of the API is foreign, however it is written', async (t) => {
  for (const url of [
    '/api/../metrics',
    '/api/%2e%2e/metrics',
    '/api/%2E./metrics',
    '/api/x/../../docs',
    '/api/..%2fmetrics',
    '/api/..%5cmetrics',
    '/api/..\\metrics',
    '/api/./events',
    '/%61pi/events',
    '/metrics',
    '//evil.example/api/',
  ])
    t.equal(readApiPath(url, '/api/'), 'foreign', url)
})

t.test('a path with an escape that cannot be decoded is malformed', async (t) => {
  for (const url of ['/api/%E0', '/api/%', '/api/%zz', '/api/%C3%28', '/api/%ED%A0%80'])
    t.equal(readApiPath(url, '/api/'), 'malformed', url)
})
