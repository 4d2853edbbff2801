import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import t from 'tap'
import { run } from './fixtures/run.js'

const runFile = promisify(execFile)
const hasBash = await runFile('bash', ['--version']).then(
  () => true,
  () => false,
)

t.test('bash completes groups, commands, options and their values', { skip: !hasBash }, async (t) => {
  const { code, output } = await run('client', 'completion bash', '.')
  t.equal(code, 0)
  const complete = async (...words: string[]) => {
    const call = `COMP_WORDS=(automation ${words.map((word) => `'${word}'`).join(' ')}); COMP_CWORD=${words.length}; _automation; printf '%s\\n' "\${COMPREPLY[@]}"`
    const { stdout } = await runFile('bash', ['-c', `${output}\n${call}`])
    return stdout.trim().split('\n')
  }
  t.match(await complete('ru'), ['rules'])
  t.match(await complete('keys', 're'), ['revoke'])
  t.match(await complete('rules', 'versions', '--li'), ['--limit'])
  t.match(await complete('rules', 'version', 'an-id', '--out'), ['--output'])
  t.match(await complete('rules', 'list', '--output', ''), ['text', 'json', 'yaml'])
  t.match(await complete('secrets', 'create', '--scheme', 'str'), ['stripe'])
  t.match(await complete('events', 'list', '--st'), ['--status'])
})

t.test('zsh runs the function of bash, and without a shell SHELL says which', async (t) => {
  const zsh = await run('client', 'completion zsh', '.')
  t.match(zsh.output, /^autoload -U \+X bashcompinit && bashcompinit\n_automation\(\) \{\n/)
  t.same(await run('client', 'completion', '.', { SHELL: '/usr/bin/zsh' }), zsh)
  t.match(await run('client', 'completion', '.', { SHELL: '/usr/bin/fish' }), {
    code: 64,
    errors: 'Name a shell: bash or zsh.\n',
  })
})
