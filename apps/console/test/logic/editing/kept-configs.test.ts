import t from 'tap'
import { KeptConfigs } from '../../../pages/logic/editing/kept-configs.js'

const fresh = {
  CREATE_TASK: { type: 'CREATE_TASK', config: { title: '' } },
  SEND_WEBHOOK: { type: 'SEND_WEBHOOK', config: { url: '' } },
  SEND_NOTIFICATION: { type: 'SEND_NOTIFICATION', config: { url: '', text: '' } },
}

t.test('another type of action keeps the fields of the former, for somebody who comes back', async (t) => {
  const kept = new KeptConfigs()
  const task = { type: 'CREATE_TASK', config: { title: 'Call', dueIn: '1d' }, retry: { attempts: 3 } }
  const hook = kept.changeType(task, fresh.SEND_WEBHOOK, ['url', 'method'])
  t.strictSame(hook, { type: 'SEND_WEBHOOK', config: { url: '' }, retry: { attempts: 3 } })
  const typed = kept.follow(hook, { ...hook, config: { url: 'https://a.example' } })
  const back = kept.changeType(typed, fresh.CREATE_TASK, ['title', 'dueIn'])
  t.strictSame(back, task)
  const again = kept.changeType(back, fresh.SEND_WEBHOOK, ['url', 'method'])
  t.strictSame(again.config, { url: 'https://a.example' })
})

t.test('a field that both types have goes along', async (t) => {
  const kept = new KeptConfigs()
  const hook = { type: 'SEND_WEBHOOK', config: { url: 'https://a.example', method: 'PUT' } }
  t.strictSame(kept.changeType(hook, fresh.SEND_NOTIFICATION, ['url', 'text', 'format']).config, {
    url: 'https://a.example',
    text: '',
  })
})
