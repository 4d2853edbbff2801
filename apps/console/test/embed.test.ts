import { openBrowser } from '@automation/launcher/open-browser'
import t, { type Test } from 'tap'
import { testEmbed } from './browser/embed.js'
import { startProductWithConsole } from './fixtures/product.js'

// All frames of the tests come from one address, and each opens a link as nobody.
const env = { RATE_LIMIT_ANONYMOUS: '1000/1000' }
const [browser, product] = await Promise.all([openBrowser(t), startProductWithConsole(t, env)])
const tests = {
  test: (title: string, run: (t: Test) => Promise<void>) =>
    t.test(title, (t) => browser.closeAfter(() => run(t))),
} as Test

testEmbed(tests, { browser, ...product })
