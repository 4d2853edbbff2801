import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

const root = new URL('../../../../../', import.meta.url)
const execute = promisify(execFile)

/** What stands in docs/operate/cells.md for what an operator fills in, and what the drill fills in. */
export interface Places {
  /** Instead of /etc/haproxy and /run/haproxy, and for the files that the commands write. */
  directory: string
  variables: Record<string, string>
}

/** The guide docs/operate/cells.md: its commands are run as they stand there. */
export class Runbook {
  readonly #text: string
  readonly #places: Places

  private constructor(text: string, places: Places) {
    this.#text = text.replaceAll(/\/(etc|run)\/haproxy/g, places.directory)
    this.#places = places
  }

  static async read(places: Places): Promise<Runbook> {
    return new Runbook(await readFile(new URL('docs/operate/cells.md', root), 'utf8'), places)
  }

  /** The configuration of HAProxy. */
  get haproxy(): string {
    return this.#blocks('### The load balancer', '')[0] ?? ''
  }

  /** Before HAProxy starts. */
  async prepare(): Promise<void> {
    for (const block of this.#blocks('### The load balancer', 'sh')) await this.#run(block)
  }

  /** @param step of the numbered ones @returns what it has said on stdout */
  step(step: 1 | 2 | 3 | 4 | 5 | 6, id: string, name: string): Promise<string> {
    return this.#run(this.#command(step, id, name))
  }

  /** The second line of step 2: where the first one was killed. */
  lead(id: string): Promise<string> {
    return this.#run(this.#command(2, id, '').split('&&\n')[1] ?? '')
  }

  #command(step: number, id: string, name: string): string {
    const blocks = this.#blocks('## Move a workspace', 'sh')
    if (blocks.length !== 6) throw new Error(`The guide has ${blocks.length} commands for its six steps`)
    return (blocks[step - 1] ?? '')
      .replaceAll('<id>', id)
      .replaceAll('Acme', name)
      .replaceAll(/\b(target\.dump|removals\.json)\b/g, `${this.#places.directory}/${id}.$1`)
  }

  async #run(block: string): Promise<string> {
    const { PATH, HOME } = process.env
    const { stdout } = await execute('sh', ['-e', '-c', block], {
      cwd: fileURLToPath(root),
      env: { PATH, HOME, ...this.#places.variables },
    })
    return stdout
  }

  /** The blocks of code below a title, until the next title. */
  #blocks(title: string, language: string): string[] {
    const [, after = ''] = this.#text.split(`\n${title}\n`)
    const [section = ''] = after.split(/\n#+ /)
    const blocks = section.matchAll(/^( *)```(\w*)\n([\s\S]*?)\n *```$/gm)
    return [...blocks]
      .filter(([, , of]) => of === language)
      .map(([, indent = '', , text = '']) => text.replaceAll(`\n${indent}`, '\n').trim())
  }
}
