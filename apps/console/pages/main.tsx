import { render } from 'preact'
import { App } from './app.js'
import { leaveKeysToInputMethods } from './state/input-method.js'
import './styles/index.css'

// Before anything else listens.
leaveKeysToInputMethods()
const root = document.getElementById('app')
if (root) {
  root.textContent = ''
  render(<App />, root)
}
