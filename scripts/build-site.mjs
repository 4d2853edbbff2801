// npm run docs: makes the site of docs/, which the API then serves under /docs. It needs a build of the API. Nothing else installs VitePress.
import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
const run = (command, args, cwd) => execFileSync(command, args, { cwd, stdio: 'inherit' })

run(process.execPath, ['apps/api/dist/src/docs-site.js'], root)
const site = `${root}site`
if (!existsSync(`${site}/node_modules/vitepress`))
  run('npm', ['ci', '--ignore-scripts', '--no-fund', '--no-audit'], site)
run(process.execPath, ['node_modules/vitepress/bin/vitepress.js', 'build'], site)
run(process.execPath, ['check-search.mjs'], site)
