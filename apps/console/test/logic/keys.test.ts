import t from 'tap'
import { commandOf, isOfInputMethod, letterOf } from '../../pages/logic/keys.js'

const key = (key: string, code: string, held: object = {}) => ({
  key,
  code,
  ctrlKey: false,
  metaKey: false,
  altKey: false,
  ...held,
})

t.test('a key is its Latin letter, or the one that lies there on a Latin keyboard', async (t) => {
  t.equal(letterOf(key('z', 'KeyZ')), 'z')
  t.equal(letterOf(key('Z', 'KeyZ')), 'z', 'with Caps Lock')
  t.equal(letterOf(key('z', 'KeyY')), 'z', 'of a keyboard with Z where others have Y')
  t.equal(letterOf(key('я', 'KeyZ')), 'z')
  t.equal(letterOf(key('Л', 'KeyK')), 'k')
  t.equal(letterOf(key('ζ', 'KeyZ')), 'z')
  t.equal(letterOf(key('ö', 'Semicolon')), 'ö')
  t.equal(letterOf(key('/', 'Slash')), '/')
  t.equal(letterOf(key('Enter', 'Enter')), 'Enter')
  t.equal(letterOf(key('Process', 'KeyZ')), 'Process')
})

t.test('a command is a letter with Ctrl or ⌘, and never with AltGr', async (t) => {
  t.equal(commandOf(key('я', 'KeyZ', { ctrlKey: true })), 'z')
  t.equal(commandOf(key('k', 'KeyK', { metaKey: true })), 'k')
  t.equal(commandOf(key('z', 'KeyZ')), undefined)
  t.equal(commandOf(key('ż', 'KeyZ', { ctrlKey: true, altKey: true })), undefined)
  t.equal(commandOf({ ...key('ż', 'KeyZ', { ctrlKey: true }), getModifierState: () => true }), undefined)
})

t.test('a key is of an input method while it composes, and where its code says so', async (t) => {
  t.ok(isOfInputMethod({ isComposing: true, keyCode: 13 }))
  t.ok(isOfInputMethod({ isComposing: false, keyCode: 229 }))
  t.notOk(isOfInputMethod({ isComposing: false, keyCode: 13 }))
})
