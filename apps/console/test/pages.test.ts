import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'
import t from 'tap'
import { iconNames } from '../pages/logic/icon-names.js'

const root = fileURLToPath(new URL('../public/', import.meta.url))
const files = readdirSync(root, { recursive: true, encoding: 'utf8' })
const read = (file: string) => readFileSync(root + file, 'utf8')
const size = (file: string) => gzipSync(readFileSync(root + file), { level: 9 }).length
const page = read('index.html')
const frame = read('embed.html')
const scripts = files.filter((file) => file.endsWith('.js'))
const first = listFirst(page)
const firstOfFrame = listFirst(frame)
/** What comes with the editor of a rule, beside the first screen: the engine, and what others have a part of, too. */
const editor = listEditor('assets/rule-screen', first)
const editorOfFrame = listEditor('assets/frame-rule-screen', firstOfFrame)

function listFirst(html: string): string[] {
  return [...html.matchAll(/(?:src|href)="\/([^"]+)"/g)].map(([, file = '']) => file)
}

function listEditor(begin: string, known: readonly string[]): string[] {
  return listNeeded(scripts.find((file) => file.startsWith(begin)) ?? '').filter(
    (file) => !known.includes(file),
  )
}

/** A script, and those without which it does not start. */
function listNeeded(file: string, known: string[] = []): string[] {
  if (known.includes(file)) return known
  const needed = [...read(file).matchAll(/(?:from|import)\s*"\.\/([^"]+\.js)"/g)].map(
    ([, name]) => `assets/${name}`,
  )
  return needed.reduce((all, one) => listNeeded(one, all), [...known, file])
}

t.test('the first screen needs at most 60 KB of scripts and 12 KB of styles, in few files', async (t) => {
  for (const [name, needed] of [
    ['the console', first],
    ['a frame', firstOfFrame],
  ] as const) {
    const sum = (end: string) =>
      needed.filter((file) => file.endsWith(end)).reduce((total, file) => total + size(file), 0)
    t.comment(`${name}: ${sum('.js')} bytes of scripts, ${sum('.css')} bytes of styles, gzip`)
    t.ok(sum('.js') <= 61_440, `scripts of ${name}`)
    t.ok(sum('.css') <= 12_288, `styles of ${name}`)
    t.ok(needed.length <= 7, `${needed.length} files of ${name}`)
  }
})

t.test('the console has nothing of a frame, and a frame nothing of what the console keeps', async (t) => {
  const ofFrame = scripts.filter((file) => file.startsWith('assets/frame-'))
  t.ok(ofFrame.length > 20)
  for (const file of scripts.filter((name) => name.startsWith('assets/'))) {
    const [own, foreign] = ofFrame.includes(file)
      ? ['assets/frame-', /localStorage|sessionStorage|navigator\.locks|"\/session/]
      : ['assets/', /session-needed|x-embed-session|assets\/frame-/]
    t.notMatch(read(file), foreign, file)
    for (const needed of listNeeded(file)) t.ok(needed.startsWith(own), `${file} needs ${needed}`)
  }
  t.notMatch(frame, /theme\.js/)
})

t.test(
  'one font of at most 30 KB and one sprite of at most 3 KB, with the icons that the page names',
  async (t) => {
    const fonts = files.filter((file) => file.endsWith('.woff2'))
    t.equal(fonts.length, 1)
    t.ok(readFileSync(root + fonts[0]).length <= 30_720, `${readFileSync(root + fonts[0]).length} bytes`)
    t.ok(page.includes(`rel="preload" href="/${fonts[0]}"`), 'the font comes together with the page')
    const sprite = files.find((file) => /icons-.*\.svg$/.test(file)) ?? ''
    t.ok(size(sprite) <= 3_072, `${size(sprite)} bytes of icons, gzip`)
    const drawn = [...read(sprite).matchAll(/<symbol id="(\w+)"/g)].map(([, name]) => name)
    t.same([...iconNames], drawn)
  },
)

t.test(
  'the editor with the engine has at most 144 KB, the check of what is typed 17 KB, schedules 12.5 KB, and other parts 8 KB',
  async (t) => {
    // Chips of schedules, memory and decisions belong to the sentence: were they loaded later, it would move while it is read.
    for (const [needed, limit] of [
      [editor, 147_456],
      // Other files have other seams: less of it is among the first.
      [editorOfFrame, 152_576],
    ] as const) {
      const whole = needed.reduce((total, file) => total + size(file), 0)
      t.comment(`${whole} bytes of the editor in ${needed.length} files, gzip`)
      t.ok(whole <= limit, `${whole} in ${needed.join(' ')}`)
    }
    for (const file of scripts.filter((name) => name.includes('assets/'))) {
      if ([first, firstOfFrame, editor, editorOfFrame].some((needed) => needed.includes(file))) continue
      // The times of a schedule are those of the service, so they need its parser of cron expressions.
      const own = [
        { name: 'check-definition', limit: 17_408 },
        { name: 'cron', limit: 12_800 },
      ].find(({ name }) => file.includes(name))
      const limit = own?.limit ?? 8_192
      t.ok(size(file) <= limit, `${file}: ${size(file)}`)
    }
  },
)

t.test('the element that products load is one file of at most 4 KB', async (t) => {
  t.comment(`${size('embed.js')} bytes, gzip`)
  t.ok(size('embed.js') <= 4_096)
  t.notMatch(read('embed.js'), /\bimport\b/)
})

t.test('no script runs text as code or makes markup of it', async (t) => {
  for (const file of scripts)
    t.notOk(
      /(?<![.}\w])eval\(|new Function|globalThis\.Function|document\.write|insertAdjacentHTML/.test(
        read(file),
      ),
      file,
    )
})

t.test('the page names no other host, and has no inline script or style', async (t) => {
  for (const html of [page, frame]) t.notMatch(html, /<script(?![^>]*src=)|<style|\sstyle=|\son\w+=|https?:/)
  for (const file of files.filter((name) => /\.(css|js)$/.test(name)))
    t.notOk(/(?:fetch|import|url)\(["']?https?:/.test(read(file)), file)
})

t.test('forms have the limits of the API’s schemas, and the page has no more of its document', async (t) => {
  const document = new URL('../../../../docs/openapi.json', import.meta.url)
  const { EmailTemplateToCreate: schema } = JSON.parse(readFileSync(document, 'utf8')).components.schemas
  const form = scripts.map(read).find((text) => text.includes('New email template')) ?? ''
  const limits = [...form.matchAll(/maxLength:([\de]+)/g)].map(([, limit]) => Number(limit))
  t.strictSame(
    limits,
    Object.values<{ maxLength: number }>(schema.properties).map(({ maxLength }) => maxLength),
  )
  for (const file of scripts) t.notOk(read(file).includes(schema.properties.text.description), file)
})

t.test('the page of parts, for developers and tests, is no file of the product', async (t) => {
  t.notOk(files.some((file) => file.includes('parts')))
})

t.test('every file of the page lies beside its compressed copies', async (t) => {
  for (const file of scripts) for (const end of ['.gz', '.br']) t.ok(files.includes(file + end), file + end)
})
