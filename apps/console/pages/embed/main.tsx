import { render } from 'preact'
import { leaveKeysToInputMethods } from '../state/input-method.js'
import { App } from './app.js'
import '../styles/index.css'
import '../styles/embed.css'

// Before anything else listens.
leaveKeysToInputMethods()
const root = document.getElementById('app')
if (root) {
  root.textContent = ''
  render(<App />, root)
}
