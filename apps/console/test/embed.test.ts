import { openBrowser } from '@automation/launcher/open-browser'
import t, { type Test } from 'tap'
import { testEmbed } from './browser/embed.js'
import { startProductWithConsole } from './fixtures/product.js'

const [browser, product] = await Promise.all([openBrowser(t), startProductWithConsole(t)])
const tests = {
  test: (title: string, run: (t: Test) => Promise<void>) =>
    t.test(title, (t) => browser.closeAfter(() => run(t))),
} as Test

testEmbed(tests, { browser, ...product })
