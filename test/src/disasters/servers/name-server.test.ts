import t from 'tap'
import { respondTo } from './name-server.js'

function ask(type: number): Buffer {
  const name = Buffer.from('\x08postgres\x05drill\x00', 'latin1')
  return Buffer.concat([
    Buffer.from('abcd01000001000000000001', 'hex'),
    name,
    Buffer.from([0, type, 0, 1]),
    Buffer.from('more'),
  ])
}

t.test('a name has the address 127.0.0.1, and nothing else', async (t) => {
  const address = respondTo(ask(1))
  t.equal(address.subarray(0, 12).toString('hex'), 'abcd81800001000100000000', 'one question, one answer')
  t.same([...address.subarray(-4)], [127, 0, 0, 1])
  t.notMatch(address.toString('latin1'), /more/)
  const other = respondTo(ask(28))
  t.equal(other.readUInt16BE(6), 0, 'no address of version 6')
  t.equal(other.length, ask(28).length - 4)
})
