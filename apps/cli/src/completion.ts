import type { Command } from 'commander'
import { Type } from 'typebox'
import { usageError } from './command-error.js'
import { readShell } from './config.js'
import { readAs } from './option-readers.js'
import { addCommand } from './program.js'

const Shell = Type.Enum(['bash', 'zsh'])

export function addCompletion(program: Command): void {
  addCommand(program, {
    name: 'completion',
    description:
      'Print what completes commands, options and their values for a shell. For the command automation of the package: put the line of the example into ~/.bashrc or ~/.zshrc.',
    example: 'bash # eval "$(automation completion bash)"',
    reads: ['SHELL'],
  })
    .argument('[shell]', 'bash or zsh (default: by SHELL)', readAs(Shell))
    .action((given: string | undefined) => {
      const shell = given ?? readShell()
      if (shell !== 'bash' && shell !== 'zsh') throw usageError('Name a shell: bash or zsh.')
      console.log(writeCompletion(program, shell))
    })
}

/** A function of bash, which zsh runs by its bashcompinit. */
function writeCompletion(program: Command, shell: 'bash' | 'zsh'): string {
  const cases = listCommands(program).map(
    ({ path, words }) => `    "${path}"|"${path} "*) words="${words.join(' ')}" ;;`,
  )
  const values = [...listValues(program)].map(
    ([flag, words]) => `    ${flag}) words="${[...words].join(' ')}" ;;`,
  )
  return `${shell === 'zsh' ? 'autoload -U +X bashcompinit && bashcompinit\n' : ''}_automation() {
  local path="" words="" word
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    case "$word" in -*) ;; *) path="$path $word" ;; esac
  done
  case "$path" in
${cases.join('\n')}
    *) words="${wordsOf(program).join(' ')}" ;;
  esac
  case "\${COMP_WORDS[COMP_CWORD-1]}" in
${values.join('\n')}
  esac
  COMPREPLY=($(compgen -W "$words" -- "\${COMP_WORDS[COMP_CWORD]}"))
}
complete -o default -F _automation automation`
}

interface Completed {
  path: string
  words: string[]
}

/** The deeper ones first: they begin like their groups. */
function listCommands(parent: Command, path = ''): Completed[] {
  return parent.commands.flatMap((command) => {
    const own = `${path} ${command.name()}`
    return [...listCommands(command, own), { path: own, words: wordsOf(command) }]
  })
}

function wordsOf(command: Command): string[] {
  const flags = command.options.flatMap(({ long }) => long ?? [])
  return [...command.commands.map((one) => one.name()), ...flags, '--json', '--help']
}

/** The values of options, by their flags; those of one name are taken together. */
function listValues(command: Command): Map<string, Set<string>> {
  const values = new Map<string, Set<string>>()
  const add = (one: Command): void => {
    for (const { long, argChoices = [] } of one.options)
      if (long && argChoices.length > 0)
        values.set(long, new Set([...(values.get(long) ?? []), ...argChoices]))
    one.commands.forEach(add)
  }
  add(command)
  return values
}
