import type { SchemeName } from '@automation/client'
import { findSettingsFaults } from '@automation/webhooks'
import t from 'tap'
import {
  changeSetting,
  isNeeded,
  nameSettings,
  settingFields,
  settingsOf,
} from '../../pages/logic/scheme-settings.js'

const schemes: SchemeName[] = [
  ...([
    'automation',
    'standard_webhooks',
    'stripe',
    'github',
    'shopify',
    'slack',
    'twilio',
    'zoom',
    'meta',
    'generic',
  ] as const),
]

t.test(
  'the form of a scheme has the settings that the service takes, and asks for those that it needs',
  async (t) => {
    for (const scheme of schemes) {
      const needed = findSettingsFaults(scheme, {}).map(({ field }) => field.replace('settings.', ''))
      t.strictSame(
        settingsOf(scheme).filter((name) => isNeeded(scheme, name)),
        needed,
        `${scheme} needs`,
      )
      for (const name of Object.keys(settingFields) as (keyof typeof settingFields)[]) {
        const faults = findSettingsFaults(scheme, { [name]: name === 'headers' ? [] : 'x' } as never)
        const isTaken = !faults.some(({ message }) => message.startsWith('Must be omitted'))
        t.equal(settingsOf(scheme).includes(name), isTaken, `${scheme} ${name}`)
      }
    }
  },
)

t.test('an empty field is no setting', async (t) => {
  t.strictSame(changeSetting({}, 'idPath', 'id'), { idPath: 'id' })
  for (const value of ['', [], undefined]) t.strictSame(changeSetting({ idPath: 'id' }, 'idPath', value), {})
})

t.test('a refusal names the field of the form', async (t) => {
  t.equal(nameSettings('settings.signed: Must contain {body}'), '“What is signed”: Must contain {body}')
  t.equal(nameSettings('settings.other: x'), 'settings.other: x')
  t.equal(nameSettings(undefined), undefined)
})
