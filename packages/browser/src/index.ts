export { openBrowser, type Visit } from './open-browser.js'
